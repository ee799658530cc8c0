/* Lines of text: how names and frames are mended to fit into them. */
#include "unit.h"

#include "writers/line.h"

#include <stdlib.h>
#include <string.h>

#define R "\xef\xbf\xbd"

/* A line of NAME alone is WANTED. */
static void check_name(const char *name, size_t len, const char *wanted)
{
	struct pst_names *names = pst_names_new();
	const pst_name_id id = pst_names_string(names, name, len);
	struct pst_line line = { 0 };

	unit_row("%s", wanted);
	pst_line_name(&line, names, id);
	CHECK_BYTES(line.buf, line.len, wanted, strlen(wanted));
	pst_line_fini(&line);
	pst_names_free(names);
}

static void test_names(void)
{
	static const struct {
		const char *name;
		size_t len;
		const char *wanted;
	} rows[] = {
#define N(text) text, sizeof(text) - 1
		{ N("plain"), "plain" }, { N("<module>"), "<module>" }, { N("a b"), "a b" },
		{ N("a;b;"), "a:b:" }, { N("a:b"), "a:b" }, { N("a\nb\rc\td"), "a b c d" },
		{ N("\xc2\x85\xe2\x80\xa8\xe2\x80\xa9"), "   " }, { N("\x01\x1f\x7f"), R R R },
		{ N("a\0b"), "a" R "b" }, { N("\xc2\x80\xc2\x9f\xc2\xa0"), R R "\xc2\xa0" },
		{ N("\xef\xbf\xbe\xef\xbf\xbf"), R R }, { N("\xef\xbf\xbd"), R }, { N("\xff"), R },
		{ N("\xe2\x82"), R R },
		{ N("caf\xc3\xa9 \xf0\x9f\x98\x80"), "caf\xc3\xa9 \xf0\x9f\x98\x80" },
		{ N("f 12"), "f 12" }, /* only a whole frame must not end so */
#undef N
	};

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++)
		check_name(rows[i].name, rows[i].len, rows[i].wanted);
}

static const struct {
	const char *file, *name;
	int32_t line;
	const char *wanted, *wanted_no_lines;
} frames[] = {
	{ "a.py", "f", 7, "a.py:f:7", "a.py:f" },
	{ "a.py", "f", 0, "a.py:f:0", "a.py:f" },
	{ "a.py", "f", INT32_MAX, "a.py:f:2147483647", "a.py:f" },
	{ "a.py", "f", -1, "a.py:f:-1", "a.py:f" },
	{ "a.py", "f 12", 7, "a.py:f 12:7", "a.py:f_12" },
	{ "a.py", "f  12", 7, "a.py:f  12:7", "a.py:f _12" },
	{ "a.py", "f 1 2", 7, "a.py:f 1 2:7", "a.py:f 1_2" },
	{ "a.py", "f 12 ", 7, "a.py:f 12 :7", "a.py:f 12 " },
	{ "a.py", "f\t12", 7, "a.py:f 12:7", "a.py:f_12" },
	{ "a.py", " 12", 7, "a.py: 12:7", "a.py:_12" },
	{ "a.py", "12", 7, "a.py:12:7", "a.py:12" },
	{ "", "", 7, "::7", ":" },
	{ "a 1", "", 7, "a 1::7", "a 1:" },
};

/* FRAMES behind "root 5;": what stands before a frame is none of its own. */
static void check_frame(size_t i, bool no_lines, const char *frame)
{
	struct pst_names *names = pst_names_new();
	const struct pst_func func = { pst_names_string(
					       names, frames[i].name, strlen(frames[i].name)),
		pst_names_string(names, frames[i].file, strlen(frames[i].file)), 1 };
	const struct pst_frame f = { pst_names_func(names, &func), frames[i].line };
	cleanup_free char *wanted = pst_xasprintf("root 5;%s", frame);
	struct pst_line line = { 0 };

	unit_row("%s", frame);
	pst_line_put(&line, "root 5;");
	pst_line_frame(&line, names, &f, no_lines);
	CHECK_BYTES(line.buf, line.len, wanted, strlen(wanted));
	pst_line_fini(&line);
	CHECK(!line.buf && !line.len && !line.cap);
	pst_names_free(names);
}

static void test_frames(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(frames); i++) {
		check_frame(i, false, frames[i].wanted);
		check_frame(i, true, frames[i].wanted_no_lines);
	}
}

/* Digits all the way to its beginning: what stands before the frame stays. */
static void test_before_the_frame(void)
{
	struct pst_names *names = pst_names_new();
	const struct pst_func func = { pst_names_string(names, "1", 1),
		pst_names_string(names, "1", 1), 1 };
	const struct pst_frame f = { pst_names_func(names, &func), 1 };
	struct pst_line line = { 0 };

	pst_line_put(&line, "x ");
	pst_line_frame(&line, names, &f, true);
	CHECK_BYTES(line.buf, line.len, "x 1:1", 5);
	pst_line_fini(&line);
	pst_names_free(names);
}

/* A line is used again and again. */
static void test_again(void)
{
	struct pst_line line = { 0 };
	char *longer = pst_xcalloc(100000, 1);

	memset(longer, 'q', 99999);
	for (int i = 0; i < 3; i++) {
		line.len = 0;
		pst_line_put(&line, longer);
		pst_line_put(&line, "");
		pst_line_put(&line, "end");
		CHECK_INT(line.len, 100002);
		CHECK_BYTES(line.buf + 99998, 4, "qend", 4);
		line.len = 0;
		pst_line_put(&line, "short");
		CHECK_BYTES(line.buf, line.len, "short", 5);
	}
	pst_line_fini(&line);
	free(longer);
}

static CU_TestInfo tests[] = {
	{ "names", test_names },
	{ "frames", test_frames },
	{ "before the frame", test_before_the_frame },
	{ "again", test_again },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_line = { "line", NULL, NULL, NULL, NULL, tests };
