/* The dump: every thread with its id, its name and its frames. */
#include "unit.h"

#include "captures.h"

#include <string.h>

static const struct pst_write_opts plain = { 0 }, no_lines = { .no_lines = true },
				   no_idle = { .no_idle = true };

/* A thread as the sampler gives it: the newest first. */
struct given {
	pst_addr_t ident;
	const char *name; /* NULL: none */
	const char *stack;
	bool holds_gil, failed, truncated;
};

static struct pst_capture *take(const struct given *given, size_t n)
{
	struct pst_capture *c = pst_capture_create(true);
	struct pst_thread_sample threads[8];
	struct pst_frame frames[8][8];
	const struct pst_sample sample = { .time_ns = pst_now_ns(), .threads = threads, .n = n };

	for (size_t i = 0; i < n; i++) {
		const char *name = given[i].name;

		threads[i] = (struct pst_thread_sample){ .index = i,
			.tid = (pid_t)i + 100,
			.ident = given[i].ident,
			.name = name ? pst_names_string(pst_capture_names(c), name, strlen(name))
				     : 0,
			.holds_gil = given[i].holds_gil,
			.proof = given[i].failed ? PST_FAILED : PST_EXACT,
			.stack = { frames[i], captures_frames(c, given[i].stack, frames[i]),
				given[i].truncated } };
	}
	pst_capture_add(c, &sample);
	return c;
}

static void check_dump(
	const struct given *given, size_t n, const struct pst_write_opts *opts, const char *wanted)
{
	struct pst_capture *c = take(given, n);

	captures_check(c, &pst_writer_stacks, opts, wanted, strlen(wanted));
	pst_capture_close(c);
}
#define DUMP(opts, wanted, ...)                           \
	check_dump((const struct given[]){ __VA_ARGS__ }, \
		PST_ARRAY_SIZE(((const struct given[]){ __VA_ARGS__ })), (opts), (wanted))

/* Frames leaf first; the thread that was started first comes first. */
static void test_threads(void)
{
	DUMP(&plain,
		"140000000001*: MainThread\nx.py:parse:22\nx.py:main:1\n"
		"\n"
		"140000000002: worker\nx.py:work:7\n",
		{ 140000000002, "worker", "work:7", false, false, false },
		{ 140000000001, "MainThread", "main:1 parse:22", true, false, false });
}

static void test_one(void)
{
	DUMP(&plain, "7*: MainThread\nx.py:main:1\n",
		{ 7, "MainThread", "main:1", true, false, false });
	DUMP(&no_lines, "7: MainThread\nx.py:main\n",
		{ 7, "MainThread", "main:1", false, false, false });
}

/* Ids are as threading.get_ident() has them: 64 bits without a sign. */
static void test_idents(void)
{
	DUMP(&plain, "18446744073709551615: a\nx.py:f:1\n",
		{ UINT64_MAX, "a", "f:1", false, false, false });
}

static void test_names(void)
{
	DUMP(&plain, "7:\nx.py:f:1\n", { 7, NULL, "f:1", false, false, false });
	DUMP(&plain, "7*:\nx.py:f:1\n", { 7, NULL, "f:1", true, false, false });
	DUMP(&plain, "7: a b:c d\xef\xbf\xbd\xc3\xa9\nx.py:f:1\n",
		{ 7, "a\nb;c\td\x01\xc3\xa9", "f:1", false, false, false });
	DUMP(&plain, "7: pool 12\nx.py:f:1\n", { 7, "pool 12", "f:1", false, false, false });
}

static void test_kinds(void)
{
	DUMP(&plain,
		"3: c\nx.py:g:2\nx.py:f:1\n(truncated)\n"
		"\n"
		"2: b\n(failed)\n"
		"\n"
		"1: a\n",
		{ 1, "a", "", false, false, false }, { 2, "b", "", false, true, false },
		{ 3, "c", "f:1 g:2", false, false, true });
}

/* A thread without frames is there as well, when all are without and idle ones are left out too. */
static void test_idle(void)
{
	DUMP(&plain, "2*: b\n\n1: a\n", { 1, "a", "", false, false, false },
		{ 2, "b", "", true, false, false });
	DUMP(&no_idle, "2*: b\n\n1: a\n", { 1, "a", "", false, false, false },
		{ 2, "b", "", true, false, false });
}

static void test_nothing(void)
{
	struct pst_capture *c = pst_capture_create(true);

	captures_check(c, &pst_writer_stacks, &plain, "", 0);
	captures_add_idle(c, 1);
	captures_check(c, &pst_writer_stacks, &plain, "", 0);
	pst_capture_fail(c, PST_FAIL_TORN, pst_now_ns());
	captures_check(c, &pst_writer_stacks, &plain, "(failed)\n", 9);
	pst_capture_close(c);
}

static void test_row(void)
{
	CHECK(pst_writer_find("stacks") == &pst_writer_stacks);
	CHECK_INT(pst_writer_stacks.order, PST_BY_TIME);
}

static CU_TestInfo tests[] = {
	{ "threads", test_threads },
	{ "one thread", test_one },
	{ "ids", test_idents },
	{ "names", test_names },
	{ "failed, truncated, without frames", test_kinds },
	{ "all without frames", test_idle },
	{ "nothing", test_nothing },
	{ "the row", test_row },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_dump = { "dump", NULL, NULL, NULL, NULL, tests };
