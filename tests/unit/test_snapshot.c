/* Snapshots of made-up interpreters, whose threads are all the one of a child process that sleeps. */
#define _GNU_SOURCE
#include "unit.h"

#include "instances.h"
#include "process.h"
#include "pystill/snapshot.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define V313     0x030d12f0
#define V315     0x030f02f0
#define LIMIT_NS (60 * PST_NSEC_PER_SEC)

struct world {
	struct process p;
	struct pst_snapshot *snapshot;
	struct pst_hist stops;
	struct pst_sample sample;
	pst_addr_t interp, gil, code;
};

/* Its state tells when it sleeps. */
static pid_t start_sleeper(void)
{
	const pid_t child = fork();
	struct pst_status st = { .state = 'R' };

	MUST(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	while (pst_procfs_status(child, 0, &st, NULL) == 0 && st.state != 'S')
		sched_yield();
	return child;
}

/* Without a GIL: ENABLED is 0. */
static void begin(struct world *w, uint32_t version, enum pst_flavour flavour, bool enabled)
{
	static const struct code_spec spec = { .file = "x.py", .name = "f", .qualname = "C.f" };
	struct objects *o = &w->p.o;

	memset(w, 0, sizeof(*w));
	process_begin_flavour(&w->p, version, flavour);
	w->p.target.pid = start_sleeper();
	w->p.py.names = pst_names_new();
	w->p.py.codes = pst_codes_new();
	w->gil = process_page(&w->p);
	objects_put_int(o, w->gil, o->layout.off.gil_enabled, enabled);
	w->interp = process_interp(&w->p, 0, w->gil);
	w->code = objects_code(o, &spec);
}

static void end(struct world *w)
{
	const pid_t child = w->p.target.pid;

	pst_snapshot_free(w->snapshot);
	kill(child, SIGKILL);
	MUST(waitpid(child, NULL, 0) == child);
	pst_codes_free(w->p.py.codes);
	pst_names_free(w->p.py.names);
	free(w->p.target.late);
	process_end(&w->p);
}

/* A new thread, attached or not, that is DEPTH frames deep. */
static pst_addr_t add(struct world *w, pst_addr_t ident, bool attached, size_t depth)
{
	struct objects *o = &w->p.o;
	const pst_addr_t state = process_thread(&w->p, w->interp, ident, w->p.target.pid);
	struct frame_spec spec = { .code = w->code, .lasti = 8 };

	for (size_t i = 0; i < depth; i++) {
		const pst_addr_t frame = process_page(&w->p);

		if (!spec.previous)
			objects_put(o, state, o->layout.off.thread_base_frame, frame);
		objects_frame_put(o, frame, &spec);
		spec.previous = frame;
	}
	objects_put(o, state, o->layout.off.thread_frame, spec.previous);
	objects_put_int(o, state, o->layout.off.thread_state, attached);
	return state;
}

/* May we stop our own child?  Then it was stopped, and goes on. */
static bool may_stop(const struct world *w)
{
	const pid_t tid = w->p.target.pid;
	struct pst_error err = { 0 };
	enum pst_stop_event event = PST_STOP_NOT_YET;
	int signal = 0;

	if (pst_ptrace_interrupt(tid, &err) < 0)
		return false;
	while (event == PST_STOP_NOT_YET) {
		sched_yield();
		event = pst_ptrace_poll(tid, &signal);
	}
	return CHECK_INT(event, PST_STOP_STOPPED) && CHECK(pst_ptrace_detach(tid, signal));
}

static void hold_gil(struct world *w, pst_addr_t state)
{
	const struct pst_offsets *off = &w->p.o.layout.off;

	objects_put(&w->p.o, w->gil, off->gil_last_holder, state);
	objects_put_int(&w->p.o, w->gil, off->gil_locked, 1);
}

static void open_snapshot(struct world *w, struct pst_snapshot_opts opts)
{
	opts.limit_ns = LIMIT_NS;
	w->snapshot = pst_snapshot_new(&w->p.py, &opts, &w->stops);
}

static int take(struct world *w)
{
	return pst_snapshot_take(w->snapshot, &w->sample, &w->p.err);
}

/* Thread I of the sample is IDENT's, exact, and DEPTH frames deep. */
static void check_thread(
	const struct world *w, size_t i, pst_addr_t ident, uint32_t depth, bool holds_gil)
{
	const struct pst_thread_sample *t = &w->sample.threads[i];

	if (!CHECK(i < w->sample.n))
		return;
	CHECK_INT(t->ident, ident);
	CHECK_INT(t->tid, w->p.target.pid);
	CHECK_INT(t->proof, PST_EXACT);
	CHECK_INT(t->stack.n, depth);
	CHECK_INT(t->holds_gil, holds_gil);
}

/* ---- with a GIL ---- */

/* Its holder alone, or all of them in the order of the list. */
static void test_gil(void)
{
	for (int all = 0; all < 2; all++) {
		struct world w;
		pst_addr_t holder;

		begin(&w, V315, PST_RELEASE, false);
		add(&w, 0x11, true, 3);
		holder = add(&w, 0x22, false, 2);
		add(&w, 0x33, true, 0);
		hold_gil(&w, holder);
		open_snapshot(&w,
			(struct pst_snapshot_opts){ .stop = PST_STOP_NONE, .all_threads = all });
		unit_row("all threads: %d", all);
		CHECK_DONE(take(&w), &w.p.err);
		CHECK_INT(w.sample.n, all ? 3 : 1);
		if (all) {
			check_thread(&w, 0, 0x33, 0, false);
			check_thread(&w, 2, 0x11, 3, false);
		}
		check_thread(&w, all, 0x22, 2, true);
		CHECK_INT(w.stops.n, 0);
		end(&w);
	}
}

static void test_gil_free(void)
{
	struct world w;

	begin(&w, V315, PST_RELEASE, false);
	add(&w, 0x11, true, 3);
	open_snapshot(&w, (struct pst_snapshot_opts){ .stop = PST_STOP_NONE });
	CHECK_DONE(take(&w), &w.p.err);
	CHECK_INT(w.sample.n, 0);
	end(&w);
}

/* ---- builds without one ---- */

static const struct {
	bool enabled, all;
	size_t n;
	pst_addr_t idents[3];
} bare[] = {
	{ false, false, 2, { 0x33, 0x11 } }, /* those that run Python */
	{ false, true, 3, { 0x33, 0x22, 0x11 } },
	{ true, false, 1, { 0x22 } }, /* there is one after all: its holder */
	{ true, true, 3, { 0x33, 0x22, 0x11 } },
};

static void test_bare(void)
{
	static const enum pst_stop_mode stops[] = { PST_STOP_NONE, PST_STOP_AUTO };

	for (size_t i = 0; i < PST_ARRAY_SIZE(bare); i++)
		for (size_t k = 0; k < PST_ARRAY_SIZE(stops); k++) {
			struct world w;
			pst_addr_t holder;

			begin(&w, V313, PST_FREE_THREADED, bare[i].enabled);
			add(&w, 0x11, true, 1);
			holder = add(&w, 0x22, false, 1);
			add(&w, 0x33, true, 1);
			hold_gil(&w, holder);
			open_snapshot(&w,
				(struct pst_snapshot_opts){
					.stop = stops[k], .all_threads = bare[i].all });
			unit_row("enabled %d, all %d", bare[i].enabled, bare[i].all);
			CHECK_DONE(take(&w), &w.p.err);
			CHECK_INT(w.sample.n, bare[i].n);
			for (size_t t = 0; t < bare[i].n; t++)
				check_thread(&w, t, bare[i].idents[t], 1,
					bare[i].enabled && bare[i].idents[t] == 0x22);
			CHECK_INT(w.stops.n, 0);
			end(&w);
		}
}

/* ---- all stopped ---- */

/* Several thread states may have one kernel's thread, which is then stopped once for all of them.  Where we may not
 * stop our own child there is nothing to see. */
static void check_standing(bool all, enum pst_flavour flavour)
{
	struct world w;
	pst_addr_t holder;

	begin(&w, V313, flavour, false);
	add(&w, 0x11, false, 1);
	holder = add(&w, 0x22, true, 2);
	add(&w, 0x33, false, 3);
	hold_gil(&w, holder);
	open_snapshot(&w, (struct pst_snapshot_opts){ .stop = PST_STOP_ALL, .all_threads = all });
	unit_row("all threads: %d, flavour %d", all, (int)flavour);
	for (uint64_t round = 1; round <= 2 && may_stop(&w); round++) {
		CHECK_DONE(take(&w), &w.p.err);
		CHECK_INT(w.sample.n, all ? 3 : 1);
		if (all) {
			check_thread(&w, 0, 0x33, 3, false);
			check_thread(&w, 2, 0x11, 1, false);
		}
		check_thread(&w, all, 0x22, 2, flavour == PST_RELEASE);
		CHECK_INT(w.stops.n, round);
		CHECK_INT(w.p.target.n_late, 0); /* it was let go of */
	}
	end(&w);
}

static void test_standing(void)
{
	for (int all = 0; all < 2; all++) {
		check_standing(all, PST_RELEASE);
		check_standing(all, PST_FREE_THREADED);
	}
}

/* ---- another thread in the same place ---- */

struct new_ident {
	struct world *w;
	pst_addr_t state;
};

static void change_ident(void *ctx)
{
	const struct new_ident *n = ctx;

	process_put(&n->w->p, n->state, n->w->p.o.layout.off.thread_thread_id, 0x99);
}

/* A state that is another thread's when its stack is read: what is known of the old one proves nothing.  Whenever it
 * changes, it is the old one's that was read before, or the new one's, and no failure. */
static void test_replaced(void)
{
	size_t news = 0;

	for (size_t call = 1; call < 12; call++) {
		struct new_ident change;
		struct world w;

		begin(&w, V315, PST_RELEASE, false);
		change = (struct new_ident){ &w, add(&w, 0x11, true, 1) };
		hold_gil(&w, change.state);
		open_snapshot(&w, (struct pst_snapshot_opts){ .stop = PST_STOP_NONE });
		CHECK_DONE(take(&w), &w.p.err);
		image_hook(&w.p.o.image, call, change_ident, &change);
		CHECK_DONE(take(&w), &w.p.err);
		unit_row("before call %zu", call);
		REQUIRE(w.sample.n == 1);
		news += w.sample.threads[0].ident == 0x99;
		CHECK(w.sample.threads[0].proof != PST_FAILED);
		end(&w);
	}
	CHECK(news > 0);
}

/* ---- names ---- */

/* sys.modules["threading"]._active = { IDENT: a thread called NAME }. */
static void publish_name(struct world *w, pst_addr_t ident, const char *name)
{
	struct objects *o = &w->p.o;
	const struct dict_entry attr = { objects_name(o, "_name"), objects_name(o, name) };
	const struct dict_entry thread = { objects_int(o, (int64_t)ident),
		instances_plain(o, &attr, 1).object };
	const struct dict_entry active = { objects_name(o, "_active"), dicts_plain(o, &thread, 1) };
	const struct dict_entry module = { objects_name(o, "threading"),
		objects_plain(o, o->type_none, 64) };

	objects_put(o, module.value, o->layout.off.module_dict, dicts_plain(o, &active, 1));
	process_put(&w->p, w->interp, o->layout.off.interp_modules, dicts_plain(o, &module, 1));
}

static const char *name_of(const struct world *w, size_t i)
{
	return i < w->sample.n ? pst_names_get(w->p.py.names, w->sample.threads[i].name, NULL)
			       : NULL;
}

/* Found when they are wanted, and again when the list has changed. */
static void test_names(void)
{
	for (int names = 0; names < 2; names++) {
		const struct pst_snapshot_opts opts = {
			.stop = PST_STOP_NONE, .all_threads = true, .names = names
		};
		struct world w;

		begin(&w, V315, PST_RELEASE, false);
		add(&w, 0x11, true, 1);
		publish_name(&w, 0x11, "first");
		open_snapshot(&w, opts);
		unit_row("names: %d", names);
		CHECK_DONE(take(&w), &w.p.err);
		CHECK_TEXT(name_of(&w, 0), names ? "first" : "");
		publish_name(&w, 0x11, "second");
		CHECK_DONE(take(&w), &w.p.err);
		CHECK_TEXT(name_of(&w, 0), names ? "first" : "");
		add(&w, 0x22, true, 1);
		CHECK_DONE(take(&w), &w.p.err);
		CHECK_TEXT(name_of(&w, 1), names ? "second" : "");
		CHECK_TEXT(name_of(&w, 0), "");
		end(&w);
	}
}

static CU_TestInfo tests[] = {
	{ "the holder of the GIL, and all", test_gil },
	{ "nobody holds the GIL", test_gil_free },
	{ "builds without a GIL", test_bare },
	{ "all stopped, ids twice", test_standing },
	{ "another thread in the same place", test_replaced },
	{ "names", test_names },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_snapshot = { "snapshot", NULL, NULL, NULL, NULL, tests };
