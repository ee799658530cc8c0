/* A capture in order of time. */
#include "unit.h"

#include "captures.h"

#include <string.h>
#include <time.h>

/* A sample of one thread. */
struct given {
	int64_t time_ns;
	pid_t tid;
	pst_addr_t ident;
	const char *stack;
	enum pst_proof proof;
	bool holds_gil, truncated;
};

static void add(struct pst_capture *c, struct given g)
{
	struct pst_frame frames[8];
	const struct pst_thread_sample thread = { .tid = g.tid,
		.ident = g.ident,
		.holds_gil = g.holds_gil,
		.proof = g.proof,
		.stack = { frames, captures_frames(c, g.stack, frames), g.truncated } };
	const struct pst_sample sample = { .time_ns = g.time_ns, .threads = &thread, .n = 1 };

	pst_capture_add(c, &sample);
}

/* The next record; false at the end. */
static bool next(struct pst_capture_reader *r, struct pst_record *record)
{
	return pst_capture_next(r, record) == 1;
}

/* ---- records ---- */

static void check_record(const struct pst_record *r, enum pst_record_kind kind, pid_t tid,
	uint32_t depth, bool holds_gil)
{
	CHECK_INT(r->kind, kind);
	CHECK_INT(r->count, 1);
	CHECK_INT(r->tid, tid);
	CHECK_INT(r->stack.n, depth);
	CHECK_INT(r->holds_gil, holds_gil);
}

static void test_records(void)
{
	struct pst_capture *c = pst_capture_create(true);
	const int64_t now = pst_now_ns() + 5 * PST_NSEC_PER_MSEC;
	struct pst_capture_reader *r;
	struct pst_record record;
	int64_t first_us = 0;

	add(c, (struct given){ now, 1, 0x11, "f:1 g:2", PST_EXACT, true, false });
	add(c, (struct given){ now, 2, 0x22, "f:1", PST_UNPROVED, false, true });
	add(c, (struct given){ now, 1, 0x11, "", PST_FAILED, true, false });
	add(c, (struct given){ now, 1, 0x11, "f:1 g:2", PST_EXACT, false, false });
	captures_add_idle(c, 1);
	pst_capture_fail(c, PST_FAIL_TORN, now);
	r = pst_capture_open(c, PST_BY_TIME);
	for (int round = 0; round < 2; round++) {
		unit_row("round %d", round);
		REQUIRE(next(r, &record));
		check_record(&record, PST_RECORD_STACK, 1, 2, true);
		first_us = round ? first_us : record.epoch_us;
		CHECK_INT(record.epoch_us, first_us);
		CHECK_INT(record.ident, 0x11);
		CHECK_INT(record.stack.frames[0].line, 2);
		CHECK_INT(record.stack.frames[1].line, 1);
		REQUIRE(next(r, &record));
		check_record(&record, PST_RECORD_STACK, 2, 1, false);
		CHECK(record.stack.truncated && record.ident == 0x22);
		REQUIRE(next(r, &record));
		check_record(&record, PST_RECORD_FAILED, 1, 0, true);
		REQUIRE(next(r, &record));
		check_record(&record, PST_RECORD_STACK, 1, 2, false);
		CHECK(!record.stack.truncated);
		REQUIRE(next(r, &record));
		check_record(&record, PST_RECORD_IDLE, 0, 0, false);
		REQUIRE(next(r, &record));
		check_record(&record, PST_RECORD_FAILED, 0, 0, false);
		CHECK(!next(r, &record) && !next(r, &record));
		pst_capture_rewind(r);
	}
	pst_capture_reader_close(r);
	pst_capture_close(c);
}

/* A thread without frames is told of, and then that the moment was idle. */
static void test_without_frames(void)
{
	struct pst_capture *c = pst_capture_create(true);
	struct pst_capture_reader *r;
	struct pst_record record;

	add(c, (struct given){ pst_now_ns(), 1, 0x11, "", PST_EXACT, true, false });
	r = pst_capture_open(c, PST_BY_TIME);
	REQUIRE(next(r, &record));
	check_record(&record, PST_RECORD_STACK, 1, 0, true);
	REQUIRE(next(r, &record));
	check_record(&record, PST_RECORD_IDLE, 0, 0, false);
	CHECK(!next(r, &record));
	pst_capture_reader_close(r);
	pst_capture_close(c);
}

/* Both orders of the same capture, and one that keeps no time. */
static void test_orders(void)
{
	for (int timeline = 0; timeline < 2; timeline++) {
		struct pst_capture *c = pst_capture_create(timeline);
		struct pst_capture_reader *by_time, *by_stack;
		struct pst_record record;
		size_t n = 0;

		for (int i = 0; i < 5; i++)
			captures_add_stack(c, 1, "f:1", false, 1);
		by_time = pst_capture_open(c, PST_BY_TIME);
		by_stack = pst_capture_open(c, PST_BY_STACK);
		unit_row("timeline %d", timeline);
		REQUIRE(next(by_stack, &record));
		CHECK_INT(record.count, 5);
		CHECK_INT(record.epoch_us, 0);
		CHECK(!next(by_stack, &record));
		while (next(by_time, &record))
			n++;
		CHECK_INT(n, timeline ? 5 : 0);
		pst_capture_reader_close(by_time);
		pst_capture_reader_close(by_stack);
		pst_capture_close(c);
	}
}

/* A name is found only when the thread has run for a while: all its records have it then, and the last one wins. */
static void test_names(void)
{
	struct pst_capture *c = pst_capture_create(true);
	struct pst_thread_sample thread = { .tid = 1, .ident = 0x11 };
	const struct pst_sample sample = { .threads = &thread, .n = 1 };
	struct pst_names *names = pst_capture_names(c);
	const pst_name_id a = pst_names_string(names, "a", 1), b = pst_names_string(names, "b", 1);
	const pst_name_id given[] = { 0, a, 0, b, 0 };
	struct pst_capture_reader *r;
	struct pst_record record;

	for (size_t i = 0; i < PST_ARRAY_SIZE(given); i++) {
		thread.name = given[i];
		pst_capture_add(c, &sample);
	}
	r = pst_capture_open(c, PST_BY_TIME);
	while (next(r, &record))
		if (record.kind == PST_RECORD_STACK)
			CHECK_INT(record.name, b);
	pst_capture_reader_close(r);
	pst_capture_close(c);
}

/* ---- times ---- */

/* Microseconds between events, as added: small and large, and in each width of number. */
static void test_times(void)
{
	static const int64_t steps_us[] = { 0, 1, 127, 128, 129, 16383, 16384, 2097151, 2097152,
		268435455, 268435456, 86400000000, 0, 34359738368 };
	struct pst_capture *c = pst_capture_create(true);
	const int64_t start_ns = pst_now_ns();
	struct pst_capture_reader *r;
	struct pst_record record;
	int64_t at_us = 0, first_us = 0;

	for (size_t i = 0; i < PST_ARRAY_SIZE(steps_us); i++) {
		at_us += steps_us[i];
		add(c,
			(struct given){
				start_ns + at_us * 1000, 1, 0x11, "f:1", PST_EXACT, false, false });
	}
	r = pst_capture_open(c, PST_BY_TIME);
	at_us = 0;
	for (size_t i = 0; i < PST_ARRAY_SIZE(steps_us); i++) {
		at_us += steps_us[i];
		REQUIRE(next(r, &record));
		if (i == 0)
			first_us = record.epoch_us;
		unit_row("event %zu", i);
		CHECK_INT(record.epoch_us - first_us, at_us);
	}
	CHECK(!next(r, &record));
	pst_capture_reader_close(r);
	pst_capture_close(c);
}

/* Since the epoch: within a day of what the clock says, which is enough to tell units and clocks apart. */
static void test_epoch(void)
{
	struct pst_capture *c = pst_capture_create(true);
	const int64_t day_us = 86400000000, now_us = (int64_t)time(NULL) * 1000000;
	struct pst_capture_reader *r;
	struct pst_record record;

	add(c, (struct given){ pst_now_ns(), 1, 0x11, "f:1", PST_EXACT, false, false });
	r = pst_capture_open(c, PST_BY_TIME);
	REQUIRE(next(r, &record));
	CHECK(record.epoch_us > now_us - day_us && record.epoch_us < now_us + day_us);
	pst_capture_reader_close(r);
	pst_capture_close(c);
}

/* Events whose time goes back, or lies before the start, have that of the event before. */
static void test_back(void)
{
	static const struct {
		int64_t at_us, wanted_us;
	} rows[] = { { 5000, 5000 }, { 4000, 5000 }, { -86400000000, 5000 }, { 5001, 5001 },
		{ 5000, 5001 }, { 7000, 7000 } };
	struct pst_capture *c = pst_capture_create(true);
	const int64_t start_ns = pst_now_ns();
	struct pst_capture_reader *r;
	struct pst_record record;
	int64_t first_us = 0;

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++)
		pst_capture_fail(c, PST_FAIL_HELD, start_ns + rows[i].at_us * 1000);
	r = pst_capture_open(c, PST_BY_TIME);
	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		REQUIRE(next(r, &record));
		if (i == 0)
			first_us = record.epoch_us - rows[0].wanted_us;
		unit_row("event %zu", i);
		CHECK_INT(record.epoch_us - first_us, rows[i].wanted_us);
	}
	pst_capture_reader_close(r);
	pst_capture_close(c);
}

/* Many threads and stacks: each event finds its own again. */
static void test_many(void)
{
	enum { N = 5000, THREADS = 300 };
	struct pst_capture *c = pst_capture_create(true);
	struct pst_capture_reader *r;
	struct pst_record record;
	uint64_t seed = 7, again = 7;
	size_t wrong = 0, n = 0;

	for (int i = 0; i < N; i++) {
		const uint32_t a = unit_random(&seed);
		cleanup_free char *stack = pst_xasprintf("f:%u g:%u", 1 + a % 97, 1 + a % 31);

		captures_add_stack(c, (pid_t)(1 + a % THREADS), stack, a % 5 == 0, 1);
	}
	r = pst_capture_open(c, PST_BY_TIME);
	for (; next(r, &record); n++) {
		const uint32_t a = unit_random(&again);

		wrong += record.tid != (pid_t)(1 + a % THREADS) || record.stack.n != 2 ||
			record.stack.frames[0].line != (int32_t)(1 + a % 31) ||
			record.stack.frames[1].line != (int32_t)(1 + a % 97) ||
			record.stack.truncated != (a % 5 == 0);
	}
	CHECK_INT(n, N);
	CHECK_INT(wrong, 0);
	pst_capture_reader_close(r);
	pst_capture_close(c);
}

static CU_TestInfo tests[] = {
	{ "records", test_records },
	{ "threads without frames", test_without_frames },
	{ "both orders", test_orders },
	{ "names", test_names },
	{ "times", test_times },
	{ "the epoch", test_epoch },
	{ "times that go back", test_back },
	{ "many", test_many },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_timeline = { "timeline", NULL, NULL, NULL, NULL, tests };
