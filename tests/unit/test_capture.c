/* What goes into a capture, and what comes out. */
#include "unit.h"

#include "pystill/capture.h"
#include "pystill/names.h"

#include <string.h>

/* A thread whose stack, outermost first, is FUNCS. */
struct given {
	pid_t tid;
	pst_addr_t ident;
	enum pst_proof proof;
	enum pst_fail fail;
	const char *funcs;
	bool truncated;
};

/* One sample of N threads. */
static void add(struct pst_capture *c, const struct given *given, size_t n)
{
	struct pst_thread_sample threads[4];
	struct pst_frame frames[4][16];
	struct pst_sample sample = { .threads = threads, .n = n };

	for (size_t i = 0; i < n; i++) {
		const size_t len = strlen(given[i].funcs);

		for (size_t k = 0; k < len; k++) {
			const char f = given[i].funcs[len - 1 - k];

			frames[i][k] = (struct pst_frame){ (pst_func_id)(f - 'a' + 1), f };
		}
		threads[i] = (struct pst_thread_sample){ .tid = given[i].tid,
			.ident = given[i].ident,
			.proof = given[i].proof,
			.fail = given[i].fail,
			.stack = { frames[i], (uint32_t)len, given[i].truncated } };
	}
	pst_capture_add(c, &sample);
}
#define ADD(c, ...)                                     \
	add((c), (const struct given[]){ __VA_ARGS__ }, \
		PST_ARRAY_SIZE(((const struct given[]){ __VA_ARGS__ })))

static bool is_stack(const struct pst_record *r, const char *funcs)
{
	const size_t len = strlen(funcs);

	if (r->kind != PST_RECORD_STACK || r->stack.n != len)
		return false;
	for (size_t k = 0; k < len; k++)
		if (r->stack.frames[k].line != funcs[len - 1 - k] ||
			r->stack.frames[k].func != (pst_func_id)(funcs[len - 1 - k] - 'a' + 1))
			return false;
	return true;
}

struct wanted {
	enum pst_record_kind kind;
	pid_t tid;
	const char *funcs;
	bool truncated;
	uint64_t count;
};

static bool is_wanted(const struct pst_record *r, const struct wanted *w)
{
	return r->kind == w->kind && r->count == w->count && r->tid == w->tid &&
		r->stack.truncated == w->truncated &&
		(r->kind == PST_RECORD_STACK ? is_stack(r, w->funcs) : r->stack.n == 0);
}

/* The records are WANTED, each once, in any order. */
static void check_reader(struct pst_capture_reader *reader, const struct wanted *wanted, size_t n)
{
	struct pst_record record;
	uint32_t seen = 0;
	size_t count = 0;
	int got = 0;

	while (count < 30 && (got = pst_capture_next(reader, &record)) == 1) {
		for (size_t i = 0; i < n; i++)
			if (is_wanted(&record, &wanted[i]))
				seen |= 1u << i;
		count++;
	}
	CHECK_INT(count, n);
	CHECK_INT(seen, (1u << n) - 1);
	CHECK_INT(got, 0);
	CHECK_INT(pst_capture_next(reader, &record), 0);
}

static void check_records(struct pst_capture *c, const struct wanted *wanted, size_t n)
{
	struct pst_capture_reader *reader = pst_capture_open(c, PST_BY_STACK);

	CHECK(pst_capture_reader_names(reader) == pst_capture_names(c));
	check_reader(reader, wanted, n);
	pst_capture_rewind(reader);
	check_reader(reader, wanted, n);
	pst_capture_reader_close(reader);
}

static void test_counts(void)
{
	struct pst_capture *c = pst_capture_create(false);
	const struct pst_capture_counts *counts = pst_capture_counts(c);

	CHECK(pst_capture_names(c) != NULL);
	ADD(c, { 1, 1, PST_EXACT, 0, "ab", false });
	ADD(c, { 1, 1, PST_EXACT, 0, "ab", false }, { 2, 2, PST_UNPROVED, 0, "a", false });
	ADD(c, { 1, 1, PST_UNPROVED, 0, "ab", false });
	add(c, NULL, 0);
	ADD(c, { 1, 1, PST_EXACT, 0, "", false });
	ADD(c, { 1, 1, PST_EXACT, 0, "", false }, { 2, 2, PST_EXACT, 0, "b", false });
	ADD(c, { 1, 1, PST_FAILED, PST_FAIL_HELD, "ab", false });
	ADD(c, { 1, 1, PST_FAILED, PST_FAIL_MOVED, "", false },
		{ 2, 2, PST_FAILED, PST_FAIL_MOVED, "", false });
	pst_capture_fail(c, PST_FAIL_TORN, 0);
	pst_capture_missed(c, 5);
	pst_capture_missed(c, 2);
	CHECK_INT(counts->samples, 8);
	CHECK_INT(counts->exact, 3);
	CHECK_INT(counts->unproved, 2);
	CHECK_INT(counts->idle, 2);
	CHECK_INT(counts->failures, 4);
	CHECK_INT(counts->failed[PST_FAIL_NOT_STOPPED], 0);
	CHECK_INT(counts->failed[PST_FAIL_HELD], 1);
	CHECK_INT(counts->failed[PST_FAIL_MOVED], 2);
	CHECK_INT(counts->failed[PST_FAIL_TORN], 1);
	CHECK_INT(counts->missed, 7);
	pst_capture_close(c);
	pst_capture_close(NULL);
}

static void test_records(void)
{
	static const struct wanted wanted[] = {
		{ PST_RECORD_STACK, 1, "ab", false, 3 },
		{ PST_RECORD_STACK, 1, "a", false, 1 },
		{ PST_RECORD_STACK, 1, "abc", false, 1 },
		{ PST_RECORD_STACK, 2, "ab", false, 1 },
		{ PST_RECORD_IDLE, 0, "", false, 2 },
		{ PST_RECORD_FAILED, 0, "", false, 3 },
	};
	struct pst_capture *c = pst_capture_create(false);

	for (int i = 0; i < 3; i++)
		ADD(c, { 1, 1, PST_EXACT, 0, "ab", false });
	ADD(c, { 1, 1, PST_EXACT, 0, "abc", false }, { 2, 2, PST_EXACT, 0, "ab", false });
	ADD(c, { 1, 1, PST_UNPROVED, 0, "a", false },
		{ 2, 2, PST_FAILED, PST_FAIL_HELD, "", false });
	add(c, NULL, 0);
	add(c, NULL, 0);
	pst_capture_fail(c, PST_FAIL_TORN, 0);
	pst_capture_fail(c, PST_FAIL_MOVED, 0);
	check_records(c, wanted, PST_ARRAY_SIZE(wanted));
	pst_capture_close(c);
}

/* Threads of one id, one after the other, are two; so are those whose id nobody knows. */
static void test_threads(void)
{
	static const struct wanted wanted[] = {
		{ PST_RECORD_STACK, 1, "a", false, 2 },
		{ PST_RECORD_STACK, 1, "a", false, 1 },
		{ PST_RECORD_STACK, 0, "a", false, 4 },
		{ PST_RECORD_STACK, 0, "a", false, 3 },
	};
	struct pst_capture *c = pst_capture_create(false);

	ADD(c, { 1, 7, PST_EXACT, 0, "a", false }, { 1, 8, PST_EXACT, 0, "a", false },
		{ 0, 9, PST_EXACT, 0, "a", false }, { 0, 10, PST_EXACT, 0, "a", false });
	ADD(c, { 1, 7, PST_EXACT, 0, "a", false });
	for (int i = 0; i < 3; i++)
		ADD(c, { 0, 10, PST_EXACT, 0, "a", false });
	for (int i = 0; i < 2; i++)
		ADD(c, { 0, 9, PST_EXACT, 0, "a", false });
	check_records(c, wanted, PST_ARRAY_SIZE(wanted));
	pst_capture_close(c);
}

/* A stack that was cut off is another one than the same frames alone. */
static void test_truncated(void)
{
	static const struct wanted wanted[] = {
		{ PST_RECORD_STACK, 5, "ab", true, 2 },
		{ PST_RECORD_STACK, 5, "ab", false, 1 },
		{ PST_RECORD_STACK, 6, "ab", true, 1 },
	};
	struct pst_capture *c = pst_capture_create(false);

	ADD(c, { 5, 1, PST_EXACT, 0, "ab", true }, { 6, 2, PST_EXACT, 0, "ab", true });
	ADD(c, { 5, 1, PST_EXACT, 0, "ab", false });
	ADD(c, { 5, 1, PST_EXACT, 0, "ab", true });
	check_records(c, wanted, PST_ARRAY_SIZE(wanted));
	pst_capture_close(c);
}

static void test_many_threads(void)
{
	enum { N = 300 };
	struct pst_capture *c = pst_capture_create(false);
	struct pst_capture_reader *reader;
	struct pst_record record;
	uint64_t sum = 0, wrong = 0;

	for (int round = 0; round < 3; round++)
		for (pid_t tid = 1; tid <= N; tid++)
			for (pid_t k = 0; k <= tid % 3; k++)
				ADD(c, { tid, 1, PST_EXACT, 0, "ab", tid % 2 == 0 });
	reader = pst_capture_open(c, PST_BY_STACK);
	while (pst_capture_next(reader, &record)) {
		wrong += record.count != 3 * (1 + (uint64_t)record.tid % 3);
		wrong +=
			record.stack.truncated != (record.tid % 2 == 0) || !is_stack(&record, "ab");
		sum += (uint64_t)record.tid;
	}
	CHECK_INT(wrong, 0);
	CHECK_INT(sum, N * (N + 1) / 2);
	pst_capture_reader_close(reader);
	pst_capture_close(c);
}

static void test_nothing(void)
{
	struct pst_capture *c = pst_capture_create(false);

	check_records(c, NULL, 0);
	pst_capture_reader_close(NULL);
	pst_capture_close(c);
}

/* Rewinding in the middle begins anew. */
static void test_rewind(void)
{
	struct pst_capture *c = pst_capture_create(false);
	struct pst_capture_reader *reader;
	struct pst_record record;

	ADD(c, { 1, 1, PST_EXACT, 0, "a", false });
	ADD(c, { 1, 1, PST_EXACT, 0, "b", false });
	reader = pst_capture_open(c, PST_BY_STACK);
	CHECK_INT(pst_capture_next(reader, &record), 1);
	CHECK(is_stack(&record, "a"));
	pst_capture_rewind(reader);
	CHECK_INT(pst_capture_next(reader, &record), 1);
	CHECK(is_stack(&record, "a"));
	CHECK_INT(pst_capture_next(reader, &record), 1);
	CHECK(is_stack(&record, "b"));
	CHECK_INT(pst_capture_next(reader, &record), 0);
	pst_capture_reader_close(reader);
	pst_capture_close(c);
}

static CU_TestInfo tests[] = {
	{ "counts", test_counts },
	{ "records", test_records },
	{ "threads", test_threads },
	{ "truncated", test_truncated },
	{ "many threads", test_many_threads },
	{ "nothing", test_nothing },
	{ "rewind", test_rewind },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_capture = { "capture", NULL, NULL, NULL, NULL, tests };
