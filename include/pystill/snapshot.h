/* One consistent snapshot of one process.  The only code in the program that stops the target: everything
 * between a stop and its resume is in snapshot.c, and is nothing but reads. */
#ifndef PYSTILL_SNAPSHOT_H
#define PYSTILL_SNAPSHOT_H

#include "pystill/hist.h"
#include "pystill/python.h"

struct pst_snapshot_opts {
	enum pst_stop_mode stop;
	bool all_threads; /* every Python thread; else the holders of the GILs */
	bool names;       /* name the threads */
	int64_t limit_ns; /* longest wait for a thread to stop, and longest time that it is held */
};

struct pst_snapshot;

/* PY, its target and STOPS are borrowed.  In STOPS it is counted how long the target was held up each time, in ns. */
struct pst_snapshot *pst_snapshot_new(
	struct pst_python *py, const struct pst_snapshot_opts *opts, struct pst_hist *stops);
void pst_snapshot_free(struct pst_snapshot *snapshot);

/* Take one.  Threads that end meanwhile are left out; a thread that could not be read is in OUT as failed.
 * OUT's pointers are valid until the next call.  Returns 0, or -1 with ERR set: TORN when the list of threads
 * could not be read (count it, go on), GONE, PERM. */
int pst_snapshot_take(struct pst_snapshot *snapshot, struct pst_sample *out, struct pst_error *err);

#endif
