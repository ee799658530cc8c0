/* The flame chart: pairs of lines, a time and a stack, in order of time. */
#include "unit.h"

#include "captures.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct pst_write_opts plain = { 0 }, no_lines = { .no_lines = true },
				   no_idle = { .no_idle = true };

/* A sample of N threads at TIME_NS; a stack "" is idle, "!" failed, one that begins with '+' cut off. */
static void add(struct pst_capture *c, int64_t time_ns, const char *const *stacks, size_t n)
{
	struct pst_thread_sample threads[4];
	struct pst_frame frames[4][8];
	const struct pst_sample sample = { .time_ns = time_ns, .threads = threads, .n = n };

	for (size_t i = 0; i < n; i++) {
		const bool failed = stacks[i][0] == '!', cut = stacks[i][0] == '+';
		const uint32_t depth = failed ? 0 : captures_frames(c, stacks[i] + cut, frames[i]);

		threads[i] = (struct pst_thread_sample){ .tid = (pid_t)i + 1,
			.ident = i + 1,
			.proof = failed ? PST_FAILED : PST_EXACT,
			.stack = { frames[i], depth, cut } };
	}
	pst_capture_add(c, &sample);
}
#define ADD(c, ...)                                                  \
	add((c), pst_now_ns(), (const char *const[]){ __VA_ARGS__ }, \
		PST_ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })))

/* TEXT with "T" for each time; they are digits alone, and never less than the one before. */
static char *without_times(const char *text)
{
	char *out = pst_xcalloc(strlen(text) + 1, 1);
	unsigned long long last = 0;
	size_t n = 0;

	while (*text) {
		const size_t time_len = strcspn(text, "\n");
		const unsigned long long time = strtoull(text, NULL, 10);
		size_t line_len;

		CHECK_INT(strspn(text, "0123456789"), time_len);
		CHECK(time >= last && text[time_len]);
		last = time;
		text += time_len + 1;
		line_len = strcspn(text, "\n");
		out[n++] = 'T';
		out[n++] = '\n';
		memcpy(out + n, text, line_len + 1);
		n += line_len + 1;
		text += line_len + 1;
	}
	return out;
}

static void check_text(
	const struct pst_capture *c, const struct pst_write_opts *opts, const char *wanted)
{
	cleanup_free char *text = captures_write(c, &pst_writer_flamechart, opts, NULL),
			  *bare = without_times(text);

	CHECK_TEXT(bare, wanted);
}

/* Equal stacks are not merged: each moment has its own lines.  Behind each frame stands a ';'. */
static void test_order(void)
{
	struct pst_capture *c = pst_capture_create(true);

	ADD(c, "main:1 parse:22");
	ADD(c, "main:1");
	ADD(c, "main:1 parse:22");
	ADD(c, "main:1 parse:22");
	check_text(c, &plain,
		"T\nx.py:main:1;x.py:parse:22;\n"
		"T\nx.py:main:1;\n"
		"T\nx.py:main:1;x.py:parse:22;\n"
		"T\nx.py:main:1;x.py:parse:22;\n");
	check_text(c, &no_lines,
		"T\nx.py:main;x.py:parse;\n"
		"T\nx.py:main;\n"
		"T\nx.py:main;x.py:parse;\n"
		"T\nx.py:main;x.py:parse;\n");
	pst_capture_close(c);
}

static void test_kinds(void)
{
	struct pst_capture *c = pst_capture_create(true);

	captures_add_idle(c, 2);
	ADD(c, "f:1", "g:2");
	ADD(c, "!");
	pst_capture_fail(c, PST_FAIL_TORN, pst_now_ns());
	ADD(c, "+f:1 g:2");
	captures_add_idle(c, 1);
	check_text(c, &plain,
		"T\n(idle)\nT\n(idle)\n"
		"T\nx.py:f:1;\nT\nx.py:g:2;\n"
		"T\n(failed)\nT\n(failed)\n"
		"T\n(truncated);x.py:f:1;x.py:g:2;\n"
		"T\n(idle)\n");
	check_text(c, &no_idle,
		"T\nx.py:f:1;\nT\nx.py:g:2;\n"
		"T\n(failed)\nT\n(failed)\n"
		"T\n(truncated);x.py:f:1;x.py:g:2;\n");
	pst_capture_close(c);
}

/* A thread without frames is idle, once for all of a moment, and nothing beside others that have some. */
static void test_without_frames(void)
{
	struct pst_capture *c = pst_capture_create(true);

	ADD(c, "", "");
	ADD(c, "", "f:1", "");
	check_text(c, &plain, "T\n(idle)\nT\nx.py:f:1;\n");
	check_text(c, &no_idle, "T\nx.py:f:1;\n");
	pst_capture_close(c);
}

/* The threads of one moment have one time, in microseconds. */
static void test_times(void)
{
	const int64_t start_ns = pst_now_ns() + PST_NSEC_PER_SEC;
	static const int64_t steps_us[] = { 0, 0, 1, 1000, 1000000, 3600000000 };
	struct pst_capture *c = pst_capture_create(true);
	cleanup_free char *text = NULL;
	long long first = 0, at_us = 0;
	char *p;

	for (size_t i = 0; i < PST_ARRAY_SIZE(steps_us); i++) {
		at_us += steps_us[i];
		add(c, start_ns + at_us * 1000, (const char *const[]){ "f:1", "g:2" }, 2);
	}
	p = text = captures_write(c, &pst_writer_flamechart, &plain, NULL);
	first = strtoll(p, NULL, 10);
	at_us = 0;
	for (size_t i = 0; i < 2 * PST_ARRAY_SIZE(steps_us); i++) {
		at_us += i % 2 ? 0 : steps_us[i / 2];
		unit_row("line %zu", i);
		CHECK_INT(strtoll(p, &p, 10) - first, at_us);
		CHECK(strncmp(p, i % 2 ? "\nx.py:g:2;\n" : "\nx.py:f:1;\n", 11) == 0);
		p += 11;
	}
	CHECK_TEXT(p, "");
	pst_capture_close(c);
}

static void test_empty(void)
{
	struct pst_capture *c = pst_capture_create(true);

	check_text(c, &plain, "");
	captures_add_idle(c, 3);
	check_text(c, &no_idle, "");
	pst_capture_close(c);
}

static void test_row(void)
{
	CHECK(pst_writer_find("flamechart") == &pst_writer_flamechart);
	CHECK_INT(pst_writer_flamechart.order, PST_BY_TIME);
	CHECK_INT(pst_writer_folded.order, PST_BY_STACK);
}

static CU_TestInfo tests[] = {
	{ "order", test_order },
	{ "idle, failed, truncated", test_kinds },
	{ "threads without frames", test_without_frames },
	{ "times", test_times },
	{ "empty", test_empty },
	{ "the row", test_row },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_flamechart = { "flamechart", NULL, NULL, NULL, NULL, tests };
