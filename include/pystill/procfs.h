/* What procfs says of a process and its threads.  Reading it never disturbs the target. */
#ifndef PYSTILL_PROCFS_H
#define PYSTILL_PROCFS_H

#include "pystill/error.h"

#include <sys/types.h>

#define PST_MAX_PID_NAMESPACES 32 /* MAX_PID_NS_LEVEL in the kernel */

/* The parts of a status file that we use. */
struct pst_status {
	char name[64];
	char state; /* R S D T t Z X I */
	pid_t tgid, tracer;
	uid_t uid;
	bool kernel_thread;
	pid_t ns_pid[PST_MAX_PID_NAMESPACES]; /* its id in each pid namespace, ours first */
	int n_ns_pid;
	uint64_t switches; /* voluntary and other context switches */
};

/* The whole of a procfs file, NUL-terminated, from malloc: NAME of process PID, or of its thread TID when
 * that is not 0.  Returns NULL with ERR set: GONE, PERM or IO. */
char *pst_procfs_read(pid_t pid, pid_t tid, const char *name, struct pst_error *err);

/* The same for a symbolic link such as "exe". */
char *pst_procfs_readlink(pid_t pid, const char *name, struct pst_error *err);

/* Parse the text of a status file; lines that are not there leave their member as it was. */
void pst_status_parse(struct pst_status *status, const char *text);

/* Of process PID (TID 0), or of a thread. */
int pst_procfs_status(pid_t pid, pid_t tid, struct pst_status *status, struct pst_error *err);

/* The ids of all threads of PID, from malloc.  Returns their number, or -1 with ERR set. */
int pst_procfs_tids(pid_t pid, pid_t **tids, struct pst_error *err);

/* The children of all threads of PID, from malloc.  Returns their number (0 when there are none, or the
 * kernel does not tell). */
int pst_procfs_children(pid_t pid, pid_t **children);

/* Watches whether one thread sleeps in the kernel, and whether it has slept without a break.  A thread
 * that is off the CPU must be scheduled in before it can run, and the kernel counts that. */
struct pst_watch {
	pid_t pid, tid;
	int schedstat_fd, syscall_fd; /* kept open; -1 where it must be opened each time */
};

enum pst_rest {
	PST_REST_RUNNING, /* on a CPU, or about to be */
	PST_REST_ASLEEP,  /* off the CPU in the kernel */
	PST_REST_GONE,
};

void pst_watch_open(struct pst_watch *watch, pid_t pid, pid_t tid);
void pst_watch_close(struct pst_watch *watch);

/* What the thread does now.  When it is asleep, *RUNS says how often it has been scheduled so far. */
enum pst_rest pst_watch_rest(const struct pst_watch *watch, uint64_t *runs);

/* The same for a thread that wants a CPU and waits for one, which pst_watch_rest() calls running.  Takes some
 * 10 us.  False also where the kernel does not count. */
bool pst_watch_preempted(const struct pst_watch *watch, uint64_t *runs);

/* How often the thread has been scheduled so far; false where the kernel does not count. */
bool pst_watch_runs(const struct pst_watch *watch, uint64_t *runs);

/* Has the thread rested all the time since one of these gave RUNS? */
bool pst_watch_rested(const struct pst_watch *watch, uint64_t runs);

#endif
