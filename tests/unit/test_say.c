/* What the user reads on the standard error. */
#define _GNU_SOURCE
#include "unit.h"

#include "ui/say.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void check_error(int form, const struct pst_error *err, int status, const char *wanted)
{
	const struct pst_opts opts = { .program = "prog", .errors = form };
	struct unit_redirect r = unit_redirect_begin(STDERR_FILENO);
	cleanup_free char *text = NULL;

	pst_say_error(&opts, err, status);
	text = unit_redirect_end(&r);
	CHECK_TEXT(text, wanted);
}

static void test_text(void)
{
	const struct pst_error err = { PST_ERR_IO, 0, "writing /x: no" },
			       odd = { PST_ERR_IO, 0, "a\n\033[31mb\x7f\tc\xc3\xa9" },
			       pipe = { PST_ERR_IO, EPIPE, "writing standard output: Broken pipe" };

	check_error(PST_ERRORS_TEXT, &err, 7, "prog: writing /x: no\n");
	check_error(PST_ERRORS_TEXT, &odd, 7, "prog: a??[31mb??c\xc3\xa9\n");
	check_error(PST_ERRORS_TEXT, &pipe, 7, "");
}

static void test_json(void)
{
	const struct pst_error err = { PST_ERR_PERM, 0, "say \"no\"\n\xff" },
			       pipe = { PST_ERR_IO, EPIPE, "x" };

	check_error(PST_ERRORS_JSON, &err, 4,
		"{\"message\": \"say \\\"no\\\"\\n\xef\xbf\xbd\", \"status\": 4, "
		"\"cause\": \"permission\"}\n");
	check_error(PST_ERRORS_JSON, &pipe, 7,
		"{\"message\": \"x\", \"status\": 7, \"cause\": \"io\"}\n");
}

/* The longest message, all of it to be escaped. */
static void test_json_long(void)
{
	struct pst_error err = { .code = PST_ERR_OTHER };
	const struct pst_opts opts = { .program = "prog", .errors = PST_ERRORS_JSON };
	cleanup_free char *text = NULL;
	struct unit_redirect r;

	memset(err.msg, 1, sizeof(err.msg) - 1);
	r = unit_redirect_begin(STDERR_FILENO);
	pst_say_error(&opts, &err, 1);
	text = unit_redirect_end(&r);
	CHECK_INT(text[strlen(text) - 1], '\n');
	CHECK(strlen(text) > 6 * (sizeof(err.msg) - 1));
	CHECK(strstr(text, "\"status\": 1, \"cause\": \"other\"}\n") != NULL);
}

static void test_warning(void)
{
	const struct pst_opts opts = { .program = "prog" };
	const struct pst_note note = pst_say_note(&opts);
	struct unit_redirect r = unit_redirect_begin(STDERR_FILENO);
	cleanup_free char *text = NULL;

	pst_note_warn(&note, "process %d is\nodd", 5);
	text = unit_redirect_end(&r);
	CHECK_TEXT(text, "prog: warning: process 5 is?odd\n");
}

static CU_TestInfo tests[] = {
	{ "errors as text", test_text },
	{ "errors as JSON", test_json },
	{ "errors as JSON: long", test_json_long },
	{ "warnings", test_warning },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_say = { "say", NULL, NULL, NULL, NULL, tests };
