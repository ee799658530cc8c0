/* Folded text, byte by byte, as it lies in the file. */
#include "unit.h"

#include "captures.h"

#include <stdlib.h>
#include <string.h>

static const struct pst_write_opts plain = { 0 }, no_lines = { .no_lines = true },
				   no_idle = { .no_idle = true };

static void check_written(struct pst_capture *c, const struct pst_write_opts *opts,
	const char *wanted, size_t wanted_len)
{
	captures_check(c, &pst_writer_folded, opts, wanted, wanted_len);
}

/* Ends C. */
static void check_text(struct pst_capture *c, const struct pst_write_opts *opts, const char *wanted)
{
	check_written(c, opts, wanted, strlen(wanted));
	pst_capture_close(c);
}

static void test_simple(void)
{
	struct pst_capture *c = pst_capture_create(false);

	captures_add_stack(c, 1, "main:1 parse:22", false, 3);
	captures_add_stack(c, 1, "main:1", false, 1);
	captures_add_stack(c, 1, "main:2 parse:22", false, 12);
	check_text(c, &plain,
		"x.py:main:1 1\n"
		"x.py:main:1;x.py:parse:22 3\n"
		"x.py:main:2;x.py:parse:22 12\n");
}

static void test_no_line(void)
{
	struct pst_capture *c = pst_capture_create(false);

	captures_add_stack(c, 1, "main:0", false, 1);
	check_text(c, &plain, "x.py:main:0 1\n");
}

static void test_without_lines(void)
{
	struct pst_capture *c = pst_capture_create(false);

	captures_add_stack(c, 1, "main:1 parse:22", false, 3);
	captures_add_stack(c, 1, "main:2 parse:22", false, 4);
	captures_add_stack(c, 1, "main:2 parse:23", false, 5);
	captures_add_stack(c, 1, "main:9", false, 1);
	check_text(c, &no_lines,
		"x.py:main 1\n"
		"x.py:main;x.py:parse 12\n");
}

/* Threads are not told apart: equal stacks are one line. */
static void test_merged(void)
{
	struct pst_capture *c = pst_capture_create(false);

	for (pid_t tid = 1; tid < 6; tid++)
		captures_add_stack(c, tid, "run:1 work:2", false, (int)tid);
	captures_add_stack(c, 9, "run:1", false, 7);
	check_text(c, &plain, "x.py:run:1 7\nx.py:run:1;x.py:work:2 15\n");
}

static void test_kinds(void)
{
	static const char all[] = "(failed) 2\n(idle) 4\n(truncated);x.py:f:1 3\nx.py:f:1 1\n";
	struct pst_capture *c = pst_capture_create(false);

	captures_add_idle(c, 4);
	captures_add_stack(c, 1, "f:1", true, 2);
	captures_add_stack(c, 2, "f:1", true, 1);
	captures_add_stack(c, 1, "f:1", false, 1);
	pst_capture_fail(c, PST_FAIL_HELD, 0);
	pst_capture_fail(c, PST_FAIL_TORN, 0);
	check_written(c, &plain, all, strlen(all));
	check_text(c, &no_idle, "(failed) 2\n(truncated);x.py:f:1 3\nx.py:f:1 1\n");
}

static void test_empty(void)
{
	struct pst_capture *c = pst_capture_create(false);

	check_written(c, &plain, "", 0);
	captures_add_idle(c, 3);
	check_written(c, &plain, "(idle) 3\n", 9);
	check_text(c, &no_idle, "");
}

/* ---- names ---- */

static const struct {
	const char *file, *name;
	size_t len;
	const char *wanted, *wanted_no_lines;
} names[] = {
#define N(text) text, sizeof(text) - 1
	{ "a;b.py", N("f;g"), "a:b.py:f:g:7 1\n", "a:b.py:f:g 1\n" },
	{ "a\nb.py", N("f\r\ng\th"), "a b.py:f  g h:7 1\n", "a b.py:f  g h 1\n" },
	{ "a.py", N("f\1\x1f\x7fg"), "a.py:f\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdg:7 1\n",
		"a.py:f\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdg 1\n" },
	{ "a.py", N("f\0g"), "a.py:f\xef\xbf\xbdg:7 1\n", "a.py:f\xef\xbf\xbdg 1\n" },
	{ "a.py", N("\xc2\x85x\xc2\x80y"), "a.py: x\xef\xbf\xbdy:7 1\n",
		"a.py: x\xef\xbf\xbdy 1\n" },
	{ "a.py", N("\xe2\x80\xa8x\xe2\x80\xa9y"), "a.py: x y:7 1\n", "a.py: x y 1\n" },
	{ "a.py", N("\xef\xbf\xbe\xef\xbf\xbf"), "a.py:\xef\xbf\xbd\xef\xbf\xbd:7 1\n",
		"a.py:\xef\xbf\xbd\xef\xbf\xbd 1\n" },
	{ "\xff.py", N("caf\xe9"), "\xef\xbf\xbd.py:caf\xef\xbf\xbd:7 1\n",
		"\xef\xbf\xbd.py:caf\xef\xbf\xbd 1\n" },
	{ "\xc3\xa9.py", N("\xf0\x9f\x98\x80"), "\xc3\xa9.py:\xf0\x9f\x98\x80:7 1\n",
		"\xc3\xa9.py:\xf0\x9f\x98\x80 1\n" },
	{ "a.py", N("<module>"), "a.py:<module>:7 1\n", "a.py:<module> 1\n" },
	{ "a b.py", N("f g"), "a b.py:f g:7 1\n", "a b.py:f g 1\n" },
	{ "a.py", N("f 12"), "a.py:f 12:7 1\n", "a.py:f_12 1\n" },
	{ "a.py", N("f 0"), "a.py:f 0:7 1\n", "a.py:f_0 1\n" },
	{ "a.py", N("f 1090"), "a.py:f 1090:7 1\n", "a.py:f_1090 1\n" },
	{ "a.py", N("f 9"), "a.py:f 9:7 1\n", "a.py:f_9 1\n" },
	{ "a.py", N("Thread 1 2"), "a.py:Thread 1 2:7 1\n", "a.py:Thread 1_2 1\n" },
	{ "a.py", N("f12"), "a.py:f12:7 1\n", "a.py:f12 1\n" },
	{ "a.py", N("f 12x"), "a.py:f 12x:7 1\n", "a.py:f 12x 1\n" },
	{ "a.py", N("f\n12"), "a.py:f 12:7 1\n", "a.py:f_12 1\n" },
	{ "a.py", N("12"), "a.py:12:7 1\n", "a.py:12 1\n" },
	{ "a.py", N(" 12"), "a.py: 12:7 1\n", "a.py:_12 1\n" },
	{ "", N(""), "::7 1\n", ": 1\n" },
};

static void test_names(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(names); i++) {
		struct pst_capture *c = pst_capture_create(false);
		const struct pst_frame frame =
			captures_frame(c, names[i].file, names[i].name, names[i].len, 7);

		unit_row("%zu: %s", i, names[i].wanted_no_lines);
		captures_add_frames(c, 1, &frame, 1, false, 1);
		check_written(c, &plain, names[i].wanted, strlen(names[i].wanted));
		check_text(c, &no_lines, names[i].wanted_no_lines);
	}
}

/* In the middle of a line too: a reader may show a part of the stack. */
static void test_number_in_the_middle(void)
{
	struct pst_capture *c = pst_capture_create(false);
	const struct pst_frame frames[] = { captures_frame(c, "a.py", "leaf", 4, 1),
		captures_frame(c, "a.py", "f 12", 4, 2), captures_frame(c, "a.py", "root", 4, 3) };

	captures_add_frames(c, 1, frames, 3, false, 1);
	check_text(c, &no_lines, "a.py:root;a.py:f_12;a.py:leaf 1\n");
}

/* Names that become alike become one line. */
static void test_mended_alike(void)
{
	struct pst_capture *c = pst_capture_create(false);

	captures_add_stack(c, 1, "a;b:1", false, 2);
	captures_add_stack(c, 1, "a\nb:1", false, 4);
	captures_add_stack(c, 1, "a b:1", false, 8);
	check_text(c, &plain, "x.py:a b:1 12\nx.py:a:b:1 2\n");
}

/* A long name is written whole. */
static void test_long_name(void)
{
	enum { N = 40000 };
	struct pst_capture *c = pst_capture_create(false);
	cleanup_free char *name = pst_xmalloc(N + 1), *wanted = NULL;
	struct pst_frame frame;

	memset(name, 'n', N);
	name[N] = '\0';
	frame = captures_frame(c, "a.py", name, N, 3);
	captures_add_frames(c, 1, &frame, 1, false, 2);
	wanted = pst_xasprintf("a.py:%s:3 2\n", name);
	check_text(c, &plain, wanted);
}

/* ---- order ---- */

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whole lines in the order of their bytes, as `LC_ALL=C sort` would have them.  ROWS are functions in x.py,
 * each with its own count. */
static void check_order(const char *const *rows, const int *counts, size_t n)
{
	struct pst_capture *c = pst_capture_create(false);
	cleanup_free char *wanted = pst_xstrdup("");
	char *lines[16];

	for (size_t i = 0; i < n; i++) {
		const struct pst_frame frame =
			captures_frame(c, "x.py", rows[i], strlen(rows[i]), 1);

		captures_add_frames(c, 1, &frame, 1, false, counts[i]);
		lines[i] = pst_xasprintf("x.py:%s %d\n", rows[i], counts[i]);
	}
	qsort(lines, n, sizeof(*lines), by_bytes);
	for (size_t i = 0; i < n; i++) {
		char *longer = pst_xasprintf("%s%s", wanted, lines[i]);

		free(wanted);
		wanted = longer;
		free(lines[i]);
	}
	check_text(c, &no_lines, wanted);
}

static void test_order(void)
{
	static const char *const rows[] = { "b", "a", "B", "_", "aa", "a.b", "a-b", "a\xc3\xa9",
		"\xf0\x9f\x98\x80", "\xee\x80\x80", "~" };
	static const int counts[] = { 1, 20, 3, 100, 5, 6, 7, 8, 9, 10, 11 };

	check_order(rows, counts, PST_ARRAY_SIZE(rows));
}

/* A name that goes on with a blank where another one's count follows. */
static void test_order_of_counts(void)
{
	static const char *const rows[] = { "f", "f !", "f b", "f 1x", "f  " };
	static const int counts[] = { 10, 5, 3, 2, 1 };

	check_order(rows, counts, PST_ARRAY_SIZE(rows));
}

/* The same capture always gives the same bytes. */
static void test_many(void)
{
	struct pst_capture *c = pst_capture_create(false);
	cleanup_free char *text = NULL;
	size_t wrong = 0, n = 0;
	uint64_t seed = 5;

	for (int i = 0; i < 3000; i++) {
		cleanup_free char *stack = pst_xasprintf("m:%u g%u:%u h:%u", unit_random(&seed) % 3,
			unit_random(&seed) % 30, unit_random(&seed) % 9, unit_random(&seed) % 90);

		captures_add_stack(c, (pid_t)(1 + unit_random(&seed) % 4), stack, false, 1);
	}
	text = captures_write(c, &pst_writer_folded, &plain, NULL);
	for (char *save = NULL, *line = strtok_r(text, "\n", &save), *last = NULL; line;
		last = line, line = strtok_r(NULL, "\n", &save)) {
		n += strtoul(strrchr(line, ' ') + 1, NULL, 10);
		wrong += last && strcmp(last, line) >= 0;
	}
	CHECK_INT(wrong, 0);
	CHECK_INT(n, 3000);
	pst_capture_close(c);
}

static void test_find(void)
{
	CHECK(pst_writer_find("folded") == &pst_writer_folded);
	CHECK(pst_writer_find("") == NULL);
	CHECK(pst_writer_find("fold") == NULL);
	CHECK(pst_writer_find("foldeds") == NULL);
	for (size_t i = 0; pst_writer_table[i]; i++) {
		CHECK(pst_writer_find(pst_writer_table[i]->name) == pst_writer_table[i]);
		CHECK(pst_writer_table[i]->extension && pst_writer_table[i]->summary &&
			pst_writer_table[i]->write);
	}
}

static CU_TestInfo tests[] = {
	{ "simple", test_simple },
	{ "a frame without line", test_no_line },
	{ "without line numbers", test_without_lines },
	{ "threads are merged", test_merged },
	{ "idle, failed, truncated", test_kinds },
	{ "empty", test_empty },
	{ "names are mended", test_names },
	{ "a number at the end of a frame in the middle", test_number_in_the_middle },
	{ "names that become alike", test_mended_alike },
	{ "a long name", test_long_name },
	{ "order", test_order },
	{ "order where counts decide", test_order_of_counts },
	{ "many stacks", test_many },
	{ "find a writer", test_find },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_folded = { "folded", NULL, NULL, NULL, NULL, tests };
