/* One process under observation: its memory, its map, and the means to stop one of its threads for a
 * moment.  Opening it disturbs nothing: nothing is seized, nothing is stopped.  The disposition of SIGCHLD
 * in our own process must be the default one, or the end of a wait for a stop is noticed late.  Here and
 * in the layers above, ERR must not be NULL where a function can fail. */
#ifndef PYSTILL_TARGET_H
#define PYSTILL_TARGET_H

#include "pystill/maps.h"
#include "pystill/mem.h"
#include "pystill/note.h"
#include "pystill/procfs.h"
#include "pystill/ptrace.h"

#include <signal.h>

struct pst_target {
	pid_t pid;
	struct pst_mem *mem;
	struct pst_maps maps; /* as of the last pst_target_reload() */
	struct pst_note note; /* warnings for the user */
	pid_t *late; /* still seized: their stop, or the end of those killed in it, is awaited */
	size_t n_late, cap_late;
	/* The end of the process, where it is our own child and a wait for a stop came upon it. */
	bool ended;
	int wait_status;
	bool may_spin; /* more than one CPU: wait for a stop without sleeping, at first */
	sigset_t saved_mask;
};

/* Open process PID.  NOTE is copied.  Returns NULL with ERR set: GONE, PERM, NOTPYTHON (a zombie, a kernel
 * thread), USAGE (our own process, a thread's id). */
struct pst_target *pst_target_open(pid_t pid, const struct pst_note *note, struct pst_error *err);

/* Lets go of every thread that is still ours, waiting a moment for those that are late. */
void pst_target_close(struct pst_target *target);

/* Read the map again.  Returns 0, or -1 with ERR set. */
int pst_target_reload(struct pst_target *target, struct pst_error *err);

/* Make room for N threads that do not stop in time. */
void pst_target_reserve(struct pst_target *target, size_t n);

/* A thread that stands still.  All signals to us are blocked until it is let go. */
struct pst_stopped {
	pid_t tid;
	int signal; /* to be handed back */
};

/* Stop one thread, waiting at most LIMIT_NS.  Returns 0; or -1 with ERR set: GONE (it ended), LATE (it did
 * not stop in time: it goes on by itself, and its late stop is undone when it comes), PERM.  After 0,
 * pst_target_resume() must follow on every path, with nothing but reads in between. */
int pst_target_stop_thread(struct pst_target *target, pid_t tid, int64_t limit_ns,
	struct pst_stopped *stopped, struct pst_error *err);
void pst_target_resume(struct pst_target *target, struct pst_stopped *stopped);

/* The parts of the above, for many threads at a time and with signals left alone: ask for a stop, await it until
 * DEADLINE_NS (CLOCK_MONOTONIC), and let go.  Asking may allocate: call pst_target_reserve() before the first. */
int pst_target_ask_stop(struct pst_target *target, pid_t tid, struct pst_error *err);
int pst_target_await_stop(struct pst_target *target, pid_t tid, int64_t deadline_ns,
	struct pst_stopped *stopped, struct pst_error *err);
void pst_target_let_go(struct pst_target *target, struct pst_stopped *stopped);

/* Does TID still owe us a stop, or its end?  Then it must not be asked again. */
bool pst_target_is_late(const struct pst_target *target, pid_t tid);

/* Undo the late stops that have come. */
void pst_target_collect(struct pst_target *target);

/* Sleep until DEADLINE_NS (CLOCK_MONOTONIC) or a signal to us; late stops are undone as they come. */
void pst_target_sleep(struct pst_target *target, int64_t deadline_ns);

/* Block or restore all signals to us: while something is stopped nothing may hold us up. */
void pst_target_block_signals(struct pst_target *target);
void pst_target_restore_signals(struct pst_target *target);

#endif
