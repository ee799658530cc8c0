/* The loop: at every moment of its clock one snapshot, which goes to a sink. */
#ifndef PYSTILL_SAMPLER_H
#define PYSTILL_SAMPLER_H

#include "pystill/snapshot.h"

#include <signal.h>

struct pst_sampler_opts {
	struct pst_snapshot_opts snapshot;
	int64_t interval_ns; /* mean time between samples */
	int64_t duration_ns; /* 0: exactly one sample; negative: until the target ends */
	bool jitter; /* intervals uniform in [0.5, 1.5] of the mean, so as not to run in step */
	volatile const sig_atomic_t *stop; /* set by a signal handler: end the run; may be NULL */
};

/* What the loop tells: borrowed samples, failures and moments that it skipped. */
struct pst_sink {
	void (*sample)(void *ctx, const struct pst_sample *sample);
	void (*failed)(void *ctx, enum pst_fail why, int64_t time_ns);
	void (*missed)(void *ctx, uint64_t n);
	void *ctx;
};

enum pst_run_end { PST_END_TIME, PST_END_STOPPED, PST_END_TARGET };

struct pst_run_result {
	enum pst_run_end end;
	struct pst_stop_stats stops;
	int64_t wall_ns;
};

/* Sample PY until the time is over, the flag is set, or the target ends.  Returns 0 and *RESULT, or -1 with ERR
 * set (PERM, UNSUPPORTED, or GONE before the first sample). */
int pst_sampler_run(struct pst_python *py, const struct pst_sampler_opts *opts,
	const struct pst_sink *sink, struct pst_run_result *result, struct pst_error *err);

#endif
