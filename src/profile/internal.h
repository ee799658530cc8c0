/* Shared by this folder only: reading one stack without stopping anything, and what proves that it stood
 * still meanwhile. */
#ifndef PYSTILL_PROFILE_INTERNAL_H
#define PYSTILL_PROFILE_INTERNAL_H

#include "pystill/python.h"

/* What became of one thread. */
struct verdict {
	enum pst_proof proof;
	enum pst_fail fail;
	bool gone;   /* it ended: leave it out */
	bool same;   /* it has not run since its last accepted stack: that is it */
	bool rested; /* it rested while it was read, and had been scheduled RUNS times */
	uint64_t runs;
};

static inline struct verdict verdict_exact(void)
{
	return (struct verdict){ .proof = PST_EXACT };
}

static inline struct verdict verdict_same(void)
{
	return (struct verdict){ .proof = PST_EXACT, .same = true };
}

static inline struct verdict verdict_rested(uint64_t runs)
{
	return (struct verdict){ .proof = PST_EXACT, .rested = true, .runs = runs };
}

static inline struct verdict verdict_gone(void)
{
	return (struct verdict){ .gone = true };
}

static inline struct verdict verdict_failed(enum pst_fail fail)
{
	return (struct verdict){ .proof = PST_FAILED, .fail = fail };
}

static inline bool verdict_is_late(struct verdict v)
{
	return v.proof == PST_FAILED && v.fail == PST_FAIL_NOT_STOPPED;
}

/* Errors that end the run stay in the error; all others are a verdict. */
bool pst_error_is_fatal(const struct pst_error *err);
struct verdict pst_verdict_of(const struct pst_error *err);

/* Reads the stacks of one interpreter's threads. */
struct reader {
	struct pst_python *py; /* borrowed */
	struct pst_view *view;
	struct pst_reading second; /* to compare with, when a stack is read twice */
};

void pst_reader_init(struct reader *reader, struct pst_python *py);
void pst_reader_fini(struct reader *reader);

/* Copy the pages that T needed last time, and walk its frames.  Whatever proves the result is up to the
 * caller.  Does not allocate. */
int pst_reader_read(struct reader *reader, struct pst_pythread *t, struct pst_reading *r,
	struct pst_error *err);

/* The same while the target runs; what was needed is remembered for the next time. */
int pst_reader_look(struct reader *reader, struct pst_pythread *t, struct pst_reading *r,
	struct pst_error *err);

/* Read T, and prove that it was off the CPU since pst_watch_rest() or its kin gave RUNS. */
bool pst_reader_resting(struct reader *reader, struct pst_pythread *t, struct pst_reading *r,
	uint64_t runs, struct pst_error *err);

/* Read T, and prove that it waited for a CPU meanwhile. */
bool pst_reader_preempted(struct reader *reader, struct pst_pythread *t, struct pst_reading *r,
	struct pst_error *err);

/* Read T, and prove that it had no share in the GIL, which was as G before. */
bool pst_reader_aside(struct reader *reader, struct pst_pythread *t, struct pst_reading *r,
	const struct pst_gil_state *g, struct pst_error *err);

/* Nothing proves anything: accept what reads twice alike, as unproved.  With MOVING, when no two reads are
 * alike, accept the last one that made sense: refusing it would favour slow functions.  A thread that is another one
 * now has ended. */
struct verdict pst_reader_twice(struct reader *reader, struct pst_pythread *t,
	struct pst_reading *r, bool moving, struct pst_error *err);

#endif
