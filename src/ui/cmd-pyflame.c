/* Pyflame's command line: sample a process for some seconds, or a command to its end, and print folded stacks. */
#define _GNU_SOURCE
#include "pystill/cmd.h"

#include "pystill/abi.h"
#include "pystill/writer.h"
#include "say.h"
#include "session.h"

#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ERROR_STATUS 1 /* of every error, as Pyflame had it */

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
	return fflush(stdout) == 0 ? 0 : ERROR_STATUS;
}

static int print_help(const struct pst_opts *opts)
{
	cleanup_free char *options = pst_opt_help(PST_CMD_PYFLAME);

	printf("usage: %s [OPTIONS] -p PID\n"
	       "       %s [OPTIONS] -t COMMAND...\n\n"
	       "Shows what a running Python process does, without touching it: samples its\n"
	       "stacks and prints them folded, for flamegraph.pl.\n\n%s",
		opts->program, opts->program, options);
	return fflush(stdout) == 0 ? 0 : ERROR_STATUS;
}

/* ---- what was asked for ---- */

static int usage(struct pst_error *err, const char *text)
{
	return pst_error_set(err, PST_ERR_USAGE, 0, "%s", text);
}

static int check_trace(const struct pst_opts *opts, struct pst_error *err)
{
	if (!opts->n_words)
		return usage(err, "-t needs a command to run");
	if (opts->pid)
		return usage(
			err, "-p and -t exclude each other: attach to a process, or start one");
	if (opts->dump)
		return usage(err, "--dump needs a process that runs: use -p PID");
	return 0;
}

static int check_attach(struct pst_opts *opts, struct pst_error *err)
{
	if (opts->strict || opts->as_root)
		return usage(err, "--strict and --as-root go with -t COMMAND");
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
			"no process given: use -p PID, or -t COMMAND; see %s -h", opts->program);
	return 0;
}

static int check_abi(const char *name, struct pst_error *err)
{
	PST_FOR_EACH_ABI(row)
	{
		if (strcmp(row->name, name) == 0)
			return 0;
	}
	return pst_error_set(
		err, PST_ERR_USAGE, 0, "--abi: there is no ABI '%s'; pystill -v lists all", name);
}

static int check_words(struct pst_opts *opts, struct pst_error *err)
{
	if (opts->abi && check_abi(opts->abi, err) < 0)
		return -1;
	if (opts->dump && opts->flamechart)
		return usage(err, "--dump and --flamechart are two outputs; choose one");
	if (opts->nonblocking)
		opts->stop = PST_STOP_NONE;
	return opts->trace ? check_trace(opts, err) : check_attach(opts, err);
}

/* ---- output ---- */

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

/* A pipe stays silent, as Pyflame did. */
static void say_meter(const struct pst_opts *opts, const struct pst_capture *capture)
{
	const struct pst_meter meter = pst_capture_meter(capture);
	char text[PST_METER_TEXT];

	if (opts->dump || !(opts->stats || isatty(STDERR_FILENO)))
		return;
	pst_meter_text(&meter, text);
	pst_say_line(opts, text);
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
	warn_unproved(opts, capture);
	if (pst_out_close(out, err) < 0)
		return -1;
	say_meter(opts, capture);
	return 0;
}

/* What was sampled before an error is written all the same; STATUS and ERR tell of the sampling. */
static int finish(const struct pst_opts *opts, const struct pst_capture *capture,
	struct pst_out *out, int status, struct pst_error *err)
{
	struct pst_error write_err = { 0 };

	if (status < 0 && !pst_capture_counts(capture)->samples) {
		pst_out_abandon(out);
		return -1;
	}
	if (write_output(opts, capture, out, &write_err) < 0 && status == 0) {
		*err = write_err;
		return -1;
	}
	return status;
}

static struct pst_capture *create_capture(const struct pst_opts *opts)
{
	return pst_capture_create(choose_writer(opts)->order == PST_BY_TIME);
}

/* ---- the two runs ---- */

static int attach(const struct pst_opts *opts, struct pst_error *err)
{
	struct pst_out *out = pst_out_open(opts->output, err);
	struct pst_capture *capture;
	int status;

	if (!out)
		return -1;
	capture = create_capture(opts);
	status = finish(opts, capture, out, pst_session_attach(opts, capture, err), err);
	pst_capture_close(capture);
	return status;
}

/* Without an output file there is nothing to sample for, but the program runs. */
static int sample_launched(
	const struct pst_opts *opts, struct pst_launch *launch, struct pst_error *err)
{
	struct pst_out *out = pst_out_open(opts->output, err);
	struct pst_capture *capture;
	int status;

	if (!out) {
		pst_launch_wait(launch, NULL, INT64_MAX);
		return -1;
	}
	capture = create_capture(opts);
	status = finish(opts, capture, out, pst_session_trace(opts, launch, capture, err), err);
	pst_capture_close(capture);
	return status;
}

/* The command's fate is its own, whatever becomes of the sampling; --strict turns that round. */
static int trace(const struct pst_opts *opts, struct pst_error *err)
{
	struct pst_launch *launch;
	int status = 0;

	launch = pst_launch_start(opts->words, opts->as_root, &status, err);
	if (!launch && status)
		pst_say_error(opts, err, status);
	if (!launch)
		return status ? status : -1;
	if (sample_launched(opts, launch, err) == 0) {
		status = pst_launch_status(launch);
	} else if (opts->strict) {
		status = -1;
	} else {
		status = pst_launch_status(launch);
		pst_say_error(opts, err, status);
	}
	pst_launch_free(launch);
	return status;
}

static int run(struct pst_opts *opts, int argc, char **argv, struct pst_error *err)
{
	if (pst_opt_parse(opts, PST_CMD_PYFLAME, argc, argv, err) < 0)
		return pst_error_wrap(err, "see %s -h", opts->program);
	if (opts->help)
		return print_help(opts);
	if (opts->version)
		return print_version();
	if (check_words(opts, err) < 0)
		return -1;
	return opts->trace ? trace(opts, err) : attach(opts, err);
}

int pst_cmd_pyflame(struct pst_opts *opts, int argc, char **argv)
{
	struct pst_error err = { 0 };
	const int status = run(opts, argc, argv, &err);

	if (status < 0)
		pst_say_error(opts, &err, ERROR_STATUS);
	return status < 0 ? ERROR_STATUS : status;
}
