# Unit tests: one program, all suites.  `tests/unit/unit NAME` runs one of them.
if HAVE_CUNIT
check_PROGRAMS += %D%/unit/unit
TESTS += %D%/unit/unit
%C%_unit_unit_SOURCES = \
	%D%/unit/abi_facts.c \
	%D%/unit/abi_facts.h \
	%D%/unit/captures.c \
	%D%/unit/captures.h \
	%D%/unit/chain.c \
	%D%/unit/chain.h \
	%D%/unit/dicts.c \
	%D%/unit/dicts.h \
	%D%/unit/discovery.c \
	%D%/unit/discovery.h \
	%D%/unit/elf_file.c \
	%D%/unit/elf_file.h \
	%D%/unit/image.c \
	%D%/unit/image.h \
	%D%/unit/instances.c \
	%D%/unit/instances.h \
	%D%/unit/layouts.c \
	%D%/unit/layouts.h \
	%D%/unit/line_facts.c \
	%D%/unit/line_facts.h \
	%D%/unit/main.c \
	%D%/unit/objects.c \
	%D%/unit/objects.h \
	%D%/unit/process.c \
	%D%/unit/process.h \
	%D%/unit/row_facts.c \
	%D%/unit/row_facts.h \
	%D%/unit/saved.c \
	%D%/unit/saved.h \
	%D%/unit/stage.c \
	%D%/unit/stage.h \
	%D%/unit/test_abi.c \
	%D%/unit/test_access.c \
	%D%/unit/test_attrs.c \
	%D%/unit/test_base.c \
	%D%/unit/test_capture.c \
	%D%/unit/test_code.c \
	%D%/unit/test_dict.c \
	%D%/unit/test_discover.c \
	%D%/unit/test_dump.c \
	%D%/unit/test_elf.c \
	%D%/unit/test_eras.c \
	%D%/unit/test_error.c \
	%D%/unit/test_flamechart.c \
	%D%/unit/test_folded.c \
	%D%/unit/test_frames.c \
	%D%/unit/test_gen.c \
	%D%/unit/test_gil.c \
	%D%/unit/test_heads.c \
	%D%/unit/test_hist.c \
	%D%/unit/test_images.c \
	%D%/unit/test_launch.c \
	%D%/unit/test_line.c \
	%D%/unit/test_lines.c \
	%D%/unit/test_list.c \
	%D%/unit/test_maps.c \
	%D%/unit/test_mem.c \
	%D%/unit/test_meter.c \
	%D%/unit/test_names.c \
	%D%/unit/test_nspace.c \
	%D%/unit/test_object.c \
	%D%/unit/test_offsets.c \
	%D%/unit/test_opts.c \
	%D%/unit/test_out.c \
	%D%/unit/test_procfs.c \
	%D%/unit/test_profile.c \
	%D%/unit/test_pyflame.c \
	%D%/unit/test_python.c \
	%D%/unit/test_rows.c \
	%D%/unit/test_say.c \
	%D%/unit/test_snapshot.c \
	%D%/unit/test_stacks.c \
	%D%/unit/test_target.c \
	%D%/unit/test_text.c \
	%D%/unit/test_thread_names.c \
	%D%/unit/test_threads.c \
	%D%/unit/test_tids.c \
	%D%/unit/test_timeline.c \
	%D%/unit/test_tlbc.c \
	%D%/unit/test_torn.c \
	%D%/unit/test_utf8.c \
	%D%/unit/test_version.c \
	%D%/unit/test_view.c \
	%D%/unit/test_wide.c \
	%D%/unit/unit.c \
	%D%/unit/unit.h
%C%_unit_unit_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
%C%_unit_unit_CFLAGS = $(AM_CFLAGS) $(CUNIT_CFLAGS)
%C%_unit_unit_LDADD = src/libpystill.a $(CUNIT_LIBS) $(LIBELF_LIBS) -lm
endif

# What utils/capture-images saved: the unit tests want all of them.
EXTRA_DIST += \
	%D%/images/2.3.7-64.image \
	%D%/images/2.5.6-64.image \
	%D%/images/2.6.9-64.image \
	%D%/images/2.7.18-64.image \
	%D%/images/2.7.18-debug-64.image \
	%D%/images/3.0.1-64.image \
	%D%/images/3.10.13-64.image \
	%D%/images/3.11.7-64.image \
	%D%/images/3.12.1-64.image \
	%D%/images/3.13.0-64.image \
	%D%/images/3.13.15t-64.image \
	%D%/images/3.13.5-debug-64.image \
	%D%/images/3.14.10-64.image \
	%D%/images/3.14.10-debug-64.image \
	%D%/images/3.14.7-64.image \
	%D%/images/3.15.0rc1t-64.image \
	%D%/images/3.15.2-64.image \
	%D%/images/3.15.2-debug-64.image \
	%D%/images/3.2.6-64.image \
	%D%/images/3.3.7-64.image \
	%D%/images/3.5.10-64.image \
	%D%/images/3.6.15-64.image \
	%D%/images/3.6.15-debug-64.image \
	%D%/images/3.7.0-64.image \
	%D%/images/3.7.16-64.image \
	%D%/images/3.8.18-64.image \
	%D%/images/3.9.18-64.image

# End-to-end tests, here on the python3 that runs them; utils/check has them run on all that there are.
TESTS += %D%/e2e/run.py
EXTRA_DIST += \
	%D%/e2e/harness.py \
	%D%/e2e/run.py \
	%D%/e2e/test_churn.py \
	%D%/e2e/test_dump.py \
	%D%/e2e/test_engine.py \
	%D%/e2e/test_errors.py \
	%D%/e2e/test_launch.py \
	%D%/e2e/test_lifecycle.py \
	%D%/e2e/test_truth.py \
	%D%/targets/blocked.py \
	%D%/targets/churn.py \
	%D%/targets/deep.py \
	%D%/targets/embed.c \
	%D%/targets/fake.c \
	%D%/targets/image.py \
	%D%/targets/interpreters.py \
	%D%/targets/launched.py \
	%D%/targets/names.py \
	%D%/targets/shapes.py \
	%D%/targets/signals.c \
	%D%/targets/sleeper.py \
	%D%/targets/truth.py \
	%D%/targets/worker.py

# Fuzzers: each tries its seed corpus in `make check`, so that none can rot.  With --enable-fuzzing (clang) they are
# libFuzzer's, else our own driver mutates the corpus.
FUZZERS = \
	%D%/fuzz/fuzz-lines \
	%D%/fuzz/fuzz-maps \
	%D%/fuzz/fuzz-offsets
check_PROGRAMS += $(FUZZERS)
if FUZZING
FUZZ_DRIVER =
else
FUZZ_DRIVER = %D%/fuzz/driver.c
endif
%C%_fuzz_fuzz_lines_SOURCES = %D%/fuzz/fuzz-lines.c %D%/fuzz/fuzz.h $(FUZZ_DRIVER)
%C%_fuzz_fuzz_lines_LDADD = src/libpystill.a $(LIBELF_LIBS)
%C%_fuzz_fuzz_lines_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
%C%_fuzz_fuzz_maps_SOURCES = %D%/fuzz/fuzz-maps.c %D%/fuzz/fuzz.h $(FUZZ_DRIVER)
%C%_fuzz_fuzz_maps_LDADD = src/libpystill.a $(LIBELF_LIBS)
%C%_fuzz_fuzz_maps_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
%C%_fuzz_fuzz_offsets_SOURCES = %D%/fuzz/fuzz-offsets.c %D%/fuzz/fuzz.h $(FUZZ_DRIVER)
%C%_fuzz_fuzz_offsets_LDADD = src/libpystill.a $(LIBELF_LIBS)
%C%_fuzz_fuzz_offsets_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
TESTS += %D%/fuzz/corpus.sh
EXTRA_DIST += \
	%D%/fuzz/corpus.sh \
	%D%/fuzz/driver.c \
	%D%/fuzz/lines.corpus \
	%D%/fuzz/maps.corpus \
	%D%/fuzz/offsets.corpus
