/* Starting a program, and standing in front of it.  Signals are never handled: they are blocked, and taken up in
 * pst_launch_wait(), so none comes at a bad moment.  Nothing that the program inherits is touched before the fork. */
#define _GNU_SOURCE
#include "pystill/launch.h"

#include "pystill/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_AFTER_NS PST_NSEC_PER_SEC
#define RESUMED_NS      (10 * PST_NSEC_PER_MSEC) /* a signal to a group has reached all of it by then */
#define STOPPING_NS     (10 * PST_NSEC_PER_SEC) /* a handler of the program may take its time */

/* What becomes of a signal to us.  Those of a terminal reach the program by themselves. */
enum disposal {
	OBEY,   /* pass it on; the second one ends the run */
	PASS,   /* pass it on */
	STOP,   /* pass it on, and stop when the program stops */
	RESUME, /* the program must not stay stopped alone */
	DROP,
};

/* clang-format off */
static const struct {
	int signal;
	enum disposal disposal;
} disposals[] = {
	{ SIGINT,  OBEY },
	{ SIGTERM, OBEY },
	{ SIGHUP,  OBEY },
	{ SIGQUIT, OBEY },
	{ SIGUSR2, PASS },
	{ SIGTSTP, STOP },
	{ SIGCONT, RESUME },
	{ SIGUSR1, DROP }, /* ours */
	{ SIGCHLD, DROP }, /* it only wakes us */
};
/* clang-format on */

struct pst_launch {
	pid_t pid;
	const char *name; /* borrowed */
	sigset_t set, saved_mask;
	struct sigaction saved_chld;
	int64_t told_ns[PST_ARRAY_SIZE(disposals)]; /* when first, 0: not yet */
	int64_t stop_asked_ns;                      /* when the job was asked to stop last */
	int stopped; /* the signal that the program stands stopped by, or 0 */
	bool ended;
	int status; /* exit status of ours */
	int let_go; /* the signal that made us give up, or 0 */
};

/* ---- the start ---- */

static _Noreturn void become(const struct pst_launch *l, char *const *argv,
	const struct pst_identity *identity, int report_fd)
{
	int sys;

	sigaction(SIGCHLD, &l->saved_chld, NULL);
	sigprocmask(SIG_SETMASK, &l->saved_mask, NULL);
	if (identity->uid == 0 || pst_identity_become(identity) == 0)
		execvp(argv[0], argv);
	sys = errno;
	while (write(report_fd, &sys, sizeof(sys)) < 0 && errno == EINTR)
		;
	_exit(PST_STATUS_NOT_FOUND);
}

/* Returns the errno that kept the child from being the program, or 0. */
static int await_exec(int fd)
{
	int sys = 0;
	ssize_t n;

	do
		n = read(fd, &sys, sizeof(sys));
	while (n < 0 && errno == EINTR);
	return n == sizeof(sys) ? sys : 0;
}

static int start(struct pst_launch *l, char *const *argv, const struct pst_identity *identity)
{
	cleanup_close int report = -1;
	int fds[2], sys;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	report = fds[0];
	l->pid = fork();
	if (l->pid == 0)
		become(l, argv, identity, fds[1]);
	sys = errno;
	close(fds[1]);
	if (l->pid < 0)
		return sys;
	sys = await_exec(report);
	if (sys)
		waitpid(l->pid, NULL, 0);
	return sys;
}

static void take_signals(struct pst_launch *l)
{
	const struct sigaction chld = { .sa_handler = SIG_DFL }; /* ignored, ends are not told */
	struct sigaction hup;

	sigemptyset(&l->set);
	for (size_t i = 0; i < PST_ARRAY_SIZE(disposals); i++)
		sigaddset(&l->set, disposals[i].signal);
	sigaction(SIGHUP, NULL, &hup);
	if (hup.sa_handler == SIG_IGN) /* nohup */
		sigdelset(&l->set, SIGHUP);
	sigprocmask(SIG_BLOCK, &l->set, &l->saved_mask);
	sigaction(SIGCHLD, &chld, &l->saved_chld);
}

struct pst_launch *pst_launch_start(
	char *const *argv, bool as_root, int *status, struct pst_error *err)
{
	struct pst_identity identity = { 0 };
	struct pst_launch *l;
	int sys;

	*status = 0;
	if (!as_root && pst_identity_of_sudo(&identity, err) < 0)
		return NULL;
	l = pst_xcalloc(1, sizeof(*l));
	l->name = argv[0];
	take_signals(l);
	sys = start(l, argv, &identity);
	pst_identity_fini(&identity);
	if (!sys)
		return l;
	*status = sys == ENOENT ? PST_STATUS_NOT_FOUND : PST_STATUS_NOT_EXECUTABLE;
	pst_error_set(err, PST_ERR_OTHER, sys, "running %s", argv[0]);
	pst_launch_free(l);
	return NULL;
}

void pst_launch_free(struct pst_launch *l)
{
	if (!l)
		return;
	while (sigtimedwait(&l->set, NULL, &(struct timespec){ 0, 0 }) > 0)
		; /* what came too late would kill us now */
	sigprocmask(SIG_SETMASK, &l->saved_mask, NULL);
	free(l);
}

const char *pst_launch_name(const struct pst_launch *l)
{
	return l->name;
}

pid_t pst_launch_pid(const struct pst_launch *l)
{
	return l->pid;
}

int pst_launch_status(const struct pst_launch *l)
{
	return l->let_go ? 128 + l->let_go : l->status;
}

/* ---- stops of the job ---- */

static bool is_stopped(pid_t pid)
{
	struct pst_status status;

	return pst_procfs_status(pid, 0, &status, NULL) == 0 && status.state == 'T';
}

static void nap(int64_t ns)
{
	const struct timespec ts = { 0, ns };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* Whoever lets us go on means the program, too; after a signal to the whole group it goes on by itself. */
static void resume(struct pst_launch *l)
{
	nap(RESUMED_NS);
	if (is_stopped(l->pid))
		kill(l->pid, SIGCONT);
	l->stopped = 0;
}

/* Stop as the program did, so that the shell sees the job stopped. */
static void stop_too(struct pst_launch *l, int signal)
{
	const struct sigaction stop = { .sa_handler = SIG_DFL };
	struct sigaction saved;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	if (signal != SIGSTOP)
		sigaction(signal, &stop, &saved);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &l->set, NULL);
	if (signal != SIGSTOP)
		sigaction(signal, &saved, NULL);
	l->stop_asked_ns = 0;
	resume(l);
}

/* A program that stops because it is in the background, or after the job was asked to stop, has stopped the job.  One
 * that someone stopped by itself has not. */
static void follow_stop(struct pst_launch *l)
{
	const bool asked = l->stop_asked_ns && pst_now_ns() - l->stop_asked_ns < STOPPING_NS;

	if (l->stopped && (l->stopped == SIGTTIN || l->stopped == SIGTTOU || asked))
		stop_too(l, l->stopped);
}

/* ---- its end ---- */

static void child_ended(struct pst_launch *l, int wait_status)
{
	l->ended = true;
	l->status =
		WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* While the program is seized its stops are told to any wait (wait_task_stopped() in the kernel), so waiting is then the
 * target's alone; it may also come upon the end. */
static void look_at_child(struct pst_launch *l, struct pst_target *target)
{
	const bool ours = target && target->pid == l->pid;
	const bool late = ours && pst_target_is_late(target, l->pid);
	int status;

	if (ours && target->ended)
		child_ended(l, target->wait_status);
	if (l->ended || late || waitpid(l->pid, &status, WNOHANG | WUNTRACED | WCONTINUED) <= 0)
		return;
	if (WIFSTOPPED(status))
		l->stopped = WSTOPSIG(status);
	else if (WIFCONTINUED(status))
		l->stopped = 0;
	else
		child_ended(l, status);
}

/* ---- signals to us ---- */

/* The terminal signals the whole group, and so may the program itself. */
static bool reached_it(const struct pst_launch *l, const siginfo_t *info)
{
	return info->si_code == SI_KERNEL || info->si_pid == l->pid;
}

static void pass(const struct pst_launch *l, const siginfo_t *info)
{
	if (!reached_it(l, info))
		kill(l->pid, info->si_signo);
}

static void obey(struct pst_launch *l, size_t i, const siginfo_t *info)
{
	const int64_t now_ns = pst_now_ns();

	if (!l->told_ns[i]) {
		l->told_ns[i] = now_ns;
		pass(l, info);
	} else if (now_ns - l->told_ns[i] >= SECOND_AFTER_NS) {
		l->let_go = info->si_signo;
	}
}

static void dispose(struct pst_launch *l, const siginfo_t *info)
{
	size_t i = 0;

	while (i + 1 < PST_ARRAY_SIZE(disposals) && disposals[i].signal != info->si_signo)
		i++;
	switch (disposals[i].disposal) {
	case OBEY: obey(l, i, info); break;
	case PASS: pass(l, info); break;
	case STOP:
		l->stop_asked_ns = pst_now_ns();
		pass(l, info);
		break;
	case RESUME: resume(l); break;
	case DROP: break;
	}
}

enum pst_launch_event pst_launch_wait(
	struct pst_launch *l, struct pst_target *target, int64_t deadline_ns)
{
	for (;;) {
		struct timespec ts = { 0, 0 };
		int64_t left_ns;
		siginfo_t info;

		if (target)
			pst_target_collect(target);
		look_at_child(l, target);
		if (l->let_go)
			return PST_LAUNCH_LET_GO;
		if (l->ended)
			return PST_LAUNCH_ENDED;
		follow_stop(l);
		left_ns = deadline_ns - pst_now_ns();
		if (left_ns > 0)
			ts = (struct timespec){ left_ns / PST_NSEC_PER_SEC,
				left_ns % PST_NSEC_PER_SEC };
		if (sigtimedwait(&l->set, &info, &ts) > 0)
			dispose(l, &info);
		else if (left_ns <= 0)
			return PST_LAUNCH_GOES_ON;
	}
}
