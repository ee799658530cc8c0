/* Pyflame's command line: its outputs, the names for --abi, and what it refuses before it looks at any process. */
#include "unit.h"

#include "pystill/abi.h"
#include "pystill/cmd.h"

#include <config.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a run of words gave. */
struct outcome {
	int status;
	char *out, *err;
	struct pst_opts opts;
};

static struct outcome run(const char *const *words, size_t n)
{
	struct unit_redirect out = unit_redirect_begin(STDOUT_FILENO),
			     err = unit_redirect_begin(STDERR_FILENO);
	char *argv[12] = { (char *)"pystill" };
	struct outcome o;

	MUST(n + 2 <= PST_ARRAY_SIZE(argv));
	for (size_t i = 0; i < n; i++)
		argv[i + 1] = (char *)words[i];
	pst_opt_defaults(&o.opts, PST_CMD_PYFLAME);
	o.status = pst_cmd_pyflame(&o.opts, (int)n + 1, argv);
	o.err = unit_redirect_end(&err);
	o.out = unit_redirect_end(&out);
	return o;
}
#define RUN(...)                                  \
	run((const char *const[]){ __VA_ARGS__ }, \
		PST_ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })))

static void end(struct outcome *o)
{
	free(o->out);
	free(o->err);
}

/* ---- options ---- */

static int parse(struct pst_opts *opts, const char *option, const char *value)
{
	char *argv[] = { (char *)"pystill", (char *)option, (char *)value, NULL };
	struct pst_error err = { 0 };

	pst_opt_defaults(opts, PST_CMD_PYFLAME);
	return pst_opt_parse(opts, PST_CMD_PYFLAME, value ? 3 : 2, argv, &err);
}

static void test_outputs(void)
{
	static const struct {
		const char *option;
		bool dump, flamechart;
	} rows[] = { { "-d", true, false }, { "--dump", true, false },
		{ "--flamechart", false, true }, { "--flame", false, true },
		{ "-n", false, false } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct pst_opts opts;

		unit_row("%s", rows[i].option);
		CHECK_INT(parse(&opts, rows[i].option, NULL), 0);
		CHECK_INT(opts.dump, rows[i].dump);
		CHECK_INT(opts.flamechart, rows[i].flamechart);
	}
}

/* ---- ABIs ---- */

/* Every name of the table is taken, and means a row that serves the version of which it is the name. */
static void test_abi_names(void)
{
	PST_FOR_EACH_ABI(row)
	{
		struct pst_abi_key key = { row->first, row->flavour, row->word_bits, row->machine };
		const struct pst_abi *found;
		struct pst_opts opts;

		unit_row("%s, flavour %d", row->name, (int)row->flavour);
		CHECK_INT(parse(&opts, "--abi", row->name), 0);
		CHECK_TEXT(opts.abi, row->name);
		found = pst_abi_by_name(opts.abi, &key);
		REQUIRE(found != NULL);
		CHECK_TEXT(found->name, row->name);
		CHECK_INT(found->flavour, row->flavour);
		CHECK(found->first <= key.version && key.version < found->until);
		key.version = 0; /* nobody knows */
		found = pst_abi_by_name(opts.abi, &key);
		REQUIRE(found != NULL);
		CHECK_TEXT(found->name, row->name);
	}
}

/* Those that -v lists, each once. */
static void test_version(void)
{
	static const char head[] =
		PACKAGE_NAME " " PACKAGE_VERSION " (ABI list: 23 24 25 26 27 30 ";
	struct outcome o = RUN("-v");

	CHECK_INT(o.status, 0);
	CHECK_TEXT(o.err, "");
	CHECK(strncmp(o.out, head, strlen(head)) == 0);
	CHECK(strcmp(o.out + strlen(o.out) - 2, ")\n") == 0);
	PST_FOR_EACH_ABI(row)
	{
		cleanup_free char *word = pst_xasprintf(" %s ", row->name),
				  *last = pst_xasprintf(" %s)", row->name);
		const char *first = strstr(o.out, word);

		unit_row("%s", row->name);
		CHECK(first || strstr(o.out, last));
		CHECK(!first || !strstr(first + 1, word));
	}
	end(&o);
}

/* ---- what is refused ---- */

static const struct {
	const char *words[6];
	const char *in_message;
} mistakes[] = {
	{ { "-d", "--flamechart", "-p", "1" }, "choose one" },
	{ { "--flamechart", "--dump", "1" }, "choose one" },
	{ { "-d" }, "no process given" },
	{ { "--flamechart", "-s", "0" }, "no process given" },
	{ { "-d", "-p", "1", "2" }, "unexpected word '2'" },
	{ { "-d", "x" }, "'x' is neither a pid nor a command" },
	{ { "--dump=1", "-p", "1" }, "takes no value" },
	{ { "--flamechart=x", "-p", "1" }, "takes no value" },
	{ { "--abi" }, "--abi needs a value" },
};

static void test_mistakes(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(mistakes); i++) {
		struct outcome o;
		size_t n = 0;

		while (mistakes[i].words[n])
			n++;
		o = run(mistakes[i].words, n);
		unit_row("%s: %s", mistakes[i].words[0], mistakes[i].in_message);
		CHECK_INT(o.status, 1);
		CHECK_TEXT(o.out, "");
		CHECK(strncmp(o.err, "pystill: ", 9) == 0);
		CHECK(strchr(o.err, '\n') == o.err + strlen(o.err) - 1);
		if (!CHECK(strstr(o.err, mistakes[i].in_message) != NULL))
			CHECK_TEXT(o.err, mistakes[i].in_message);
		end(&o);
	}
}

/* Help comes before all that could be refused. */
static void test_help(void)
{
	struct outcome o = RUN("-d", "--flamechart", "--help", "nonsense");

	CHECK_INT(o.status, 0);
	CHECK_TEXT(o.err, "");
	CHECK(strncmp(o.out, "usage: pystill ", 15) == 0);
	CHECK(strstr(o.out, "-d, --dump") && strstr(o.out, "--flamechart") &&
		strstr(o.out, "--abi ABI"));
	end(&o);
}

static CU_TestInfo tests[] = {
	{ "outputs", test_outputs },
	{ "names of ABIs", test_abi_names },
	{ "the version", test_version },
	{ "mistakes", test_mistakes },
	{ "help", test_help },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_pyflame = { "pyflame", NULL, NULL, NULL, NULL, tests };
