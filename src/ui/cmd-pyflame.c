/* Pyflame's command line: sample a process for some seconds, print folded stacks. */
#define _GNU_SOURCE
#include "pystill/cmd.h"

#include "pystill/capture.h"
#include "pystill/sampler.h"
#include "pystill/writer.h"
#include "say.h"

#include <config.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define STOP_LIMIT_NS (2 * PST_NSEC_PER_MSEC)

static volatile sig_atomic_t stop_flag;

static void on_signal(int signal)
{
	(void)signal;
	stop_flag = 1;
}

/* SIGINT and SIGQUIT end the run even where a shell's `&` had them ignored; a SIGHUP that was ignored (nohup)
 * stays so.  SIGCHLD must have its default for waits to be woken, and a closed pipe is an error like any. */
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
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

/* Two descriptors stay open for each thread that is watched. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int print_version(void)
{
	const char *last = "";

	printf("%s %s (ABI list:", PACKAGE_NAME, PACKAGE_VERSION);
	PST_FOR_EACH_ABI(row)
	{
		if (strcmp(row->name, last) != 0)
			printf(" %s", row->name);
		last = row->name;
	}
	printf(")\n");
	return fflush(stdout) == 0 ? 0 : 1;
}

static int print_help(const struct pst_opts *opts)
{
	cleanup_free char *options = pst_opt_help(PST_CMD_PYFLAME);

	printf("usage: %s [OPTIONS] -p PID\n\n"
	       "Shows what a running Python process does, without touching it: samples its\n"
	       "stacks and prints them folded, for flamegraph.pl.\n\n%s",
		opts->program, options);
	return fflush(stdout) == 0 ? 0 : 1;
}

static int check_words(struct pst_opts *opts, struct pst_error *err)
{
	if (opts->n_words && !opts->pid) {
		if (pst_opt_parse_pid(opts->words[0], &opts->pid, err) < 0)
			return pst_error_set(err, PST_ERR_USAGE, 0,
				"'%s' is neither a pid nor a command; see %s -h", opts->words[0],
				opts->program);
		opts->words++;
		opts->n_words--;
	}
	if (opts->n_words)
		return pst_error_set(err, PST_ERR_USAGE, 0, "unexpected word '%s'; see %s -h",
			opts->words[0], opts->program);
	if (!opts->pid)
		return pst_error_set(err, PST_ERR_USAGE, 0,
			"no process given: use -p PID; see %s -h", opts->program);
	if (opts->dump && opts->flamechart)
		return pst_error_set(err, PST_ERR_USAGE, 0,
			"--dump and --flamechart are two outputs; choose one");
	if (opts->nonblocking)
		opts->stop = PST_STOP_NONE;
	return 0;
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

static int sample(const struct pst_opts *opts, struct pst_target *target,
	struct pst_capture *capture, struct pst_error *err)
{
	const struct pst_sampler_opts sampler = {
		.snapshot = {
			.stop = (enum pst_stop_mode)opts->stop,
			.all_threads = opts->threads || opts->dump,
			.names = opts->dump,
			.limit_ns = STOP_LIMIT_NS,
		},
		.interval_ns = (int64_t)(opts->interval_s * PST_NSEC_PER_SEC),
		.duration_ns = opts->dump ? 0 : (int64_t)(opts->seconds * PST_NSEC_PER_SEC),
		.jitter = !opts->no_jitter,
		.stop = &stop_flag,
	};
	const struct pst_sink sink = { sink_sample, sink_failed, sink_missed, capture };
	struct pst_run_result result;
	struct pst_python *py;
	int status;

	py = pst_python_attach(target, opts->abi, pst_capture_names(capture), err);
	if (!py) {
		name_child(target->pid, err);
		return -1;
	}
	status = pst_sampler_run(py, &sampler, &sink, &result, err);
	pst_python_detach(py);
	return status;
}

/* Unproved stacks are shown like others, so it must be said that there are some. */
static void warn_unproved(const struct pst_opts *opts, const struct pst_capture *capture)
{
	const struct pst_capture_counts *n = pst_capture_counts(capture);
	const struct pst_note note = pst_say_note(opts);

	if (opts->stop == PST_STOP_NONE && n->unproved)
		pst_note_warn(&note,
			"%" PRIu64 " of %" PRIu64
			" stacks are unproved: nothing was stopped to read them",
			n->unproved, n->unproved + n->exact);
}

static const struct pst_writer *choose_writer(const struct pst_opts *opts)
{
	if (opts->dump)
		return &pst_writer_stacks;
	return opts->flamechart ? &pst_writer_flamechart : &pst_writer_folded;
}

static int write_output(const struct pst_opts *opts, const struct pst_capture *capture,
	struct pst_out *out, struct pst_error *err)
{
	const struct pst_write_opts write_opts = { opts->no_lines, opts->no_idle };
	const struct pst_writer *writer = choose_writer(opts);
	struct pst_capture_reader *reader = pst_capture_open(capture, writer->order);
	const int status = writer->write(reader, &write_opts, out, err);

	pst_capture_reader_close(reader);
	if (status < 0) {
		pst_out_abandon(out);
		return -1;
	}
	return pst_out_close(out, err);
}

/* What was sampled before an error is written all the same. */
static int sample_and_write(
	const struct pst_opts *opts, struct pst_target *target, struct pst_error *err)
{
	struct pst_capture *capture = pst_capture_create(choose_writer(opts)->order == PST_BY_TIME);
	struct pst_out *out = pst_out_open(opts->output, err);
	struct pst_error write_err;
	int status = -1;

	if (out) {
		status = sample(opts, target, capture, err);
		if (status == 0 || pst_capture_counts(capture)->samples) {
			if (write_output(opts, capture, out, &write_err) < 0 && status == 0) {
				*err = write_err;
				status = -1;
			}
			warn_unproved(opts, capture);
		} else {
			pst_out_abandon(out);
		}
	}
	pst_capture_close(capture);
	return status;
}

static int run(struct pst_opts *opts, int argc, char **argv, struct pst_error *err)
{
	const struct pst_note note = pst_say_note(opts);
	struct pst_target *target;
	int status;

	if (pst_opt_parse(opts, PST_CMD_PYFLAME, argc, argv, err) < 0)
		return pst_error_wrap(err, "see %s -h", opts->program);
	if (opts->help)
		return print_help(opts);
	if (opts->version)
		return print_version();
	if (check_words(opts, err) < 0)
		return -1;
	catch_signals();
	raise_descriptor_limit();
	target = pst_target_open((pid_t)opts->pid, &note, err);
	if (!target)
		return -1;
	status = sample_and_write(opts, target, err);
	pst_target_close(target);
	return status;
}

/* Every error of this command line has status 1, as Pyflame's had. */
int pst_cmd_pyflame(struct pst_opts *opts, int argc, char **argv)
{
	struct pst_error err = { 0 };
	const int status = run(opts, argc, argv, &err);

	if (status < 0)
		pst_say_error(opts, &err, 1);
	return status < 0 ? 1 : status;
}
