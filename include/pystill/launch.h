/* A program that we start and stand in front of.  It has everything that we were started with: descriptors,
 * process group, terminal, working directory, environment, limits, signal mask and dispositions.  Whoever started us
 * deals with us as with it: signals are passed on, a stop of the job stops us both, and its end gives our status. */
#ifndef PYSTILL_LAUNCH_H
#define PYSTILL_LAUNCH_H

#include "pystill/target.h"

#define PST_STATUS_NOT_EXECUTABLE 126
#define PST_STATUS_NOT_FOUND      127

struct pst_launch;

/* Start ARGV (as execvp() finds it).  Under sudo it becomes the caller's, with uid, gid, groups, HOME, USER and
 * LOGNAME, unless AS_ROOT.  From here on the signals that pst_launch_wait() deals with are blocked: call it before
 * anything of the above is changed.  Returns NULL with ERR set when it could not be run; then *STATUS is what a shell
 * would give (126 or 127), or 0 when it was not even tried. */
struct pst_launch *pst_launch_start(
	char *const *argv, bool as_root, int *status, struct pst_error *err);

pid_t pst_launch_pid(const struct pst_launch *launch);

/* The word that names it on the command line. */
const char *pst_launch_name(const struct pst_launch *launch);

enum pst_launch_event {
	PST_LAUNCH_GOES_ON, /* the time is over */
	PST_LAUNCH_ENDED,   /* the program has ended: see pst_launch_status() */
	PST_LAUNCH_LET_GO,  /* we were told twice to end: leave it alone */
};

/* Wait until DEADLINE_NS (CLOCK_MONOTONIC), passing signals on and following stops of the job.  Late stops of TARGET
 * (the program or a child of it; may be NULL) are undone meanwhile. */
enum pst_launch_event pst_launch_wait(
	struct pst_launch *launch, struct pst_target *target, int64_t deadline_ns);

/* What the program's end means as an exit status: its own, or 128 + the signal that killed it; after LET_GO 128 + the
 * signal that told us. */
int pst_launch_status(const struct pst_launch *launch);

/* Unblocks the signals.  The program is left alone. */
void pst_launch_free(struct pst_launch *launch);

#endif
