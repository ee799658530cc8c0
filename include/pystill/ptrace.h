/* The ptrace verbs, one thread at a time.  Only seizing is used, never attaching: it sends no SIGSTOP,
 * and when the tracer dies the kernel lets the thread go and forgets the stop that was asked for. */
#ifndef PYSTILL_PTRACE_H
#define PYSTILL_PTRACE_H

#include "pystill/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* How a sample may hold the target up. */
enum pst_stop_mode {
	PST_STOP_AUTO, /* at most the holder of the GIL, for microseconds */
	PST_STOP_ALL,  /* every Python thread, all read, all let go */
	PST_STOP_NONE, /* nothing is stopped */
};

/* Seize TID and ask it to stop; this does not wait.  Returns 0, or -1 with ERR set: GONE (the thread
 * ended), PERM. */
int pst_ptrace_interrupt(pid_t tid, struct pst_error *err);

enum pst_stop_event {
	PST_STOP_NOT_YET,
	PST_STOP_STOPPED, /* the thread stands still until pst_ptrace_detach() */
	PST_STOP_ENDED,
};

/* Has the seized TID stopped?  Does not wait.  *DETAIL is the signal that must be handed back when it is let go, or 0;
 * of one that ended its wait status. */
enum pst_stop_event pst_ptrace_poll(pid_t tid, int *detail);

/* Let a stopped TID go, and give it SIGNAL (0: none).  A thread that someone else had stopped stays
 * stopped.  False when it was killed meanwhile: it remains ours until pst_ptrace_poll() reports its end, and
 * until then its process cannot end. */
bool pst_ptrace_detach(pid_t tid, int signal);

#endif
