TEST_EXTENSIONS = .py .sh
PY_LOG_COMPILER = $(PYTHON)
SH_LOG_COMPILER = $(SHELL)

# What tests know of the build; the source tree may be read-only.
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	CLANG_FORMAT='$(CLANG_FORMAT)'; export CLANG_FORMAT; \
	PYSTILL='$(abs_top_builddir)/src/pystill'; export PYSTILL; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE;
if SANITIZERS
AM_TESTS_ENVIRONMENT += CHECK_LAYERS_FLAGS=--no-nm; export CHECK_LAYERS_FLAGS;
endif

# The options as the man page has them.
check_PROGRAMS += %D%/man-options
%C%_man_options_SOURCES = %D%/man-options.c
%C%_man_options_LDADD = src/libpystill.a
update-man: %D%/man-options
	$(SHELL) $(srcdir)/%D%/check-man.sh --update %D%/man-options $(srcdir)/docs/pystill.1
.PHONY: update-man

TESTS += \
	%D%/check-format.sh \
	%D%/check-layers.py \
	%D%/check-man.sh

EXTRA_DIST += \
	%D%/bench \
	%D%/bench-target.py \
	%D%/bench.d/cases.py \
	%D%/bench.d/figures.py \
	%D%/bench.d/host.py \
	%D%/bench.d/tools.py \
	%D%/check \
	%D%/check-format.sh \
	%D%/check-layers.py \
	%D%/check-man.sh \
	%D%/demo \
	%D%/demo-program.py \
	%D%/capture-images \
	%D%/gen-abi \
	%D%/install-deps \
	%D%/interpreters

# For utils/capture-images.
EXTRA_PROGRAMS = %D%/capture-image
%C%_capture_image_SOURCES = %D%/capture-image.c
%C%_capture_image_LDADD = src/libpystill.a $(LIBELF_LIBS)
