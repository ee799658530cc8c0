/* Stopping: real threads of real processes. */
#define _GNU_SOURCE
#include "unit.h"

#include "pystill/target.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND PST_NSEC_PER_SEC

/* A child that counts in memory that it shares with us. */
struct counter {
	pid_t pid;
	volatile uint64_t *n;
	struct pst_target *target;
	struct pst_error err;
};

static void begin(struct counter *c)
{
	*c = (struct counter){ 0 };
	c->n = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(c->n != MAP_FAILED);
	c->pid = fork();
	if (c->pid == 0)
		for (;;)
			++*c->n;
	MUST(c->pid > 0);
	c->target = pst_target_open(c->pid, NULL, &c->err);
	MUST(c->target);
}

static void end(struct counter *c)
{
	pst_target_close(c->target);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	munmap((void *)c->n, 4096);
}

static bool counts(const struct counter *c)
{
	const uint64_t before = *c->n;
	const int64_t until_ns = pst_now_ns() + 5 * SECOND;

	while (*c->n == before && pst_now_ns() < until_ns)
		usleep(100);
	return *c->n != before;
}

static void test_stop(void)
{
	struct pst_stopped stopped;
	struct counter c;
	uint64_t n;

	begin(&c);
	for (int i = 0; i < 20; i++) {
		CHECK_DONE(
			pst_target_stop_thread(c.target, c.pid, SECOND, &stopped, &c.err), &c.err);
		n = *c.n;
		usleep(1000);
		CHECK_INT(*c.n, n);
		pst_target_resume(c.target, &stopped);
		CHECK(counts(&c));
	}
	CHECK_INT(c.target->n_late, 0);
	end(&c);
}

/* A signal that comes while it stands is delivered once it goes on. */
static void test_signal(void)
{
	struct pst_stopped stopped;
	struct counter c;
	int status;

	begin(&c);
	CHECK_DONE(pst_target_stop_thread(c.target, c.pid, SECOND, &stopped, &c.err), &c.err);
	kill(c.pid, SIGUSR1);
	pst_target_resume(c.target, &stopped);
	CHECK_INT(waitpid(c.pid, &status, 0), c.pid);
	CHECK_INT(WTERMSIG(status), SIGUSR1);
	end(&c);
}

/* Killed in the stop: it remains ours until its end is seen, which would be lost to its parent, were that not us. */
static void test_killed(void)
{
	const int64_t until_ns = pst_now_ns() + 5 * SECOND;
	struct pst_stopped stopped;
	struct counter c;

	begin(&c);
	CHECK_DONE(pst_target_stop_thread(c.target, c.pid, SECOND, &stopped, &c.err), &c.err);
	kill(c.pid, SIGKILL);
	pst_target_resume(c.target, &stopped);
	CHECK_INT(c.target->n_late, 1);
	CHECK(pst_target_is_late(c.target, c.pid));
	CHECK_ERROR(pst_target_stop_thread(c.target, c.pid, SECOND, &stopped, &c.err), &c.err,
		PST_ERR_LATE);
	while (c.target->n_late && pst_now_ns() < until_ns)
		pst_target_collect(c.target);
	CHECK_INT(c.target->n_late, 0);
	CHECK(c.target->ended);
	CHECK_INT(WTERMSIG(c.target->wait_status), SIGKILL);
	CHECK_ERROR(pst_target_stop_thread(c.target, c.pid, SECOND, &stopped, &c.err), &c.err,
		PST_ERR_GONE);
	end(&c);
}

/* In vfork() a process does not stop until its child lets it; then it is let go by itself. */
static void test_late(void)
{
	const int64_t until_ns = pst_now_ns() + 5 * SECOND;
	struct pst_stopped stopped;
	struct counter c;
	int status;

	begin(&c);
	kill(c.pid, SIGKILL);
	waitpid(c.pid, NULL, 0);
	pst_target_close(c.target);
	c.pid = fork();
	if (c.pid == 0) {
		const pid_t child = vfork();

		if (child == 0) {
			usleep(300000);
			_exit(0);
		}
		++*c.n;
		_exit(7);
	}
	usleep(100000);
	c.target = pst_target_open(c.pid, NULL, &c.err);
	MUST(c.target);
	CHECK_ERROR(pst_target_stop_thread(c.target, c.pid, PST_NSEC_PER_MSEC, &stopped, &c.err),
		&c.err, PST_ERR_LATE);
	CHECK(pst_target_is_late(c.target, c.pid));
	while (c.target->n_late && pst_now_ns() < until_ns)
		pst_target_sleep(c.target, pst_now_ns() + PST_NSEC_PER_MSEC);
	CHECK_INT(c.target->n_late, 0);
	if (!c.target->ended) {
		CHECK_INT(waitpid(c.pid, &status, 0), c.pid);
		CHECK_INT(WEXITSTATUS(status), 7);
	}
	end(&c);
}

static void test_open(void)
{
	struct pst_error err = { 0 };
	struct counter c;

	begin(&c);
	CHECK(!pst_target_open(getpid(), NULL, &err));
	CHECK_INT(err.code, PST_ERR_USAGE);
	kill(c.pid, SIGKILL);
	waitid(P_PID, (id_t)c.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	CHECK(!pst_target_open(c.pid, NULL, &err));
	CHECK_INT(err.code, PST_ERR_GONE);
	end(&c);
}

static CU_TestInfo tests[] = {
	{ "stop and go on", test_stop },
	{ "a signal in the stop", test_signal },
	{ "killed in the stop", test_killed },
	{ "a stop that comes late", test_late },
	{ "processes that cannot be looked at", test_open },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_target = { "target", NULL, NULL, NULL, NULL, tests };
