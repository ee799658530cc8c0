/* Options -> sampler; and the signals that end a run. */
#define _GNU_SOURCE
#include "session.h"

#include "pystill/python.h"
#include "pystill/sampler.h"
#include "pystill/trace.h"
#include "say.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define NAP_NS (200 * PST_NSEC_PER_MSEC)

static volatile sig_atomic_t stop_flag;

static void on_signal(int signal)
{
	(void)signal;
	stop_flag = 1;
}

/* SIGINT and SIGQUIT end the run even where a shell's `&` had them ignored; a SIGHUP that was ignored (nohup)
 * stays so.  SIGCHLD must have its default for waits to be woken. */
static void catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGQUIT, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal }, old;

	for (size_t i = 0; i < PST_ARRAY_SIZE(ends); i++) {
		sigaction(ends[i], NULL, &old);
		if (ends[i] != SIGHUP || old.sa_handler != SIG_IGN)
			sigaction(ends[i], &action, NULL);
	}
	action.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &action, NULL);
}

/* A closed pipe is an error like any; and two descriptors stay open for each thread that is watched. */
static void prepare(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct rlimit limit;

	sigaction(SIGPIPE, &ignore, NULL);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* In pieces: a signal may come just before a sleep. */
static bool wait_or_stop(void *ctx, struct pst_target *target, int64_t deadline_ns)
{
	int64_t now_ns = pst_now_ns();

	(void)ctx;
	for (; !stop_flag && now_ns < deadline_ns; now_ns = pst_now_ns()) {
		const int64_t nap_end_ns = now_ns + NAP_NS;

		pst_target_sleep(target, nap_end_ns < deadline_ns ? nap_end_ns : deadline_ns);
	}
	return !stop_flag;
}

static void sink_sample(void *ctx, const struct pst_sample *sample)
{
	pst_capture_add(ctx, sample);
}

static void sink_failed(void *ctx, enum pst_fail why, int64_t time_ns)
{
	pst_capture_fail(ctx, why, time_ns);
}

static void sink_missed(void *ctx, uint64_t n)
{
	pst_capture_missed(ctx, n);
}

static struct pst_sampler_opts sampler_opts(const struct pst_opts *opts)
{
	return (struct pst_sampler_opts){
		.snapshot = {
			.stop = (enum pst_stop_mode)opts->stop,
			.all_threads = opts->threads || opts->dump,
			.names = opts->dump,
			.limit_ns = (int64_t)(opts->stop_limit_ms * PST_NSEC_PER_MSEC),
		},
		.interval_ns = (int64_t)(opts->interval_s * PST_NSEC_PER_SEC),
		.duration_ns = opts->dump ? 0 : (int64_t)(opts->seconds * PST_NSEC_PER_SEC),
		.jitter = !opts->no_jitter,
		.max_stopped = opts->max_overhead_percent < 100 ? opts->max_overhead_percent / 100
								 : HUGE_VAL,
		.wait = wait_or_stop,
	};
}

/* When the process is a wrapper, name the Python process below it. */
static void name_child(pid_t pid, struct pst_error *err)
{
	const size_t len = strlen(err->msg);
	pid_t child;

	if (err->code != PST_ERR_NOTPYTHON)
		return;
	child = pst_python_child(pid);
	if (child)
		snprintf(err->msg + len, sizeof(err->msg) - len,
			"; its child process %d is one: use -p %d", child, child);
}

static int sample(const struct pst_opts *opts, struct pst_target *target,
	struct pst_capture *capture, struct pst_error *err)
{
	const struct pst_sampler_opts sampler = sampler_opts(opts);
	const struct pst_sink sink = { sink_sample, sink_failed, sink_missed, capture };
	struct pst_run_stats stats = { 0 };
	struct pst_run_result result;
	struct pst_python *py;
	int status;

	py = pst_python_attach(target, opts->abi, pst_capture_names(capture), err);
	if (!py) {
		name_child(target->pid, err);
		return -1;
	}
	status = pst_sampler_run(py, &sampler, &sink, &stats, &result, err);
	pst_capture_set_stats(capture, &stats);
	pst_python_detach(py);
	return status;
}

int pst_session_attach(
	const struct pst_opts *opts, struct pst_capture *capture, struct pst_error *err)
{
	const struct pst_note note = pst_say_note(opts);
	struct pst_target *target;
	int status;

	catch_signals();
	prepare();
	target = pst_target_open((pid_t)opts->pid, &note, err);
	if (!target)
		return -1;
	status = sample(opts, target, capture, err);
	pst_target_close(target);
	return status;
}

int pst_session_trace(const struct pst_opts *opts, struct pst_launch *launch,
	struct pst_capture *capture, struct pst_error *err)
{
	const struct pst_trace_opts trace = {
		.sampler = sampler_opts(opts),
		.abi = opts->abi,
		.note = pst_say_note(opts),
	};
	const struct pst_sink sink = { sink_sample, sink_failed, sink_missed, capture };
	struct pst_run_stats stats = { 0 };
	int status;

	prepare();
	status = pst_trace_run(launch, &trace, pst_capture_names(capture), &sink, &stats, err);
	pst_capture_set_stats(capture, &stats);
	return status;
}
