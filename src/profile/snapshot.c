/* One snapshot: which threads, what proves that each stood still, and the stop where nothing else does.
 *
 * A thread's Python frames change only while it runs.  Three things prove that they did not change while
 * they were read:
 *   rest   it was off the CPU all the time (it was off, and its run count is the same);
 *   GIL    it was not the last holder of the GIL, and that did not change hands;
 *   stop   we held it.  Only the holder of the GIL, running, is ever stopped; in a free-threaded process only
 *          a thread that runs Python.
 * What remains is a thread that runs outside of Python: it may take the GIL back at any moment, or enter a
 * system call that a stop would break.  It is read twice, and if both are equal shown as unproved. */
#define _GNU_SOURCE
#include "pystill/snapshot.h"

#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define GROUP       8u /* threads that are read between one pair of looks at the GIL */
#define LIST_TRIES  4
#define READ_TRIES  10
#define GROUP_TRIES 2
#define LIST_NS     (10 * PST_NSEC_PER_MSEC)
#define FRESH_NS    (300 * PST_NSEC_PER_USEC)

/* A stop that takes so long means that the thread had to wait for a CPU first.  Then, for some samples, it is
 * looked whether it waits: a thread that waits need not be stopped. */
#define SLOW_STOP_NS    (200 * PST_NSEC_PER_USEC)
#define CROWDED_SAMPLES 100u

struct pst_snapshot {
	struct reader reader;
	struct pst_python *py; /* the reader's */
	struct pst_snapshot_opts opts;
	struct pst_reading *readings; /* GROUP, or one for each thread when all are stopped */
	size_t n_readings;
	struct pst_hist *stops; /* borrowed */
	uint64_t named_changes; /* the state of the list when threads were named last */
	bool has_gils;          /* all interpreters have one */
	int64_t listed_ns;      /* when threads were listed last */
	unsigned crowded;       /* samples for which threads are expected to wait for a CPU */
	struct pst_thread_sample *threads;
	struct pst_frame **frames; /* of each thread sample */
	size_t *caps;              /* of each of those */
	size_t n_threads, cap_threads;
};

/* Their memory is only backed as far as it is used. */
static void reserve_readings(struct pst_snapshot *s, size_t n)
{
	if (n <= s->n_readings)
		return;
	s->readings = pst_xreallocarray(s->readings, n, sizeof(*s->readings));
	for (; s->n_readings < n; s->n_readings++)
		pst_reading_init(&s->readings[s->n_readings]);
}

struct pst_snapshot *pst_snapshot_new(
	struct pst_python *py, const struct pst_snapshot_opts *opts, struct pst_hist *stops)
{
	struct pst_snapshot *s = pst_xcalloc(1, sizeof(*s));

	s->py = py;
	s->opts = *opts;
	s->stops = stops;
	pst_reader_init(&s->reader, py);
	reserve_readings(s, GROUP);
	return s;
}

void pst_snapshot_free(struct pst_snapshot *s)
{
	if (!s)
		return;
	pst_reader_fini(&s->reader);
	for (size_t i = 0; i < s->n_readings; i++)
		pst_reading_fini(&s->readings[i]);
	free(s->readings);
	for (size_t i = 0; i < s->cap_threads; i++)
		free(s->frames[i]);
	free(s->frames);
	free(s->caps);
	free(s->threads);
	free(s);
}

/* ---- results ---- */

static void reserve_threads(struct pst_snapshot *s, size_t n)
{
	const size_t old = s->cap_threads;
	size_t cap = old;

	if (n <= old)
		return;
	s->threads = pst_grow(s->threads, &cap, n, sizeof(*s->threads));
	s->frames = pst_xreallocarray(s->frames, cap, sizeof(*s->frames));
	s->caps = pst_xreallocarray(s->caps, cap, sizeof(*s->caps));
	for (size_t i = old; i < cap; i++) {
		s->frames[i] = NULL;
		s->caps[i] = 0;
	}
	s->cap_threads = cap;
}

/* Name the frames of an accepted reading, or those of the last one once more.  Returns how many. */
static uint32_t name_frames(struct pst_snapshot *s, struct pst_pythread *t,
	const struct pst_reading *r, struct verdict *v)
{
	const size_t i = s->n_threads, most = v->same ? t->last.n : r->stack.n;
	struct pst_error err = { 0 };
	uint32_t n = 0;

	s->frames[i] = pst_grow(s->frames[i], &s->caps[i], most, sizeof(struct pst_frame));
	if (v->same)
		pst_python_repeat(t, s->frames[i], &n);
	else if (pst_python_resolve(s->py, t, r, s->frames[i], &n, &err) < 0)
		*v = pst_verdict_of(&err);
	if (v->rested) {
		t->rested = true;
		t->rested_runs = v->runs;
	}
	return n;
}

/* Enter the thread into the sample. */
static void add_thread(struct pst_snapshot *s, struct pst_pythread *t, bool holds_gil,
	const struct pst_reading *r, struct verdict v)
{
	struct pst_thread_sample *out;
	uint32_t n = 0;

	if (v.gone)
		return;
	reserve_threads(s, s->n_threads + 1);
	out = &s->threads[s->n_threads];
	if (v.proof != PST_FAILED)
		n = name_frames(s, t, r, &v);
	*out = (struct pst_thread_sample){
		.index = t->index,
		.tid = t->tid,
		.ident = t->ident,
		.name = t->name,
		.holds_gil = holds_gil,
		.proof = v.proof,
		.fail = v.fail,
		.serial = v.proof == PST_FAILED ? 0 : t->serial,
		.stack = { s->frames[s->n_threads], n, v.proof != PST_FAILED && t->last.truncated },
	};
	s->n_threads++;
}

/* ---- the stop ---- */

static void resume(struct pst_snapshot *s, struct pst_stopped *stopped, int64_t since_ns)
{
	pst_target_resume(s->py->target, stopped);
	pst_hist_add(s->stops, pst_now_ns() - since_ns);
}

/* Stop HOLDER, read T (the holder itself, or a thread that cannot run as long as the holder stands with the
 * GIL), let it go.  For the latter *STILL says whether HOLDER had the GIL while it stood. */
static struct verdict read_in_stop(struct pst_snapshot *s, struct pst_pythread *holder,
	struct pst_pythread *t, struct pst_reading *r, bool *still, struct pst_error *err)
{
	const int64_t asked_ns = pst_now_ns();
	struct pst_gil_state g = { 0 };
	struct pst_stopped stopped;
	int64_t since_ns;
	int result;

	if (pst_target_stop_thread(s->py->target, holder->tid, s->opts.limit_ns, &stopped, err) <
		0) {
		const enum pst_error_code code = err->code;

		if (code == PST_ERR_GONE) /* the thread, not the process */
			pst_error_clear(err);
		else
			s->crowded = CROWDED_SAMPLES;
		return code == PST_ERR_GONE ? verdict_gone() : verdict_failed(PST_FAIL_NOT_STOPPED);
	}
	since_ns = pst_now_ns();
	if (since_ns - asked_ns > SLOW_STOP_NS)
		s->crowded = CROWDED_SAMPLES;
	pst_view_limit(s->reader.view, since_ns + s->opts.limit_ns);
	result = pst_reader_read(&s->reader, t, r, err);
	if (result == 0 && t != holder)
		result = pst_gil_read(s->py, t->gil, &g, err);
	resume(s, &stopped, since_ns);
	*still = g.holder == holder->state;
	return result < 0 ? pst_verdict_of(err) : verdict_exact();
}

/* Does T run Python now, by the word of the GIL or, without one, by its own? */
static bool runs_python(struct pst_snapshot *s, const struct pst_pythread *t, struct pst_error *err)
{
	struct pst_gil_state g;

	if (pst_gil_read(s->py, t->gil, &g, err) < 0)
		return false;
	return g.absent ? pst_thread_is_attached(s->py, t->state) : g.holder == t->state;
}

/* The thread is running Python: look first, so that the read in the stop finds all pages known and warm, then stop it if
 * it still holds the GIL.  Where the last sample was just now and missed none, that was the look. */
static bool read_stopped(struct pst_snapshot *s, struct pst_pythread *t, struct pst_reading *r,
	struct verdict *out, struct pst_error *err)
{
	const bool fresh = pst_now_ns() - t->looked_ns < FRESH_NS;
	bool still;

	if (!fresh && pst_reader_look(&s->reader, t, r, err) < 0 && pst_error_is_fatal(err)) {
		*out = pst_verdict_of(err);
		return true;
	}
	if (!fresh && !runs_python(s, t, err))
		return false;
	*out = read_in_stop(s, t, t, r, &still, err);
	t->looked_ns = pst_view_misses(s->reader.view) ? 0 : pst_now_ns();
	if (!verdict_is_late(*out) || pst_error_is_fatal(err))
		return true;
	if (pst_reader_preempted(&s->reader, t, r, err)) {
		*out = verdict_exact();
		return true;
	}
	/* It was given a CPU meanwhile: then its stop has come, too, and it may be tried again. */
	pst_target_collect(s->py->target);
	return pst_target_is_late(s->py->target, t->tid);
}

/* Versions that count no switches: T cannot run while the holder of the GIL stands still with it. */
static bool read_under_holder(struct pst_snapshot *s, struct pst_pythread *t, struct pst_reading *r,
	const struct pst_gil_state *g, struct verdict *out, struct pst_error *err)
{
	struct pst_pythread *holder = pst_python_thread(s->py, g->holder);
	bool still;

	if (!holder || !holder->tid || holder == t)
		return false;
	if (pst_reader_look(&s->reader, t, r, err) < 0 && pst_error_is_fatal(err)) {
		*out = pst_verdict_of(err);
		return true;
	}
	*out = read_in_stop(s, holder, t, r, &still, err);
	return !out->gone && (out->proof == PST_FAILED || still);
}

/* ---- one thread ---- */

/* A thread that has not been scheduled since it rested need not be read again.  With all threads, all have just been
 * listed; else the state may have come to be another thread's. */
static bool still_rests(const struct pst_snapshot *s, struct pst_pythread *t)
{
	t->rested = t->rested && pst_watch_rested(&t->watch, t->rested_runs) &&
		(s->opts.all_threads || !pst_thread_is_another(s->py, t));
	return t->rested;
}

/* Was it left alone by the scheduler since the last sample?  Then it is worth the proof that it rests. */
static bool seems_asleep(struct pst_pythread *t)
{
	const uint64_t before = t->seen_runs;

	return t->tid && pst_watch_runs(&t->watch, &t->seen_runs) && t->seen_runs == before;
}

enum attempt { DONE, AGAIN, HOPELESS };

/* T does not rest, and the GIL does not prove it: a stop has to.  A thread that runs outside of Python is not
 * stopped. */
static enum attempt try_stop(struct pst_snapshot *s, struct pst_pythread *t, struct pst_reading *r,
	const struct pst_gil_state *g, struct verdict *out, struct pst_error *err)
{
	if (s->opts.stop == PST_STOP_NONE || !t->tid)
		return HOPELESS;
	if (g->absent && !pst_thread_is_attached(s->py, t->state))
		return HOPELESS;
	if (g->absent || g->holder == t->state)
		return read_stopped(s, t, r, out, err) ? DONE : AGAIN;
	if (!g->counted && g->holder)
		return read_under_holder(s, t, r, g, out, err) ? DONE : AGAIN;
	return AGAIN;
}

/* Read T by whatever proves it now.  A thread whose kernel id is unknown can be neither watched nor stopped.
 * Where switches are not counted, threads wake each other so often that rest alone will not do. */
static enum attempt try_thread(struct pst_snapshot *s, struct pst_pythread *t,
	struct pst_reading *r, const struct pst_gil_state *known, struct verdict *out,
	struct pst_error *err)
{
	const bool counts = s->py->gils[t->gil].switches;
	uint64_t runs = 0;
	const enum pst_rest rest = t->tid ? pst_watch_rest(&t->watch, &runs) : PST_REST_RUNNING;
	struct pst_gil_state g;

	*out = rest == PST_REST_GONE ? verdict_gone() : verdict_exact();
	if (rest == PST_REST_GONE)
		return DONE;
	if (rest == PST_REST_ASLEEP && pst_reader_resting(&s->reader, t, r, runs, err)) {
		*out = verdict_rested(runs);
		return DONE;
	}
	if (rest == PST_REST_ASLEEP && counts)
		return AGAIN;
	if (s->crowded && pst_reader_preempted(&s->reader, t, r, err))
		return DONE;
	if (known)
		g = *known;
	else if (pst_gil_read(s->py, t->gil, &g, err) < 0)
		return AGAIN;
	if (g.counted && g.last_holder != t->state && g.holder != t->state)
		return pst_reader_aside(&s->reader, t, r, &g, err) ? DONE : AGAIN;
	return try_stop(s, t, r, &g, out, err);
}

/* G may be the state of T's GIL as it was just now. */
static struct verdict read_thread(struct pst_snapshot *s, struct pst_pythread *t,
	struct pst_reading *r, const struct pst_gil_state *g, struct pst_error *err)
{
	struct verdict v;

	if (still_rests(s, t))
		return verdict_same();
	for (int i = 0; i < READ_TRIES; i++) {
		const enum attempt a = try_thread(s, t, r, i == 0 ? g : NULL, &v, err);

		if (a == DONE)
			return v;
		if (pst_error_is_fatal(err))
			return pst_verdict_of(err);
		pst_error_clear(err);
		if (a == HOPELESS)
			break;
	}
	return pst_reader_twice(&s->reader, t, r, s->opts.stop == PST_STOP_NONE, err);
}

/* ---- the whole process, at most one thread of it stopped ---- */

static int list_again(struct pst_snapshot *s, struct pst_error *err)
{
	for (int i = 0; i < LIST_TRIES; i++) {
		pst_error_clear(err);
		if (pst_python_list(s->py, s->reader.view, err) == 0)
			return 0;
		if (pst_error_is_fatal(err))
			return -1;
	}
	return -1;
}

/* Without a GIL: every thread that ran Python when it was listed. */
static int take_attached(struct pst_snapshot *s, size_t gil, struct pst_error *err)
{
	for (size_t i = 0; i < s->py->n_threads; i++) {
		struct pst_pythread *t = s->py->threads[i];
		struct verdict v;

		if (t->gil != gil || !t->attached)
			continue;
		v = read_thread(s, t, &s->readings[0], NULL, err);
		if (pst_error_is_fatal(err))
			return -1;
		add_thread(s, t, false, &s->readings[0], v);
	}
	return 0;
}

/* The holder of one GIL, as Pyflame shows it.  It may have let go by the time it is read: it is still the
 * thread that held the GIL at the moment of the sample. */
static int take_holder(struct pst_snapshot *s, size_t gil, struct pst_error *err)
{
	for (int i = 0; i < LIST_TRIES && gil < s->py->n_gils; i++) {
		struct pst_pythread *t;
		struct pst_gil_state g;
		struct verdict v = verdict_gone();

		if (pst_gil_read(s->py, gil, &g, err) < 0)
			return -1;
		s->has_gils &= !g.absent;
		if (g.absent)
			return take_attached(s, gil, err);
		if (!g.holder)
			return 0;
		t = pst_python_thread(s->py, g.holder);
		if (t)
			v = read_thread(s, t, &s->readings[0], &g, err);
		if (pst_error_is_fatal(err))
			return -1;
		if (!v.gone) {
			add_thread(s, t, true, &s->readings[0], v);
			return 0;
		}
		/* It was not listed yet, or has ended since. */
		if (list_again(s, err) < 0)
			return -1;
	}
	return pst_error_set(err, PST_ERR_TORN, 0, "the holder of the GIL is in no list");
}

static int take_holders(struct pst_snapshot *s, struct pst_error *err)
{
	s->has_gils = true;
	for (size_t gil = 0; gil < s->py->n_gils; gil++)
		if (take_holder(s, gil, err) < 0)
			return -1;
	return 0;
}

/* Read the threads V of one GIL between two looks at it.  Returns true when all stood still. */
static bool read_group(
	struct pst_snapshot *s, struct pst_pythread **v, size_t n, struct pst_error *err)
{
	struct pst_gil_state before, after;

	if (pst_gil_read(s->py, v[0]->gil, &before, err) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (pst_reader_look(&s->reader, v[i], &s->readings[i], err) < 0)
			return false;
	if (pst_gil_read(s->py, v[0]->gil, &after, err) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!pst_gil_proves(&before, &after, v[i]->state))
			return false;
	return true;
}

/* Threads of one GIL of which none was seen to hold it: all at once if that works, else one by one. */
static int take_group(
	struct pst_snapshot *s, struct pst_pythread **v, size_t n, struct pst_error *err)
{
	for (int i = 0; i < GROUP_TRIES && n; i++) {
		if (read_group(s, v, n, err)) {
			for (size_t k = 0; k < n; k++)
				add_thread(s, v[k], false, &s->readings[k], verdict_exact());
			return 0;
		}
		if (pst_error_is_fatal(err))
			return -1;
		pst_error_clear(err);
	}
	for (size_t i = 0; i < n; i++) {
		const struct verdict verdict = read_thread(s, v[i], &s->readings[0], NULL, err);

		if (pst_error_is_fatal(err))
			return -1;
		add_thread(s, v[i], false, &s->readings[0], verdict);
	}
	return 0;
}

/* All threads of one GIL: the one that took it last by itself, the others in groups. */
static int take_threads(struct pst_snapshot *s, size_t gil, struct pst_error *err)
{
	struct pst_pythread *group[GROUP];
	struct pst_gil_state g;
	size_t n = 0;

	if (pst_gil_read(s->py, gil, &g, err) < 0)
		return -1;
	for (size_t i = 0; i < s->py->n_threads; i++) {
		struct pst_pythread *t = s->py->threads[i];
		if (t->gil != gil)
			continue;
		if (!g.counted || t->state == g.last_holder || t->state == g.holder || t->rested ||
			seems_asleep(t)) {
			/* G may be long past by now. */
			const struct verdict v = read_thread(s, t, &s->readings[0], NULL, err);

			if (pst_error_is_fatal(err))
				return -1;
			add_thread(s, t, t->state == g.holder, &s->readings[0], v);
			continue;
		}
		group[n++] = t;
		if (n == GROUP && take_group(s, group, n, err) < 0)
			return -1;
		n %= GROUP;
	}
	return take_group(s, group, n, err);
}

static int take_all(struct pst_snapshot *s, struct pst_error *err)
{
	for (size_t gil = 0; gil < s->py->n_gils; gil++)
		if (take_threads(s, gil, err) < 0)
			return -1;
	return 0;
}

/* ---- all threads stopped ---- */

/* A thread on its way through a stop of all. */
struct held {
	struct pst_stopped stopped;
	struct verdict verdict;
	bool asked, stands, holds_gil, shown;
};

/* Several thread states may have the same kernel thread: new ones, and those of idle interpreters.  Returns the
 * first of them. */
static size_t first_with_tid(const struct pst_snapshot *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (s->py->threads[k]->tid == s->py->threads[i]->tid)
			return k;
	return i;
}

/* Who runs Python is decided before anyone is stopped: a thread that waits for the GIL may be stopped already
 * when the holder lets go of it, and nobody would seem to run. */
static void choose_shown(struct pst_snapshot *s, struct held *held)
{
	for (size_t i = 0; i < s->py->n_threads; i++) {
		const struct pst_pythread *t = s->py->threads[i];
		struct pst_gil_state g = { 0 };
		struct pst_error err = { 0 };

		pst_gil_read(s->py, t->gil, &g, &err);
		held[i].holds_gil = !g.absent && g.holder == t->state;
		held[i].shown = s->opts.all_threads || held[i].holds_gil ||
			(g.absent && pst_thread_is_attached(s->py, t->state));
	}
}

/* ERR is filled when the kernel forbids to stop a thread. */
static void ask_all(struct pst_snapshot *s, struct held *held, struct pst_error *err)
{
	for (size_t i = 0; i < s->py->n_threads; i++) {
		const pid_t tid = s->py->threads[i]->tid;
		struct pst_error here = { 0 };

		held[i].verdict = verdict_failed(PST_FAIL_NOT_STOPPED);
		if (!tid || first_with_tid(s, i) != i)
			continue;
		held[i].asked = pst_target_ask_stop(s->py->target, tid, &here) == 0;
		if (here.code == PST_ERR_GONE)
			held[i].verdict = verdict_gone();
		else if (here.code == PST_ERR_PERM)
			*err = here;
	}
}

static void await_all(struct pst_snapshot *s, struct held *held, int64_t deadline_ns)
{
	for (size_t i = 0; i < s->py->n_threads; i++) {
		struct pst_error err = { 0 };

		if (!held[i].asked)
			continue;
		held[i].stands = pst_target_await_stop(s->py->target, s->py->threads[i]->tid,
					 deadline_ns, &held[i].stopped, &err) == 0;
		if (err.code == PST_ERR_GONE)
			held[i].verdict = verdict_gone();
	}
}

static void read_all(struct pst_snapshot *s, struct held *held)
{
	for (size_t i = 0; i < s->py->n_threads; i++) {
		struct pst_pythread *t = s->py->threads[i];
		struct pst_error err = { 0 };

		if (!held[first_with_tid(s, i)].stands || !held[i].shown)
			continue;
		held[i].verdict = pst_reader_read(&s->reader, t, &s->readings[i], &err) == 0
			? verdict_exact()
			: pst_verdict_of(&err);
	}
}

static void add_held(
	struct pst_snapshot *s, struct pst_pythread *t, struct held *held, struct pst_reading *r)
{
	struct pst_error err = { 0 };

	if (!held->shown)
		return;
	if (verdict_is_late(held->verdict) && pst_reader_preempted(&s->reader, t, r, &err))
		held->verdict = verdict_exact();
	add_thread(s, t, held->holds_gil, r, held->verdict);
}

/* The target stands from the first thread that is asked to the last that is let go. */
static int take_standing(struct pst_snapshot *s, struct pst_error *err)
{
	const size_t n = s->py->n_threads;
	cleanup_free struct held *held = pst_xcalloc(n, sizeof(*held));
	int64_t since_ns;

	reserve_readings(s, n);
	pst_target_reserve(s->py->target, n);
	for (size_t i = 0; i < n; i++) /* looking ahead brings the pages */
		pst_reader_look(
			&s->reader, s->py->threads[i], &s->readings[i], &(struct pst_error){ 0 });
	choose_shown(s, held);
	pst_target_block_signals(s->py->target);
	since_ns = pst_now_ns();
	ask_all(s, held, err);
	await_all(s, held, since_ns + s->opts.limit_ns);
	pst_view_limit(s->reader.view, pst_now_ns() + s->opts.limit_ns);
	read_all(s, held);
	for (size_t i = 0; i < n; i++)
		if (held[i].stands)
			pst_target_let_go(s->py->target, &held[i].stopped);
	pst_target_restore_signals(s->py->target);
	pst_hist_add(s->stops, pst_now_ns() - since_ns);
	if (pst_error_is_fatal(err))
		return -1;
	for (size_t i = 0; i < n; i++)
		add_held(s, s->py->threads[i], &held[i], &s->readings[i]);
	return 0;
}

/* ---- the entry ---- */

/* The holder of a GIL is known without a list, unless it is new; new GILs and interpreters are found by and by. */
static int list_if_needed(struct pst_snapshot *s, struct pst_error *err)
{
	const int64_t now_ns = pst_now_ns();

	if (!s->opts.all_threads && s->opts.stop != PST_STOP_ALL && s->has_gils &&
		now_ns - s->listed_ns < LIST_NS)
		return 0;
	s->listed_ns = now_ns;
	return list_again(s, err);
}

static int by_index(const void *a, const void *b)
{
	const struct pst_thread_sample *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

int pst_snapshot_take(struct pst_snapshot *s, struct pst_sample *out, struct pst_error *err)
{
	int result;

	pst_error_clear(err);
	pst_target_collect(s->py->target);
	s->n_threads = 0;
	s->crowded -= s->crowded > 0;
	if (list_if_needed(s, err) < 0)
		return -1;
	if (s->opts.names && s->named_changes != s->py->list_changes) {
		pst_python_find_names(s->py);
		s->named_changes = s->py->list_changes;
	}
	out->time_ns = pst_now_ns();
	if (s->opts.stop == PST_STOP_ALL)
		result = take_standing(s, err);
	else if (s->opts.all_threads)
		result = take_all(s, err);
	else
		result = take_holders(s, err);
	if (s->n_threads > 1)
		qsort(s->threads, s->n_threads, sizeof(*s->threads), by_index);
	out->threads = s->threads;
	out->n = s->n_threads;
	return result;
}
