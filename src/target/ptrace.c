/* The only file that speaks ptrace(2). */
#define _GNU_SOURCE
#include "pystill/ptrace.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

int pst_ptrace_interrupt(pid_t tid, struct pst_error *err)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
		if (errno == ESRCH)
			return pst_error_set(err, PST_ERR_GONE, 0, "thread %d has ended", tid);
		return pst_error_set(err, PST_ERR_PERM, errno, "stopping thread %d", tid);
	}
	/* Fails only when the thread is dying: its end is then reported. */
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 0;
}

/* What stops a seized thread (ptrace(2), "Stopped states"):
 *  - our own request: PTRACE_EVENT_STOP with SIGTRAP;
 *  - a group-stop, by someone else's SIGSTOP, SIGTSTP ...: PTRACE_EVENT_STOP with that signal.  Letting
 *    go without a signal leaves the group-stop in force;
 *  - a signal on its way to the thread: no event.  It is handed back when the thread is let go. */
enum pst_stop_event pst_ptrace_poll(pid_t tid, int *detail)
{
	int status;
	const pid_t got = waitpid(tid, &status, WNOHANG | __WALL);

	*detail = 0;
	if (got == 0)
		return PST_STOP_NOT_YET;
	if (got < 0)
		return errno == EINTR ? PST_STOP_NOT_YET : PST_STOP_ENDED;
	if (!WIFSTOPPED(status)) {
		*detail = status;
		return PST_STOP_ENDED;
	}
	if (status >> 16 == 0)
		*detail = WSTOPSIG(status);
	return PST_STOP_STOPPED;
}

bool pst_ptrace_detach(pid_t tid, int signal)
{
	return ptrace(PTRACE_DETACH, tid, NULL, (void *)(long)signal) == 0;
}
