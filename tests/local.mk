# Unit tests: one program, all suites.  `tests/unit/unit NAME` runs one of them.
if HAVE_CUNIT
check_PROGRAMS += %D%/unit/unit
TESTS += %D%/unit/unit
%C%_unit_unit_SOURCES = \
	%D%/unit/abi_facts.c \
	%D%/unit/abi_facts.h \
	%D%/unit/chain.c \
	%D%/unit/chain.h \
	%D%/unit/elf_file.c \
	%D%/unit/elf_file.h \
	%D%/unit/image.c \
	%D%/unit/image.h \
	%D%/unit/layouts.c \
	%D%/unit/layouts.h \
	%D%/unit/line_facts.c \
	%D%/unit/line_facts.h \
	%D%/unit/main.c \
	%D%/unit/objects.c \
	%D%/unit/objects.h \
	%D%/unit/stage.c \
	%D%/unit/stage.h \
	%D%/unit/test_abi.c \
	%D%/unit/test_access.c \
	%D%/unit/test_base.c \
	%D%/unit/test_capture.c \
	%D%/unit/test_code.c \
	%D%/unit/test_elf.c \
	%D%/unit/test_error.c \
	%D%/unit/test_folded.c \
	%D%/unit/test_frames.c \
	%D%/unit/test_heads.c \
	%D%/unit/test_lines.c \
	%D%/unit/test_list.c \
	%D%/unit/test_maps.c \
	%D%/unit/test_mem.c \
	%D%/unit/test_names.c \
	%D%/unit/test_nspace.c \
	%D%/unit/test_offsets.c \
	%D%/unit/test_opts.c \
	%D%/unit/test_out.c \
	%D%/unit/test_procfs.c \
	%D%/unit/test_profile.c \
	%D%/unit/test_python.c \
	%D%/unit/test_say.c \
	%D%/unit/test_stacks.c \
	%D%/unit/test_text.c \
	%D%/unit/test_torn.c \
	%D%/unit/test_utf8.c \
	%D%/unit/test_version.c \
	%D%/unit/test_view.c \
	%D%/unit/unit.c \
	%D%/unit/unit.h
%C%_unit_unit_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
%C%_unit_unit_CFLAGS = $(AM_CFLAGS) $(CUNIT_CFLAGS)
%C%_unit_unit_LDADD = src/libpystill.a $(CUNIT_LIBS) $(LIBELF_LIBS) -lm
endif

# End-to-end tests, here on the python3 that runs them; utils/check has them run on all that there are.
TESTS += %D%/e2e/run.py
EXTRA_DIST += \
	%D%/e2e/harness.py \
	%D%/e2e/run.py \
	%D%/e2e/test_churn.py \
	%D%/e2e/test_errors.py \
	%D%/e2e/test_lifecycle.py \
	%D%/e2e/test_truth.py \
	%D%/targets/churn.py \
	%D%/targets/deep.py \
	%D%/targets/shapes.py \
	%D%/targets/sleeper.py \
	%D%/targets/truth.py \
	%D%/targets/worker.py
