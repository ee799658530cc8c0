/* The clock and the rounds.  The schedule is absolute, so that work and wake-ups do not add up; moments that
 * have passed are skipped and counted, never made up for in a burst. */
#define _GNU_SOURCE
#include "pystill/sampler.h"

#include <string.h>
#include <sys/prctl.h>

#define ONE_SAMPLE_TRIES 20
#define LOST_AFTER       3 /* torn lists in a row, then Python is looked for anew */
#define LOOK_AGAIN_NS    (100 * PST_NSEC_PER_MSEC)
#define NAP_NS           (200 * PST_NSEC_PER_MSEC)

struct clock {
	int64_t interval_ns, next_ns;
	bool jitter;
	uint64_t random;
};

static void clock_start(struct clock *c, const struct pst_sampler_opts *opts, int64_t now_ns)
{
	*c = (struct clock){ opts->interval_ns, now_ns, opts->jitter, (uint64_t)now_ns | 1 };
}

/* xorshift64*: any generator will do, it only keeps us out of step with the target. */
static double uniform(struct clock *c)
{
	c->random ^= c->random >> 12;
	c->random ^= c->random << 25;
	c->random ^= c->random >> 27;
	return (double)(c->random * 0x2545f4914f6cdd1du >> 11) / (double)(1ull << 53);
}

/* Move on to the next moment that has not passed.  Returns how many were skipped. */
static uint64_t clock_advance(struct clock *c, int64_t now_ns)
{
	const double factor = c->jitter ? 0.5 + uniform(c) : 1.0;
	uint64_t skipped = 0;

	c->next_ns += (int64_t)((double)c->interval_ns * factor);
	if (now_ns - c->next_ns > c->interval_ns) {
		skipped = (uint64_t)((now_ns - c->next_ns) / c->interval_ns);
		c->next_ns += (int64_t)skipped * c->interval_ns;
	}
	return skipped;
}

struct run {
	struct pst_python *py;
	const struct pst_sampler_opts *opts;
	const struct pst_sink *sink;
	struct pst_snapshot *snapshot;
	uint64_t samples;
	int torn_in_a_row;
	int64_t look_again_ns;
};

/* The lists cannot be read any more: the process may have replaced itself by another program. */
static int look_again(struct run *r, struct pst_error *err)
{
	const int64_t now_ns = pst_now_ns();

	if (++r->torn_in_a_row < LOST_AFTER || now_ns < r->look_again_ns)
		return 0;
	r->look_again_ns = now_ns + LOOK_AGAIN_NS;
	if (pst_python_refresh(r->py, err) == 0)
		r->torn_in_a_row = 0;
	else if (err->code == PST_ERR_GONE || err->code == PST_ERR_PERM)
		return -1;
	return 0;
}

static bool is_whole(const struct pst_sample *sample)
{
	for (size_t i = 0; i < sample->n; i++)
		if (sample->threads[i].proof == PST_FAILED)
			return false;
	return true;
}

/* A run of one sample has the time to try again until every thread could be read. */
static int take(struct run *r, struct pst_sample *sample, struct pst_error *err)
{
	const int tries = r->opts->duration_ns == 0 ? ONE_SAMPLE_TRIES : 1;
	int result = -1;

	for (int i = 0; i < tries; i++) {
		result = pst_snapshot_take(r->snapshot, sample, err);
		if (result == 0 ? is_whole(sample) : err->code != PST_ERR_TORN)
			break;
	}
	return result;
}

static int take_one(struct run *r, struct pst_error *err)
{
	struct pst_sample sample;

	if (take(r, &sample, err) == 0) {
		r->sink->sample(r->sink->ctx, &sample);
		r->torn_in_a_row = 0;
		r->samples++;
		return 0;
	}
	if (err->code != PST_ERR_TORN && err->code != PST_ERR_LATE)
		return -1;
	if (look_again(r, err) < 0)
		return -1;
	r->sink->failed(r->sink->ctx, PST_FAIL_TORN, pst_now_ns());
	return 0;
}

static bool is_stopped(const struct run *r)
{
	return r->opts->stop && *r->opts->stop;
}

/* Sleep until DEADLINE_NS or until we are told to stop.  In pieces: a signal may come just before a sleep. */
static void sleep_until(const struct run *r, int64_t deadline_ns)
{
	int64_t now_ns = pst_now_ns();

	for (; !is_stopped(r) && now_ns < deadline_ns; now_ns = pst_now_ns()) {
		const int64_t piece_end_ns = now_ns + NAP_NS;

		pst_target_sleep(
			r->py->target, piece_end_ns < deadline_ns ? piece_end_ns : deadline_ns);
	}
}

/* Returns how the run ended, or -1 with ERR set. */
static int loop(struct run *r, struct pst_error *err)
{
	const int64_t start_ns = pst_now_ns(), end_ns = start_ns + r->opts->duration_ns;
	struct clock clock;

	clock_start(&clock, r->opts, start_ns);
	for (;;) {
		uint64_t skipped;

		if (take_one(r, err) < 0)
			return err->code == PST_ERR_GONE && r->samples ? PST_END_TARGET : -1;
		if (r->opts->duration_ns == 0)
			return PST_END_TIME;
		skipped = clock_advance(&clock, pst_now_ns());
		if (skipped)
			r->sink->missed(r->sink->ctx, skipped);
		if (r->opts->duration_ns > 0 && clock.next_ns > end_ns) {
			sleep_until(r, end_ns);
			return is_stopped(r) ? PST_END_STOPPED : PST_END_TIME;
		}
		sleep_until(r, clock.next_ns);
		if (is_stopped(r))
			return PST_END_STOPPED;
	}
}

int pst_sampler_run(struct pst_python *py, const struct pst_sampler_opts *opts,
	const struct pst_sink *sink, struct pst_run_result *result, struct pst_error *err)
{
	struct run r = { .py = py, .opts = opts, .sink = sink };
	const int64_t start_ns = pst_now_ns();
	int end;

	prctl(PR_SET_TIMERSLACK, 1); /* wake up when we asked to, not up to 50 us later */
	r.snapshot = pst_snapshot_new(py, &opts->snapshot);
	end = loop(&r, err);
	memset(result, 0, sizeof(*result));
	result->stops = *pst_snapshot_stops(r.snapshot);
	result->wall_ns = pst_now_ns() - start_ns;
	pst_snapshot_free(r.snapshot);
	if (end < 0)
		return -1;
	result->end = (enum pst_run_end)end;
	return 0;
}
