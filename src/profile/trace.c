/* The run of a launched program. */
#include "pystill/trace.h"

#include <string.h>

#define YOUNG_NS PST_NSEC_PER_SEC

struct trace {
	struct pst_launch *launch;
	const struct pst_trace_opts *opts;
	struct pst_names *names;
	const struct pst_sink *sink;
	struct pst_run_stats *stats;
	bool over; /* the program has ended, or was let go */
	bool seen; /* a Python was found */
	int64_t start_ns;
};

static bool wait_for_launch(void *ctx, struct pst_target *target, int64_t deadline_ns)
{
	struct trace *t = ctx;

	if (!t->over)
		t->over = pst_launch_wait(t->launch, target, deadline_ns) != PST_LAUNCH_GOES_ON;
	return !t->over;
}

static bool names_python(const struct pst_launch *launch)
{
	return strstr(pst_launch_name(launch), "python");
}

/* That the target ended is no error; nor that there was no Python in it, if one was there at some time, or was about to
 * be: a short run may be over before it is ready, and while it starts or ends it may make no sense. */
static bool is_fault(
	const struct trace *t, const struct pst_python *py, const struct pst_error *err)
{
	const bool young = pst_now_ns() - t->start_ns < YOUNG_NS;

	if (t->seen || err->code == PST_ERR_PERM)
		return err->code == PST_ERR_PERM;
	if (err->code == PST_ERR_UNSUPPORTED)
		return !young || !py->misfit;
	return !young || !(py->dormant || py->misfit || names_python(t->launch));
}

/* What kept us from seeing Python, if nothing better is known. */
static void blame(pid_t pid, struct pst_error *err)
{
	if (err->code != PST_ERR_PERM && err->code != PST_ERR_UNSUPPORTED)
		pst_error_set(err, PST_ERR_NOTPYTHON, 0,
			"process %d was not a Python process, so nothing was sampled", pid);
}

/* Sample process PID to its end.  *CHILD is a process below it that is to be sampled in its place, or 0. */
static int sample_process(struct trace *t, pid_t pid, pid_t *child, struct pst_error *err)
{
	struct pst_sampler_opts sampler = t->opts->sampler;
	struct pst_run_result run = { 0 };
	struct pst_python *py;
	struct pst_target *target = pst_target_open(pid, &t->opts->note, err);
	const bool is_ours = pid == pst_launch_pid(t->launch);
	int result = 0;

	*child = 0;
	if (!target) /* it may have ended before we could look */
		return err->code == PST_ERR_GONE && (t->seen || names_python(t->launch)) ? 0 : -1;
	py = pst_python_new(target, t->names);
	py->abi_name = t->opts->abi;
	sampler.duration_ns = -1;
	sampler.follow = is_ours;
	sampler.wait = wait_for_launch;
	sampler.wait_ctx = t;
	pst_sampler_run(py, &sampler, t->sink, t->stats, &run, err);
	*child = run.child;
	t->seen |= py->seen;
	if (is_fault(t, py, err) && !run.child)
		result = -1;
	if (is_ours && !run.child) /* a late stop, and its end, may be the target's to tell */
		wait_for_launch(t, target, INT64_MAX);
	pst_python_detach(py);
	pst_target_close(target);
	return result;
}

int pst_trace_run(struct pst_launch *launch, const struct pst_trace_opts *opts,
	struct pst_names *names, const struct pst_sink *sink, struct pst_run_stats *stats,
	struct pst_error *err)
{
	struct trace t = { .launch = launch,
		.opts = opts,
		.names = names,
		.sink = sink,
		.stats = stats,
		.start_ns = pst_now_ns() };
	const pid_t pid = pst_launch_pid(launch);
	struct pst_error ignored = { 0 };
	pid_t child = 0;
	int result;

	do {
		result = sample_process(&t, pid, &child, err);
		if (!child)
			break;
		t.seen = true;
		pst_note_warn(&opts->note,
			"process %d is not a Python process; its child %d is sampled", pid, child);
		sample_process(&t, child, &(pid_t){ 0 }, &ignored);
	} while (!t.over);
	wait_for_launch(&t, NULL, INT64_MAX);
	if (result < 0)
		blame(pid, err);
	return result;
}
