/* Error objects, and warnings on their way up. */
#include "unit.h"

#include "pystill/note.h"

#include <errno.h>
#include <string.h>

static void test_set(void)
{
	struct pst_error err = { 0 };

	CHECK_INT(pst_error_set(&err, PST_ERR_TORN, 0, "frame %d of %s", 7, "x"), -1);
	CHECK_INT(err.code, PST_ERR_TORN);
	CHECK_INT(err.sys, 0);
	CHECK_TEXT(err.msg, "frame 7 of x");
	CHECK_INT(pst_error_set(&err, PST_ERR_IO, ENOENT, "opening %s", "y"), -1);
	CHECK_INT(err.code, PST_ERR_IO);
	CHECK_INT(err.sys, ENOENT);
	CHECK_TEXT(err.msg, "opening y: No such file or directory");
}

static void test_wrap(void)
{
	struct pst_error err = { 0 };

	pst_error_set(&err, PST_ERR_PERM, EACCES, "reading");
	CHECK_INT(pst_error_wrap(&err, "thread %d", 5), -1);
	CHECK_INT(pst_error_wrap(&err, "process %d", 4), -1);
	CHECK_TEXT(err.msg, "process 4: thread 5: reading: Permission denied");
	CHECK_INT(err.code, PST_ERR_PERM);
	CHECK_INT(err.sys, EACCES);
}

static void test_nobody_asked(void)
{
	CHECK_INT(pst_error_set(NULL, PST_ERR_IO, EIO, "x"), -1);
	CHECK_INT(pst_error_wrap(NULL, "x"), -1);
}

static void test_clear(void)
{
	struct pst_error err = { 0 };

	pst_error_set(&err, PST_ERR_USAGE, EINVAL, "x");
	pst_error_clear(&err);
	CHECK_INT(err.code, PST_ERR_OTHER);
	CHECK_INT(err.sys, 0);
	CHECK_TEXT(err.msg, "");
}

/* A text longer than the message: cut, ended, and nothing behind it written. */
static void test_long(void)
{
	struct {
		struct pst_error err;
		char guard[8];
	} v = { .guard = "guarded" };
	char text[2 * sizeof(v.err.msg)];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	pst_error_set(&v.err, PST_ERR_IO, ENOENT, "%s", text);
	CHECK_INT(strlen(v.err.msg), sizeof(v.err.msg) - 1);
	pst_error_wrap(&v.err, "context");
	CHECK_INT(strlen(v.err.msg), sizeof(v.err.msg) - 1);
	CHECK(strncmp(v.err.msg, "context: xxx", 12) == 0);
	pst_error_wrap(&v.err, "%s", text);
	CHECK_INT(strlen(v.err.msg), sizeof(v.err.msg) - 1);
	CHECK_TEXT(v.guard, "guarded");
}

/* The exit status of each code and its word in JSON are part of the command line's contract. */
static void test_codes(void)
{
	static const struct {
		enum pst_error_code code;
		int status;
		const char *cause;
	} rows[] = {
		{ PST_ERR_OTHER, 1, "other" },
		{ PST_ERR_GONE, 3, "gone" },
		{ PST_ERR_TORN, 1, "other" },
		{ PST_ERR_LATE, 1, "other" },
		{ PST_ERR_PERM, 4, "permission" },
		{ PST_ERR_NOTPYTHON, 5, "not-python" },
		{ PST_ERR_UNSUPPORTED, 6, "version" },
		{ PST_ERR_IO, 7, "io" },
		{ PST_ERR_USAGE, 2, "usage" },
	};

	CHECK_INT(PST_ARRAY_SIZE(rows), PST_ERR_COUNT);
	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		const struct pst_error err = { .code = rows[i].code };

		unit_row("%s", rows[i].cause);
		CHECK_INT(pst_error_exit_status(&err), rows[i].status);
		CHECK_TEXT(pst_error_cause(&err), rows[i].cause);
	}
}

static void hear(void *ctx, const char *text)
{
	char **heard = ctx;

	*heard = pst_xstrdup(text);
}

static void test_note(void)
{
	cleanup_free char *heard = NULL, *heard_long = NULL;
	const struct pst_note note = { hear, &heard }, note_long = { hear, &heard_long };
	const struct pst_note silent = { NULL, NULL };
	char text[2000];

	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	pst_note_warn(&note, "%d is %s", 3, "odd");
	CHECK_TEXT(heard, "3 is odd");
	pst_note_warn(&note_long, "%s", text);
	CHECK(heard_long && strlen(heard_long) > 100);
	pst_note_warn(&silent, "x");
	pst_note_warn(NULL, "x");
}

static CU_TestInfo tests[] = {
	{ "set fills code, errno and text", test_set },
	{ "wrap puts context before the text", test_wrap },
	{ "an error that nobody asked for", test_nobody_asked },
	{ "clear", test_clear },
	{ "long texts are cut", test_long },
	{ "exit status and cause of each code", test_codes },
	{ "warnings", test_note },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_error = { "error", NULL, NULL, NULL, NULL, tests };
