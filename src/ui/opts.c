/* The array of options: a key or a flag is here and nowhere else. */
#include "pystill/opt.h"

static const char *const stop_choices[] = { "auto", "all", "none", NULL };
static const char *const errors_choices[] = { "text", "json", NULL };

#define AT(member) offsetof(struct pst_opts, member)

/* clang-format off */
const struct pst_opt pst_opt_table[] = {
	{ PST_CMD_PYFLAME, 'p', "pid", "PID", PST_OPT_PID, AT(pid), 0, 0, NULL,
	  "the process to look at (may also stand alone, last)" },
	{ PST_CMD_PYFLAME, 's', "seconds", "SECONDS", PST_OPT_NUMBER, AT(seconds), 0, 1e9, NULL,
	  "how long to sample (default 1); 0 takes one sample" },
	{ PST_CMD_PYFLAME, 'r', "rate", "SECONDS", PST_OPT_NUMBER, AT(interval_s), 1e-6, 1e6, NULL,
	  "time between samples (default 0.01)" },
	{ PST_CMD_PYFLAME, 'o', "output", "FILE", PST_OPT_STRING, AT(output), 0, 0, NULL,
	  "write to FILE instead of the standard output" },
	{ PST_CMD_PYFLAME, 'n', "no-line-numbers", NULL, PST_OPT_FLAG, AT(no_lines), 0, 0, NULL,
	  "leave line numbers out" },
	{ PST_CMD_PYFLAME, 'x', "exclude-idle", NULL, PST_OPT_FLAG, AT(no_idle), 0, 0, NULL,
	  "leave the idle time out" },
	{ PST_CMD_PYFLAME, 't', "trace", NULL, PST_OPT_FLAG, AT(trace), 0, 0, NULL,
	  "start the command that follows the options, and sample it to its end" },
	{ PST_CMD_PYFLAME, 0, "strict", NULL, PST_OPT_FLAG, AT(strict), 0, 0, NULL,
	  "with -t: a failure to sample is our exit status, not the command's" },
	{ PST_CMD_PYFLAME, 0, "as-root", NULL, PST_OPT_FLAG, AT(as_root), 0, 0, NULL,
	  "with -t under sudo: run the command as root, not as the caller" },
	{ PST_CMD_PYFLAME, 0, "threads", NULL, PST_OPT_FLAG, AT(threads), 0, 0, NULL,
	  "all Python threads, not only the holder of the GIL" },
	{ PST_CMD_PYFLAME, 'd', "dump", NULL, PST_OPT_FLAG, AT(dump), 0, 0, NULL,
	  "print once what each thread is doing, newest frame first, and exit" },
	{ PST_CMD_PYFLAME, 0, "flamechart", NULL, PST_OPT_FLAG, AT(flamechart), 0, 0, NULL,
	  "print the time and the stack of every sample, in order" },
	{ PST_CMD_PYFLAME, 0, "abi", "ABI", PST_OPT_STRING, AT(abi), 0, 0, NULL,
	  "read it as this version, such as 311 (-v lists them)" },
	{ PST_CMD_PYFLAME, 0, "stop", "MODE", PST_OPT_CHOICE, AT(stop), 0, 0, stop_choices,
	  "auto (default): stop at most the holder of the GIL, for microseconds; "
	  "all: stop every Python thread; none: stop nothing" },
	{ PST_CMD_PYFLAME, 0, "nonblocking", NULL, PST_OPT_FLAG, AT(nonblocking), 0, 0, NULL,
	  "the same as --stop none" },
	{ PST_CMD_PYFLAME, 0, "stop-limit", "MS", PST_OPT_NUMBER, AT(stop_limit_ms), 0.1, 10000, NULL,
	  "longest wait for a thread to stop, and longest time to hold it (default 2)" },
	{ PST_CMD_PYFLAME, 0, "max-overhead", "PERCENT", PST_OPT_NUMBER, AT(max_overhead_percent), 0.01,
	  100, NULL,
	  "longest share of the time in which a thread may be stopped (default 5); beyond, the rate is "
	  "lowered; 100 turns that off" },
	{ PST_CMD_PYFLAME, 0, "stats", NULL, PST_OPT_FLAG, AT(stats), 0, 0, NULL,
	  "tell on standard error how many samples were exact, and what they cost, as is done on a "
	  "terminal" },
	{ PST_CMD_PYFLAME, 0, "no-jitter", NULL, PST_OPT_FLAG, AT(no_jitter), 0, 0, NULL,
	  "sample at a fixed beat, which a target may run in step with" },
	{ PST_CMD_PYFLAME, 0, "errors", "FORM", PST_OPT_CHOICE, AT(errors), 0, 0, errors_choices,
	  "text (default) or json: how an error is told" },
	{ PST_CMD_PYFLAME, 'v', "version", NULL, PST_OPT_FLAG, AT(version), 0, 0, NULL,
	  "print the version and the ABIs, and exit" },
	{ PST_CMD_PYFLAME, 'h', "help", NULL, PST_OPT_FLAG, AT(help), 0, 0, NULL,
	  "print this, and exit" },
};
/* clang-format on */
const size_t pst_opt_count = PST_ARRAY_SIZE(pst_opt_table);

void pst_opt_defaults(struct pst_opts *opts, unsigned command)
{
	*opts = (struct pst_opts){ .program = "pystill" };
	if (command & PST_CMD_PYFLAME) {
		opts->seconds = 1;
		opts->interval_s = 0.01;
		opts->stop_limit_ms = 2;
		opts->max_overhead_percent = 5;
	}
}
