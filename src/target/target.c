/* One process under observation.  Stopping is bounded: a thread in vfork or in an uninterruptible sleep
 * does not stop until that ends, so its stop is collected later, whenever it comes. */
#define _GNU_SOURCE
#include "pystill/target.h"

#include "pystill/access.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SPIN_NS      (30 * PST_NSEC_PER_USEC) /* a stop mostly takes 5-20 us */
#define LAST_WAIT_NS (200 * PST_NSEC_PER_MSEC)

/* Is it a process that can be looked at? */
static int check_process(pid_t pid, struct pst_error *err)
{
	struct pst_status st;

	if (pid == getpid())
		return pst_error_set(err, PST_ERR_USAGE, 0,
			"process %d is pystill itself; give the pid of a Python process", pid);
	if (pst_procfs_status(pid, 0, &st, err) < 0)
		return -1;
	if (st.tgid != pid)
		return pst_error_set(err, PST_ERR_USAGE, 0,
			"%d is a thread of process %d; give the pid of the process", pid, st.tgid);
	if (st.state == 'Z' || st.state == 'X')
		return pst_error_set(err, PST_ERR_GONE, 0,
			"process %d (%s) has ended and waits for its parent (a zombie)", pid,
			st.name);
	return 0;
}

/* A kernel thread has no memory, and so has a process on its way out. */
static int check_memory(struct pst_target *t, struct pst_error *err)
{
	struct pst_status st;
	unsigned char byte;
	int got;

	if (pst_procfs_status(t->pid, 0, &st, err) < 0)
		return -1;
	if (t->maps.n == 0 && !st.kernel_thread)
		return pst_error_set(err, PST_ERR_GONE, 0, "process %d has ended", t->pid);
	if (t->maps.n == 0)
		return pst_error_set(err, PST_ERR_NOTPYTHON, 0,
			"process %d (%s) is not a Python process: it is a kernel thread", t->pid,
			st.name);
	got = pst_mem_readv(t->mem, &(struct pst_range){ t->maps.v[0].start, 1, &byte }, 1, err);
	if (got < 0 && err->code == PST_ERR_PERM)
		return pst_access_explain(t->pid, "reading its memory", err);
	return got < 0 ? -1 : 0;
}

struct pst_target *pst_target_open(pid_t pid, const struct pst_note *note, struct pst_error *err)
{
	struct pst_target *t;

	if (check_process(pid, err) < 0)
		return NULL;
	t = pst_xcalloc(1, sizeof(*t));
	t->pid = pid;
	if (note)
		t->note = *note;
	pst_target_reserve(t, 1);
	t->may_spin = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	t->mem = pst_mem_open(pid, err);
	if (!t->mem || pst_target_reload(t, err) < 0 || check_memory(t, err) < 0) {
		pst_target_close(t);
		return NULL;
	}
	return t;
}

int pst_target_reload(struct pst_target *t, struct pst_error *err)
{
	struct pst_maps maps;

	if (pst_maps_load(&maps, t->pid, err) < 0) {
		if (err->code == PST_ERR_PERM)
			return pst_access_explain(t->pid, "reading its memory map", err);
		return -1;
	}
	pst_maps_fini(&t->maps);
	t->maps = maps;
	return 0;
}

void pst_target_close(struct pst_target *t)
{
	const int64_t deadline = pst_now_ns() + LAST_WAIT_NS;

	if (!t)
		return;
	while (t->n_late && pst_now_ns() < deadline)
		pst_target_sleep(t, pst_now_ns() + PST_NSEC_PER_MSEC);
	pst_mem_close(t->mem);
	pst_maps_fini(&t->maps);
	free(t->late);
	free(t);
}

void pst_target_reserve(struct pst_target *t, size_t n)
{
	t->late = pst_grow(t->late, &t->cap_late, t->n_late + n, sizeof(*t->late));
}

void pst_target_block_signals(struct pst_target *t)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &t->saved_mask);
}

void pst_target_restore_signals(struct pst_target *t)
{
	sigprocmask(SIG_SETMASK, &t->saved_mask, NULL);
}

bool pst_target_is_late(const struct pst_target *t, pid_t tid)
{
	for (size_t i = 0; i < t->n_late; i++)
		if (t->late[i] == tid)
			return true;
	return false;
}

static enum pst_stop_event poll_stop(struct pst_target *t, pid_t tid, int *signal)
{
	const enum pst_stop_event event = pst_ptrace_poll(tid, signal);

	if (event == PST_STOP_ENDED && tid == t->pid) {
		t->ended = true;
		t->wait_status = *signal;
	}
	return event;
}

void pst_target_collect(struct pst_target *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n_late; i++) {
		int signal;

		switch (poll_stop(t, t->late[i], &signal)) {
		case PST_STOP_NOT_YET: t->late[kept++] = t->late[i]; break;
		case PST_STOP_STOPPED:
			if (!pst_ptrace_detach(t->late[i], signal))
				t->late[kept++] = t->late[i];
			break;
		case PST_STOP_ENDED: break;
		}
	}
	t->n_late = kept;
}

/* Sleep until a child or tracee of ours changes state, for at most NS.  SIGCHLD is blocked, so that it
 * stays pending from before the call. */
static void await_sigchld(int64_t ns)
{
	const struct timespec ts = { ns / PST_NSEC_PER_SEC, ns % PST_NSEC_PER_SEC };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigtimedwait(&set, NULL, &ts);
}

int pst_target_await_stop(struct pst_target *t, pid_t tid, int64_t deadline_ns,
	struct pst_stopped *stopped, struct pst_error *err)
{
	const int64_t spin_until = t->may_spin ? pst_now_ns() + SPIN_NS : 0;

	stopped->tid = tid;
	for (;;) {
		int64_t now;

		switch (poll_stop(t, tid, &stopped->signal)) {
		case PST_STOP_STOPPED: return 0;
		case PST_STOP_ENDED:
			return pst_error_set(err, PST_ERR_GONE, 0, "thread %d has ended", tid);
		case PST_STOP_NOT_YET: break;
		}
		now = pst_now_ns();
		if (now >= deadline_ns)
			break;
		if (now >= spin_until)
			await_sigchld(deadline_ns - now);
	}
	t->late[t->n_late++] = tid;
	return pst_error_set(err, PST_ERR_LATE, 0, "thread %d did not stop in time", tid);
}

/* A thread that is exiting cannot be seized either, and the kernel calls that EPERM too: ptrace_attach(). */
static bool is_exiting(const struct pst_target *t, pid_t tid)
{
	struct pst_status status;

	return pst_procfs_status(t->pid, tid, &status, NULL) < 0 || status.state == 'Z' ||
		status.state == 'X';
}

int pst_target_ask_stop(struct pst_target *t, pid_t tid, struct pst_error *err)
{
	pst_target_reserve(t, 1);
	if (pst_target_is_late(t, tid))
		return pst_error_set(err, PST_ERR_LATE, 0, "thread %d did not stop in time", tid);
	if (pst_ptrace_interrupt(tid, err) == 0)
		return 0;
	if (err->code == PST_ERR_PERM && is_exiting(t, tid))
		return pst_error_set(err, PST_ERR_GONE, 0, "thread %d has ended", tid);
	return err->code == PST_ERR_PERM ? pst_access_explain(t->pid, "stopping a thread", err)
					 : -1;
}

int pst_target_stop_thread(struct pst_target *t, pid_t tid, int64_t limit_ns,
	struct pst_stopped *stopped, struct pst_error *err)
{
	pst_target_block_signals(t);
	if (pst_target_ask_stop(t, tid, err) < 0 ||
		pst_target_await_stop(t, tid, pst_now_ns() + limit_ns, stopped, err) < 0) {
		pst_target_restore_signals(t);
		return -1;
	}
	return 0;
}

void pst_target_let_go(struct pst_target *t, struct pst_stopped *stopped)
{
	if (!pst_ptrace_detach(stopped->tid, stopped->signal))
		t->late[t->n_late++] = stopped->tid;
	stopped->tid = 0;
}

void pst_target_resume(struct pst_target *t, struct pst_stopped *stopped)
{
	pst_target_let_go(t, stopped);
	pst_target_restore_signals(t);
}

/* A late thread that stops now must not stand until the next sample. */
static void sleep_and_collect(struct pst_target *t, int64_t deadline_ns)
{
	sigset_t chld, saved;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &saved);
	pst_target_collect(t);
	while (t->n_late) {
		const int64_t left = deadline_ns - pst_now_ns();
		const struct timespec ts = { left / PST_NSEC_PER_SEC, left % PST_NSEC_PER_SEC };

		if (left <= 0 || (sigtimedwait(&chld, NULL, &ts) < 0 && errno == EINTR))
			break;
		pst_target_collect(t);
	}
	sigprocmask(SIG_SETMASK, &saved, NULL);
}

void pst_target_sleep(struct pst_target *t, int64_t deadline_ns)
{
	const struct timespec until = { deadline_ns / PST_NSEC_PER_SEC,
		deadline_ns % PST_NSEC_PER_SEC };

	if (t->n_late)
		sleep_and_collect(t, deadline_ns);
	if (!t->n_late)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
