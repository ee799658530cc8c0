/* The truth meter's line, and what a capture makes of the figures of a run. */
#include "unit.h"

#include "pystill/capture.h"
#include "pystill/sampler.h"

#include <string.h>

static void test_text(void)
{
	struct pst_meter m = {
		.seconds = 10.04,
		.wanted = 1004.2,
		.samples = 998,
		.rate_hz = 99.4,
		.exact = 990,
		.unproved = 5,
		.failed = 3,
		.failed_by = { [PST_FAIL_NOT_STOPPED] = 2, [PST_FAIL_TORN] = 1 },
		.stops = 412,
		.stop_median_ns = 9100,
		.stop_p99_ns = 21040,
		.stop_max_ns = 60000,
		.stop_share = 0.00051,
		.cpu_share = 0.0112,
	};
	char text[PST_METER_TEXT];

	pst_meter_text(&m, text);
	CHECK_TEXT(text,
		"10.0 s: 998 of 1004 samples, 99.4 Hz; stacks: 990 exact, 5 unproved, 3 failed "
		"(2: the thread did not stop in time; 1: its memory made no sense); 412 stops of "
		"9.1 us (median; p99 21.0, longest 60.0), 0.05 % of the time; own CPU 1.1 %");
	m.failed = 0;
	memset(m.failed_by, 0, sizeof(m.failed_by));
	m.stops = 0;
	pst_meter_text(&m, text);
	CHECK_TEXT(text,
		"10.0 s: 998 of 1004 samples, 99.4 Hz; stacks: 990 exact, 5 unproved, 0 failed; "
		"0 stops; own CPU 1.1 %");
}

/* The largest numbers are cut, not written past the end. */
static void test_long(void)
{
	struct pst_meter m;
	char text[PST_METER_TEXT];

	memset(&m, 0x7e, sizeof(m));
	pst_meter_text(&m, text);
	CHECK(strlen(text) < sizeof(text));
}

static void test_capture(void)
{
	struct pst_capture *c = pst_capture_create(false);
	struct pst_run_stats stats = {
		.wall_ns = 2 * PST_NSEC_PER_SEC,
		.cpu_ns = PST_NSEC_PER_SEC / 50,
		.wanted = 20,
	};
	const struct pst_frame frame = { 1, 1 };
	const struct pst_thread_sample thread = { .tid = 1, .stack = { &frame, 1, false } };
	struct pst_capture_reader *r;
	struct pst_meter m;

	pst_capture_add(c, &(struct pst_sample){ 0, &thread, 1 });
	pst_capture_add(c, &(struct pst_sample){ 0, NULL, 0 });
	pst_capture_fail(c, PST_FAIL_MOVED, 0);
	m = pst_capture_meter(c); /* no run has told of itself */
	CHECK_INT(m.samples, 2);
	CHECK_INT(m.exact, 1);
	CHECK_INT(m.failed, 1);
	CHECK_INT(m.failed_by[PST_FAIL_MOVED], 1);
	CHECK(m.seconds == 0 && m.rate_hz == 0);
	for (int64_t us = 1; us <= 100; us++)
		pst_hist_add(&stats.stops, us * 1000);
	pst_capture_set_stats(c, &stats);
	r = pst_capture_open(c, PST_BY_STACK);
	m = pst_capture_reader_meter(r);
	CHECK(m.seconds == 2 && m.rate_hz == 1 && m.wanted == 20 && m.cpu_share == 0.01);
	CHECK_INT(m.stops, 100);
	CHECK(m.stop_median_ns >= 50000 && m.stop_median_ns <= 54000);
	CHECK(m.stop_p99_ns >= 99000 && m.stop_p99_ns <= 100000);
	CHECK_INT(m.stop_max_ns, 100000);
	CHECK(m.stop_share > 0.002524 && m.stop_share < 0.002526);
	pst_capture_reader_close(r);
	pst_capture_close(c);
}

/* A stack with the serial of the thread's last one counts there without a look at its frames. */
static void test_serial(void)
{
	const struct pst_frame first = { 1, 1 }, second = { 2, 2 };
	struct pst_thread_sample threads[] = {
		{ .tid = 1, .serial = 5, .stack = { &first, 1, false } },
		{ .tid = 2, .serial = 6, .stack = { &second, 1, false } },
	};
	const struct pst_sample sample = { 0, threads, 2 };
	struct pst_capture *c = pst_capture_create(false);
	struct pst_capture_reader *r;
	struct pst_record record;

	pst_capture_add(c, &sample);
	pst_capture_add(c, &sample);
	threads[0].stack.frames = &second; /* another stack, with a serial of its own */
	threads[0].serial = 7;
	pst_capture_add(c, &sample);
	r = pst_capture_open(c, PST_BY_STACK);
	while (pst_capture_next(r, &record)) {
		if (record.tid == 1)
			CHECK_INT(record.count, record.stack.frames[0].func == 1 ? 2 : 1);
		else
			CHECK_INT(record.count, 3);
	}
	CHECK_INT(pst_capture_counts(c)->exact, 6);
	pst_capture_reader_close(r);
	pst_capture_close(c);
}

static CU_TestInfo tests[] = {
	{ "text", test_text },
	{ "numbers that are too long", test_long },
	{ "of a capture", test_capture },
	{ "the same stack again", test_serial },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_meter = { "meter", NULL, NULL, NULL, NULL, tests };
