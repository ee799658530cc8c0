TEST_EXTENSIONS = .py .sh
PY_LOG_COMPILER = $(PYTHON)
SH_LOG_COMPILER = $(SHELL)

# What tests know of the build; the source tree may be read-only.
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	CLANG_FORMAT='$(CLANG_FORMAT)'; export CLANG_FORMAT; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE;
if SANITIZERS
AM_TESTS_ENVIRONMENT += CHECK_LAYERS_FLAGS=--no-nm; export CHECK_LAYERS_FLAGS;
endif

TESTS += \
	%D%/check-format.sh \
	%D%/check-layers.py

EXTRA_DIST += \
	%D%/check-format.sh \
	%D%/check-layers.py \
	%D%/demo \
	%D%/demo-program.py \
	%D%/gen-abi \
	%D%/install-deps \
	%D%/interpreters
