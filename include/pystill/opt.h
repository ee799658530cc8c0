/* Options: one row each.  getopt's arrays, --help, completions and the man page's table come from the
 * rows. */
#ifndef PYSTILL_OPT_H
#define PYSTILL_OPT_H

#include "pystill/error.h"
#include "pystill/ptrace.h"

#include <sys/types.h>

/* The command lines that an option may belong to. */
enum pst_cmd_bit {
	PST_CMD_PYFLAME = 1u << 0,
};

enum pst_errors_form { PST_ERRORS_TEXT, PST_ERRORS_JSON };

/* What was asked for.  Strings are borrowed from argv. */
struct pst_opts {
	const char *program; /* "pystill", or the name we were called by */
	long long pid;       /* 0: not given */
	double seconds;
	double interval_s;
	const char *output;
	bool no_lines, no_idle, threads, no_jitter, nonblocking, dump, flamechart, trace, strict,
		as_root, stats;
	double stop_limit_ms, max_overhead_percent;
	const char *abi;
	int stop;   /* enum pst_stop_mode */
	int errors; /* enum pst_errors_form */
	bool version, help;
	char **words; /* what is left behind the options */
	int n_words;
};

enum pst_opt_type {
	PST_OPT_FLAG,   /* bool */
	PST_OPT_NUMBER, /* double, in [min, max] */
	PST_OPT_PID,    /* long long */
	PST_OPT_STRING, /* const char * */
	PST_OPT_CHOICE, /* int, the index in choices */
};

struct pst_opt {
	unsigned commands; /* enum pst_cmd_bit */
	char letter;       /* 0: none */
	const char *word, *arg;
	enum pst_opt_type type;
	size_t at; /* in struct pst_opts */
	double min, max;
	const char *const *choices; /* ends with NULL */
	const char *help;
};

/* All options, in the order of the help. */
extern const struct pst_opt pst_opt_table[];
extern const size_t pst_opt_count;

/* What holds before the command line is read. */
void pst_opt_defaults(struct pst_opts *opts, unsigned command);

/* Read argv[1...] of COMMAND; argv[0] is not looked at.  Returns 0, or -1 with ERR set (USAGE). */
int pst_opt_parse(
	struct pst_opts *opts, unsigned command, int argc, char **argv, struct pst_error *err);

/* The option table of COMMAND as text, one line or more each, from malloc. */
char *pst_opt_help(unsigned command);

/* A pid: decimal, at least 1.  Returns 0, or -1 with ERR set (USAGE). */
int pst_opt_parse_pid(const char *text, long long *out, struct pst_error *err);

#endif
