/* What all suites share: checks that say what they found, on which row of a table, and a folder for files.
 * A check that fails is counted and the test goes on; REQUIRE ends the test. */
#ifndef PYSTILL_TESTS_UNIT_H
#define PYSTILL_TESTS_UNIT_H

#include "pystill/error.h"

#include <CUnit/CUnit.h>

/* One suite a module; its name selects it on the command line. */
#define UNIT_SUITES(X)  \
	X(abi)          \
	X(access)       \
	X(attrs)        \
	X(base)         \
	X(capture)      \
	X(code)         \
	X(dict)         \
	X(discover)     \
	X(dump)         \
	X(elf)          \
	X(eras)         \
	X(error)        \
	X(flamechart)   \
	X(folded)       \
	X(frames)       \
	X(gen)          \
	X(gil)          \
	X(heads)        \
	X(hist)         \
	X(images)       \
	X(launch)       \
	X(line)         \
	X(lines)        \
	X(list)         \
	X(maps)         \
	X(mem)          \
	X(meter)        \
	X(names)        \
	X(nspace)       \
	X(object)       \
	X(offsets)      \
	X(opts)         \
	X(out)          \
	X(procfs)       \
	X(profile)      \
	X(pyflame)      \
	X(python)       \
	X(rows)         \
	X(say)          \
	X(snapshot)     \
	X(stacks)       \
	X(target)       \
	X(text)         \
	X(thread_names) \
	X(threads)      \
	X(tids)         \
	X(timeline)     \
	X(tlbc)         \
	X(torn)         \
	X(utf8)         \
	X(version)      \
	X(view)         \
	X(wide)

#define X(name) extern const CU_SuiteInfo suite_##name;
UNIT_SUITES(X)
#undef X

/* Begin a test: forget the row of the last one. */
void unit_begin(void);

/* The row of a table that the checks below are about; failures name it. */
void unit_row(const char *fmt, ...) PST_PRINTF(1, 2);

/* Where a check stands. */
struct unit_place {
	const char *text, *file;
	unsigned line;
};
#define HERE(text_) (&(const struct unit_place){ text_, __FILE__, __LINE__ })

/* All return whether the check holds. */
bool unit_check(bool ok, const struct unit_place *place);
bool unit_check_int(int64_t actual, int64_t wanted, const struct unit_place *place);
bool unit_check_text(const char *actual, const char *wanted, const struct unit_place *place);
bool unit_check_bytes(const void *actual, size_t n_actual, const void *wanted, size_t n_wanted,
	const struct unit_place *place);

/* RESULT is -1 and ERR has CODE and a message; and an errno only where the system may have refused. */
bool unit_check_error(int result, const struct pst_error *err, enum pst_error_code code,
	const struct unit_place *place);

/* RESULT is 0; else ERR's message is told. */
bool unit_check_done(int result, const struct pst_error *err, const struct unit_place *place);

#define CHECK(ok) unit_check((ok), HERE(#ok))
#define CHECK_INT(actual, wanted) \
	unit_check_int((int64_t)(actual), (int64_t)(wanted), HERE(#actual))
#define CHECK_TEXT(actual, wanted) unit_check_text((actual), (wanted), HERE(#actual))
#define CHECK_BYTES(actual, n_actual, wanted, n_wanted) \
	unit_check_bytes((actual), (n_actual), (wanted), (n_wanted), HERE(#actual))
#define CHECK_ERROR(call, err, code) unit_check_error((call), (err), (code), HERE(#call))
#define CHECK_DONE(call, err)        unit_check_done((call), (err), HERE(#call))
#define REQUIRE(ok)                  CU_ASSERT_FATAL(CHECK(ok))

/* What tests build on: it is counted only when it fails, and then ends the test. */
#define MUST(ok)                                    \
	do {                                        \
		if (!(ok))                          \
			CU_FAIL_FATAL("MUST " #ok); \
	} while (0)

/* A new folder, from malloc; and its end, with the files in it. */
char *unit_folder_new(void);
void unit_folder_remove(char *folder);

/* The number of entries of a folder. */
size_t unit_folder_count(const char *folder);

/* FOLDER/NAME, from malloc. */
char *unit_path(const char *folder, const char *name);

/* The content of a file, from malloc with a NUL behind it; NULL when there is none.  LEN may be NULL. */
char *unit_read_file(const char *path, size_t *len);
void unit_write_file(const char *path, const void *bytes, size_t len);

/* Between these two, what goes to descriptor FD (the standard output or error) goes to a file instead; the second
 * gives what was written, from malloc. */
struct unit_redirect {
	int fd, saved, file;
};
struct unit_redirect unit_redirect_begin(int fd);
char *unit_redirect_end(struct unit_redirect *redirect);

/* The same numbers on each run. */
uint32_t unit_random(uint64_t *state);

#endif
