/* Options and commands: their rows, and what is made of a command line. */
#include "unit.h"

#include "pystill/cmd.h"
#include "pystill/opt.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORDS 16

/* Parse words that end with NULL, behind the program's name.  What is left of them is valid until the next
 * call. */
static int parse(struct pst_opts *opts, const char *const *words, struct pst_error *err)
{
	static char *argv[MAX_WORDS + 2];
	int argc = 1;

	argv[0] = (char *)"pystill";
	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)words[argc - 1];
	argv[argc] = NULL;
	pst_opt_defaults(opts, PST_CMD_PYFLAME);
	return pst_opt_parse(opts, PST_CMD_PYFLAME, argc, argv, err);
}
#define PARSE(opts, err, ...) parse((opts), (const char *const[]){ __VA_ARGS__, NULL }, (err))

/* ---- rows ---- */

static void test_unique(void)
{
	for (size_t i = 0; i < pst_opt_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct pst_opt *a = &pst_opt_table[i], *b = &pst_opt_table[k];

			unit_row("--%s, --%s", a->word, b->word);
			if (!(a->commands & b->commands))
				continue;
			CHECK(strcmp(a->word, b->word) != 0);
			CHECK(!a->letter || a->letter != b->letter);
		}
}

static void test_rows(void)
{
	CHECK(pst_opt_count > 0);
	for (size_t i = 0; i < pst_opt_count; i++) {
		const struct pst_opt *row = &pst_opt_table[i];

		unit_row("--%s", row->word);
		CHECK(row->commands != 0);
		CHECK(strlen(row->word) > 1 &&
			strspn(row->word, "abcdefghijklmnopqrstuvwxyz-") == strlen(row->word));
		CHECK(!row->letter || isalnum((unsigned char)row->letter));
		CHECK_INT(row->arg == NULL, row->type == PST_OPT_FLAG);
		CHECK_INT(row->choices != NULL, row->type == PST_OPT_CHOICE);
		CHECK(row->type != PST_OPT_NUMBER || row->min < row->max);
		CHECK(row->at < sizeof(struct pst_opts));
		CHECK(row->help && row->help[0]);
	}
}

/* A value that ROW takes. */
static const char *value_of(const struct pst_opt *row)
{
	static const char *const values[] = {
		[PST_OPT_NUMBER] = "1", [PST_OPT_PID] = "7", [PST_OPT_STRING] = "text"
	};

	return row->type == PST_OPT_CHOICE ? row->choices[0] : values[row->type];
}

/* Each row is accepted by its word and by its letter, and tells of a value that is missing. */
static void test_every_row(void)
{
	for (size_t i = 0; i < pst_opt_count; i++) {
		const struct pst_opt *row = &pst_opt_table[i];
		cleanup_free char *word = pst_xasprintf("--%s", row->word),
				  *letter = pst_xasprintf("-%c", row->letter ? row->letter : 'v');
		const char *const by_word[] = { word, value_of(row), NULL },
				  *const by_letter[] = { letter, value_of(row), NULL };
		struct pst_error err = { 0 };
		struct pst_opts opts;

		if (!(row->commands & PST_CMD_PYFLAME))
			continue;
		unit_row("--%s", row->word);
		CHECK_DONE(parse(&opts, by_word, &err), &err);
		CHECK_INT(opts.n_words, 0);
		if (row->letter)
			CHECK_DONE(parse(&opts, by_letter, &err), &err);
		if (!row->arg)
			continue;
		CHECK_ERROR(PARSE(&opts, &err, word), &err, PST_ERR_USAGE);
		CHECK(strstr(err.msg, row->word) != NULL);
		if (row->letter)
			CHECK_ERROR(PARSE(&opts, &err, letter), &err, PST_ERR_USAGE);
	}
}

/* ---- values ---- */

static void test_defaults(void)
{
	struct pst_opts opts;

	memset(&opts, 0xff, sizeof(opts));
	pst_opt_defaults(&opts, PST_CMD_PYFLAME);
	CHECK_TEXT(opts.program, "pystill");
	CHECK_INT(opts.pid, 0);
	CHECK(opts.seconds == 1.0);
	CHECK(opts.interval_s == 0.01);
	CHECK(!opts.output && !opts.abi);
	CHECK(!opts.no_lines && !opts.no_idle && !opts.threads && !opts.no_jitter);
	CHECK(!opts.nonblocking && !opts.version && !opts.help);
	CHECK(!opts.dump && !opts.flamechart);
	CHECK_INT(opts.stop, PST_STOP_AUTO);
	CHECK_INT(opts.errors, PST_ERRORS_TEXT);
	CHECK(!opts.words && !opts.n_words);
}

static void test_all(void)
{
	struct pst_error err = { 0 };
	struct pst_opts opts;

	CHECK_DONE(PARSE(&opts, &err, "-xnp", "42", "-s2.5", "-r", "1e-3", "-o", "out", "--threads",
			   "--abi=311", "--stop=all"),
		&err);
	CHECK(opts.no_idle && opts.no_lines && opts.threads);
	CHECK_INT(opts.pid, 42);
	CHECK(opts.seconds == 2.5 && opts.interval_s == 0.001);
	CHECK_TEXT(opts.output, "out");
	CHECK_TEXT(opts.abi, "311");
	CHECK_INT(opts.stop, PST_STOP_ALL);
	CHECK(!opts.nonblocking && !opts.no_jitter && !opts.version && !opts.help);
	CHECK_DONE(PARSE(&opts, &err, "--no-jitter", "--nonblocking", "-v", "-h", "--errors",
			   "json", "--stop", "none", "--seconds", "0"),
		&err);
	CHECK(opts.no_jitter && opts.nonblocking && opts.version && opts.help);
	CHECK_INT(opts.errors, PST_ERRORS_JSON);
	CHECK_INT(opts.stop, PST_STOP_NONE);
	CHECK(opts.seconds == 0.0);
	CHECK(!opts.no_idle && !opts.no_lines && !opts.threads);
}

static const struct {
	const char *option, *value;
	bool ok;
} values[] = {
	{ "-s", "0", true },
	{ "-s", "1e9", true },
	{ "-s", "1.000001e9", false },
	{ "-s", "-0.1", false },
	{ "-s", "", false },
	{ "-s", "x", false },
	{ "-s", "1x", false },
	{ "-s", "1 ", false },
	{ "-s", "nan", false },
	{ "-s", "inf", false },
	{ "-s", "-inf", false },
	{ "-s", "1e999", false },
	{ "-r", "1e-6", true },
	{ "-r", "9e-7", false },
	{ "-r", "0", false },
	{ "-r", "1e6", true },
	{ "-r", "1000001", false },
	{ "-r", "nan", false },
	{ "-p", "1", true },
	{ "-p", "2147483647", true },
	{ "-p", "2147483648", false },
	{ "-p", "99999999999999999999", false },
	{ "-p", "0", false },
	{ "-p", "-1", false },
	{ "-p", "", false },
	{ "-p", "12x", false },
	{ "-p", "x", false },
	{ "-p", "1.5", false },
	{ "-p", "0x10", false },
	{ "--stop", "auto", true },
	{ "--stop", "all", true },
	{ "--stop", "none", true },
	{ "--stop", "some", false },
	{ "--stop", "al", false },
	{ "--stop", "ALL", false },
	{ "--stop", "", false },
	{ "--errors", "json", true },
	{ "--errors", "xml", false },
	{ "--abi", "", true },
	{ "-o", "-", true },
};

static void test_values(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(values); i++) {
		struct pst_error err = { 0 };
		struct pst_opts opts;
		const int result = PARSE(&opts, &err, values[i].option, values[i].value);

		unit_row("%s '%s'", values[i].option, values[i].value);
		if (values[i].ok)
			CHECK_DONE(result, &err);
		else
			CHECK_ERROR(result, &err, PST_ERR_USAGE);
	}
}

/* A refusal names the option, the value, and what it may be. */
static void test_messages(void)
{
	struct pst_error err = { 0 };
	struct pst_opts opts;

	CHECK_ERROR(PARSE(&opts, &err, "-s", "-3"), &err, PST_ERR_USAGE);
	CHECK(strstr(err.msg, "seconds") && strstr(err.msg, "-3") && strstr(err.msg, "1e+09"));
	CHECK_ERROR(PARSE(&opts, &err, "--stop", "some"), &err, PST_ERR_USAGE);
	CHECK(strstr(err.msg, "stop") && strstr(err.msg, "some"));
	CHECK(strstr(err.msg, "auto") && strstr(err.msg, "all") && strstr(err.msg, "none"));
	CHECK_ERROR(PARSE(&opts, &err, "-p", "me"), &err, PST_ERR_USAGE);
	CHECK(strstr(err.msg, "me") && strstr(err.msg, "pid"));
}

static void test_parse_pid(void)
{
	struct pst_error err = { 0 };
	long long pid = 0;

	CHECK_DONE(pst_opt_parse_pid("4194304", &pid, &err), &err);
	CHECK_INT(pid, 4194304);
	CHECK_ERROR(pst_opt_parse_pid("4194304 ", &pid, &err), &err, PST_ERR_USAGE);
	CHECK_ERROR(pst_opt_parse_pid("0", &pid, &err), &err, PST_ERR_USAGE);
	CHECK(strstr(err.msg, "'0'") != NULL);
}

/* ---- mistakes ---- */

static void check_mistake(const char *const *words, const char *in_message)
{
	struct pst_error err = { 0 };
	struct pst_opts opts;

	unit_row("%s", words[0]);
	CHECK_ERROR(parse(&opts, words, &err), &err, PST_ERR_USAGE);
	if (!CHECK(strstr(err.msg, in_message) != NULL))
		CHECK_TEXT(err.msg, in_message);
}
#define MISTAKE(in_message, ...) \
	check_mistake((const char *const[]){ __VA_ARGS__, NULL }, (in_message))

static void test_mistakes(void)
{
	MISTAKE("unknown option -Z", "-Z");
	MISTAKE("unknown option -Z", "-xZ");
	MISTAKE("unknown option --nope", "--nope");
	MISTAKE("unknown option --nope=3", "--nope=3");
	MISTAKE("--no", "--no"); /* of several */
	MISTAKE("-p needs a value", "-p");
	MISTAKE("-s needs a value", "-n", "-xs");
	MISTAKE("--seconds needs a value", "--seconds");
	MISTAKE("--help=3 takes no value", "--help=3");
}

/* It is for the caller to tell the user: nothing is printed here. */
static void test_silent(void)
{
	struct unit_redirect r = unit_redirect_begin(STDERR_FILENO);
	cleanup_free char *printed = NULL;
	struct pst_error err = { 0 };
	struct pst_opts opts;

	PARSE(&opts, &err, "-Z");
	PARSE(&opts, &err, "--nope");
	PARSE(&opts, &err, "-p");
	PARSE(&opts, &err, "-s", "x");
	printed = unit_redirect_end(&r);
	CHECK_TEXT(printed, "");
}

/* One after the other, as in one process of a test: getopt's own state is none of ours. */
static void test_again(void)
{
	struct pst_error err = { 0 };
	struct pst_opts opts;

	CHECK_ERROR(PARSE(&opts, &err, "-xZn"), &err, PST_ERR_USAGE);
	CHECK_DONE(PARSE(&opts, &err, "-n", "-p", "5"), &err);
	CHECK(opts.no_lines && opts.pid == 5 && !opts.no_idle);
}

/* ---- words ---- */

static void test_words(void)
{
	struct pst_error err = { 0 };
	struct pst_opts opts;

	CHECK_DONE(PARSE(&opts, &err, "-n", "123", "-x", "--help"), &err);
	CHECK_INT(opts.n_words, 3);
	CHECK_TEXT(opts.words[0], "123");
	CHECK_TEXT(opts.words[2], "--help");
	CHECK(opts.no_lines && !opts.no_idle && !opts.help);
	CHECK_DONE(PARSE(&opts, &err, "-n", "--", "-x"), &err);
	CHECK_INT(opts.n_words, 1);
	CHECK_TEXT(opts.words[0], "-x");
	CHECK_DONE(PARSE(&opts, &err, "--"), &err);
	CHECK_INT(opts.n_words, 0);
	CHECK_DONE(PARSE(&opts, &err, "-"), &err);
	CHECK_INT(opts.n_words, 1);
}

/* The beginning of a word will do where it is the only one. */
static void test_abbreviated(void)
{
	struct pst_error err = { 0 };
	struct pst_opts opts;

	CHECK_DONE(PARSE(&opts, &err, "--sec", "3", "--no-l", "--exclude"), &err);
	CHECK(opts.seconds == 3.0 && opts.no_lines && opts.no_idle);
}

/* ---- help ---- */

/* The help without its line breaks and indents. */
static char *flatten(const char *help)
{
	char *flat = pst_xstrdup(help);
	size_t n = 0;

	for (const char *p = help; *p; p++)
		if (!isspace((unsigned char)*p) || (n && flat[n - 1] != ' '))
			flat[n++] = isspace((unsigned char)*p) ? ' ' : *p;
	flat[n] = '\0';
	return flat;
}

static void test_help(void)
{
	cleanup_free char *help = pst_opt_help(PST_CMD_PYFLAME), *flat = flatten(help);

	for (size_t i = 0; i < pst_opt_count; i++) {
		const struct pst_opt *row = &pst_opt_table[i];
		cleanup_free char *letter = pst_xasprintf("-%c, --%s", row->letter, row->word),
				  *all = pst_xasprintf("--%s %s%s%s", row->word,
					  row->arg ? row->arg : "", row->arg ? " " : "", row->help);

		if (!(row->commands & PST_CMD_PYFLAME))
			continue;
		unit_row("--%s", row->word);
		CHECK(strstr(flat, all) != NULL);
		CHECK(!row->letter || strstr(flat, letter) != NULL);
	}
}

static void test_help_width(void)
{
	cleanup_free char *help = pst_opt_help(PST_CMD_PYFLAME);
	size_t lines = 0;

	CHECK_INT(help[strlen(help) - 1], '\n');
	for (const char *p = help; *p; lines++) {
		const size_t len = strcspn(p, "\n");

		unit_row("%.*s", (int)len, p);
		CHECK(len > 0 && len <= 80);
		CHECK(p[0] == ' ' && p[len - 1] != ' ');
		p += len + 1;
	}
	CHECK(lines >= pst_opt_count);
}

/* A line goes on with a word only when that does not fit on the line before, and all texts begin in one column. */
static void test_help_filled(void)
{
	cleanup_free char *help = pst_opt_help(PST_CMD_PYFLAME);
	size_t last = 0;

	for (const char *p = help; *p;) {
		const size_t len = strcspn(p, "\n"), indent = strspn(p, " ");

		unit_row("%.*s", (int)len, p);
		if (p[indent] != '-' || indent > 10)
			CHECK(last + 1 + strcspn(p + indent, " \n") > 80 && indent == 30);
		else
			CHECK(p[29] == ' ' && p[30] != ' ');
		last = len;
		p += len + 1;
	}
}

/* ---- commands ---- */

static void test_commands(void)
{
	static const struct {
		const char *word, *name; /* NULL: none */
	} rows[] = { { "r", "record" }, { "t", "top" }, { "d", "dump" }, { "re", "record" },
		{ "rec", "record" }, { "record", "record" }, { "to", "top" }, { "du", "dump" },
		{ "dump", "dump" }, { "di", "diff" }, { "diff", "diff" }, { "do", "doctor" },
		{ "doctor", "doctor" }, { "con", "convert" }, { "com", "completions" },
		{ "convert", "convert" }, { "c", NULL }, { "co", NULL }, { "", NULL },
		{ "x", NULL }, { "records", NULL }, { "recorx", NULL }, { "R", NULL },
		{ "Dump", NULL }, { "-r", NULL }, { "123", NULL }, { "dumpx", NULL },
		{ " d", NULL } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		const struct pst_cmd *cmd = pst_cmd_find(rows[i].word);

		unit_row("'%s'", rows[i].word);
		CHECK_INT(cmd != NULL, rows[i].name != NULL);
		if (cmd && rows[i].name)
			CHECK_TEXT(cmd->name, rows[i].name);
	}
}

static void test_command_rows(void)
{
	for (const struct pst_cmd *a = pst_cmd_table; a->name; a++) {
		unit_row("%s", a->name);
		CHECK(pst_cmd_find(a->name) == a);
		CHECK(a->summary && a->summary[0]);
		for (const struct pst_cmd *b = pst_cmd_table; b < a; b++)
			CHECK(!a->short_wins || !b->short_wins || a->name[0] != b->name[0]);
	}
}

static CU_TestInfo tests[] = {
	{ "rows: letters and words are unique", test_unique },
	{ "rows: their members", test_rows },
	{ "rows: each is accepted", test_every_row },
	{ "defaults", test_defaults },
	{ "all options", test_all },
	{ "values in and out of range", test_values },
	{ "messages", test_messages },
	{ "pids", test_parse_pid },
	{ "mistakes", test_mistakes },
	{ "nothing is printed", test_silent },
	{ "again", test_again },
	{ "words behind the options", test_words },
	{ "abbreviated", test_abbreviated },
	{ "help mentions every row", test_help },
	{ "help is 80 columns wide", test_help_width },
	{ "help fills its lines", test_help_filled },
	{ "commands", test_commands },
	{ "commands: rows", test_command_rows },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_opts = { "opts", NULL, NULL, NULL, NULL, tests };
