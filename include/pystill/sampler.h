/* The loop: at every moment of its clock one snapshot, which goes to a sink. */
#ifndef PYSTILL_SAMPLER_H
#define PYSTILL_SAMPLER_H

#include "pystill/snapshot.h"

struct pst_sampler_opts {
	struct pst_snapshot_opts snapshot;
	int64_t interval_ns; /* mean time between samples */
	double max_stopped; /* the share of time in which a thread may be stopped; beyond, the rate is lowered */
	int64_t duration_ns; /* 0: exactly one sample; negative: until the target ends */
	bool jitter; /* intervals uniform in [0.5, 1.5] of the mean, so as not to run in step */
	bool follow; /* while the process is no Python, look for one among its children */
	/* Wait until DEADLINE_NS (CLOCK_MONOTONIC); returns false when the run is to end.  Every wait of the run is
	 * this. */
	bool (*wait)(void *ctx, struct pst_target *target, int64_t deadline_ns);
	void *wait_ctx;
};

/* What the loop tells: borrowed samples, failures and moments that it skipped. */
struct pst_sink {
	void (*sample)(void *ctx, const struct pst_sample *sample);
	void (*failed)(void *ctx, enum pst_fail why, int64_t time_ns);
	void (*missed)(void *ctx, uint64_t n);
	void *ctx;
};

enum pst_run_end {
	PST_END_TIME,
	PST_END_STOPPED, /* the wait said so */
	PST_END_TARGET,
	PST_END_CHILD, /* a child is to be sampled in its place */
};

struct pst_run_result {
	enum pst_run_end end;
	pid_t child; /* PST_END_CHILD: which */
};

/* How runs went, added up. */
struct pst_run_stats {
	struct pst_hist stops; /* ns that a thread of the target stood still, each time */
	int64_t wall_ns,
		cpu_ns; /* how long there was a Python to sample; what that took of our own CPU time */
	double wanted; /* samples in that time, at the rate that was asked for */
};

/* Sample PY until the time is over, the wait says so, or the target ends.  Where there is no Python (yet), or not any
 * more after an exec, it is looked for, and no samples are counted meanwhile.  Adds to STATS.  Returns 0 and *RESULT, or -1 with ERR
 * set: PERM; GONE or NOTPYTHON when the target ended before the first sample. */
int pst_sampler_run(struct pst_python *py, const struct pst_sampler_opts *opts,
	const struct pst_sink *sink, struct pst_run_stats *stats, struct pst_run_result *result,
	struct pst_error *err);

#endif
