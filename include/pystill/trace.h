/* Sampling a program that we launched, from its first Python frame to its end: through every exec, and in the first
 * Python below it when it is none itself. */
#ifndef PYSTILL_TRACE_H
#define PYSTILL_TRACE_H

#include "pystill/launch.h"
#include "pystill/sampler.h"

struct pst_trace_opts {
	struct pst_sampler_opts sampler; /* its wait is ours */
	const char *abi;                 /* forces a row; may be NULL */
	struct pst_note note;
};

/* Returns when the program of LAUNCH has ended or was let go: 0, or -1 with ERR set when it could not be sampled (PERM,
 * NOTPYTHON, UNSUPPORTED).  NAMES is borrowed.  Adds to STATS. */
int pst_trace_run(struct pst_launch *launch, const struct pst_trace_opts *opts,
	struct pst_names *names, const struct pst_sink *sink, struct pst_run_stats *stats,
	struct pst_error *err);

#endif
