/* The clock and the rounds.  The schedule is absolute, so that work and wake-ups do not add up; moments that
 * have passed are skipped and counted, never made up for in a burst. */
#define _GNU_SOURCE
#include "pystill/sampler.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#define ONE_SAMPLE_TRIES 20

#define GOVERNED_SAMPLES 100

/* Between two looks for Python in a process that has none. */
#define FIRST_GAP_NS PST_NSEC_PER_MSEC
#define LAST_GAP_NS  (100 * PST_NSEC_PER_MSEC)
#define DENSE_NS     (2 * PST_NSEC_PER_SEC)  /* as long as one is about to start */
#define CHILD_GAP_NS (8 * PST_NSEC_PER_MSEC) /* from here on children are looked at, too */

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

/* How much of the target's time a sample takes, and what interval keeps that within bounds. */
struct governor {
	double stopped_ns; /* a sample's, on average of late */
	int64_t sum_ns;    /* of all stops, at the last sample */
	unsigned n;
	bool said;
};

struct run {
	struct pst_python *py;
	const struct pst_sampler_opts *opts;
	const struct pst_sink *sink;
	struct pst_snapshot *snapshot;
	struct pst_run_stats *stats;
	struct clock clock;
	struct governor governor;
	int64_t found_ns; /* since when there is a Python to sample; 0: there is none */
	int64_t end_ns;
	uint64_t samples;
	pid_t child;
	int usual_priority;
};

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

/* Lower the rate when stops take more of the target's time than they may, and raise it again when they take less. */
static void govern(struct run *r)
{
	struct governor *g = &r->governor;
	const int64_t taken_ns = r->stats->stops.sum - g->sum_ns;
	double interval_ns;

	g->sum_ns = r->stats->stops.sum;
	g->n += g->n < GOVERNED_SAMPLES;
	g->stopped_ns += ((double)taken_ns - g->stopped_ns) / g->n;
	interval_ns = g->stopped_ns / r->opts->max_stopped;
	if (g->n < GOVERNED_SAMPLES || interval_ns < (double)r->opts->interval_ns)
		interval_ns = (double)r->opts->interval_ns;
	r->clock.interval_ns = (int64_t)interval_ns;
	if (g->said || interval_ns < 1.1 * (double)r->opts->interval_ns)
		return;
	g->said = true;
	pst_note_warn(&r->py->target->note,
		"a sample stops process %d for %.0f us: the rate is lowered to %.0f Hz, to take at most "
		"%g %% of its time (--max-overhead)",
		r->py->target->pid, g->stopped_ns / 1e3, 1e9 / interval_ns,
		100 * r->opts->max_stopped);
}

/* Returns 0, or -1 with ERR set: what ends the run, or NOTPYTHON when there is no Python any more. */
static int take_one(struct run *r, struct pst_error *err)
{
	struct pst_sample sample;

	if (take(r, &sample, err) == 0) {
		r->sink->sample(r->sink->ctx, &sample);
		r->samples++;
		return 0;
	}
	if (err->code != PST_ERR_TORN && err->code != PST_ERR_LATE)
		return -1;
	if (pst_python_replaced(r->py))
		return pst_error_set(err, PST_ERR_NOTPYTHON, 0,
			"process %d has become another program", r->py->target->pid);
	r->sink->failed(r->sink->ctx, PST_FAIL_TORN, pst_now_ns());
	return 0;
}

static bool wait_until(const struct run *r, int64_t deadline_ns)
{
	return r->opts->wait(r->opts->wait_ctx, r->py->target, deadline_ns);
}

/* What the parts of the loop return, beside enum pst_run_end and -1. */
enum { GO_ON = -2 };

static int target_ended(const struct run *r, const struct pst_error *err)
{
	return err->code == PST_ERR_GONE && r->samples ? PST_END_TARGET : -1;
}

/* There is a Python from now on; and not any more.  Who waits for a CPU while the target stands holds the target up: being
 * first makes the longest stops on a busy machine ten times shorter.  It needs CAP_SYS_NICE; without, we are as all
 * others. */
static void begin(struct run *r)
{
	setpriority(PRIO_PROCESS, 0, -20);
	r->found_ns = pst_now_ns();
	clock_start(&r->clock, r->opts, r->found_ns);
}

static void lose(struct run *r)
{
	const int64_t ns = r->found_ns ? pst_now_ns() - r->found_ns : 0;

	setpriority(PRIO_PROCESS, 0, r->usual_priority);
	r->stats->wall_ns += ns;
	r->stats->wanted += (double)ns / (double)r->opts->interval_ns;
	r->found_ns = 0;
}

/* Does a Python seem to be starting? */
static bool soon(const struct pst_python *py)
{
	return py->dormant || py->misfit;
}

/* Look for Python until it is there.  Dense at first: the first frames are of interest. */
static int find_python(struct run *r, struct pst_error *err)
{
	const int64_t dense_end_ns = pst_now_ns() + DENSE_NS;
	struct pst_error why = { 0 };
	int64_t gap_ns = FIRST_GAP_NS;

	for (;;) {
		const uint32_t images = r->py->images;

		if (pst_python_search(r->py, err) == 0) {
			begin(r);
			return GO_ON;
		}
		if (err->code == PST_ERR_GONE && !r->samples && why.code)
			*err = why;
		if (err->code == PST_ERR_GONE || err->code == PST_ERR_PERM)
			return target_ended(r, err);
		why = *err;
		if (r->opts->follow && gap_ns >= CHILD_GAP_NS)
			r->child = pst_python_child(r->py->target->pid);
		if (r->child)
			return PST_END_CHILD;
		if (!wait_until(r, pst_now_ns() + gap_ns))
			return PST_END_STOPPED;
		if (r->opts->duration_ns >= 0 && pst_now_ns() >= r->end_ns)
			return PST_END_TIME;
		if (r->py->images != images) /* something is going on there */
			gap_ns = FIRST_GAP_NS;
		else if (gap_ns < LAST_GAP_NS && !(soon(r->py) && pst_now_ns() < dense_end_ns))
			gap_ns *= 2;
	}
}

static int find_again(struct run *r, struct pst_error *err)
{
	lose(r);
	return find_python(r, err);
}

/* One sample, and the wait for the next. */
static int step(struct run *r, struct pst_error *err)
{
	uint64_t skipped;

	if (take_one(r, err) < 0)
		return err->code == PST_ERR_NOTPYTHON ? find_again(r, err) : target_ended(r, err);
	if (r->opts->duration_ns == 0)
		return PST_END_TIME;
	govern(r);
	skipped = clock_advance(&r->clock, pst_now_ns());
	if (skipped)
		r->sink->missed(r->sink->ctx, skipped);
	if (r->opts->duration_ns > 0 && r->clock.next_ns > r->end_ns)
		return wait_until(r, r->end_ns) ? PST_END_TIME : PST_END_STOPPED;
	return wait_until(r, r->clock.next_ns) ? GO_ON : PST_END_STOPPED;
}

/* Returns how the run ended, or -1 with ERR set. */
static int loop(struct run *r, struct pst_error *err)
{
	const int64_t start_ns = pst_now_ns();
	int end = GO_ON;

	r->end_ns = start_ns + r->opts->duration_ns;
	if (r->py->found)
		begin(r);
	else
		end = find_python(r, err);
	while (end == GO_ON)
		end = step(r, err);
	lose(r);
	return end;
}

static int64_t own_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * PST_NSEC_PER_SEC + now.tv_nsec;
}

int pst_sampler_run(struct pst_python *py, const struct pst_sampler_opts *opts,
	const struct pst_sink *sink, struct pst_run_stats *stats, struct pst_run_result *result,
	struct pst_error *err)
{
	struct run r = { .py = py,
		.opts = opts,
		.sink = sink,
		.stats = stats,
		.usual_priority = getpriority(PRIO_PROCESS, 0) };
	const int64_t start_cpu_ns = own_cpu_ns();
	int end;

	prctl(PR_SET_TIMERSLACK, 1); /* wake up when we asked to, not up to 50 us later */
	r.governor.sum_ns = stats->stops.sum;
	r.snapshot = pst_snapshot_new(py, &opts->snapshot, &stats->stops);
	end = loop(&r, err);
	memset(result, 0, sizeof(*result));
	stats->cpu_ns += own_cpu_ns() - start_cpu_ns;
	pst_snapshot_free(r.snapshot);
	if (end < 0)
		return -1;
	result->end = (enum pst_run_end)end;
	result->child = r.child;
	return 0;
}
