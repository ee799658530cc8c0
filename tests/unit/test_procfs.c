/* Status files, and what procfs says of ourselves and of a child. */
#define _GNU_SOURCE
#include "unit.h"

#include "pystill/procfs.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char real[] = "Name:\tpython3 (x): y\n"
			   "Umask:\t0022\n"
			   "State:\tS (sleeping)\n"
			   "Tgid:\t4242\n"
			   "Ngid:\t0\n"
			   "Pid:\t4243\n"
			   "PPid:\t1\n"
			   "TracerPid:\t77\n"
			   "Uid:\t1000\t1001\t1002\t1003\n"
			   "Gid:\t5\t5\t5\t5\n"
			   "NStgid:\t4242\t7\n"
			   "NSpid:\t4243\t8\t1\n"
			   "NSpgid:\t4242\t7\t1\n"
			   "Kthread:\t0\n"
			   "VmPeak:\t   10240 kB\n"
			   "Speculation_Store_Bypass_and_some_more_of_it:\tvulnerable\n"
			   "Cpus_allowed_list:\t0-3\n"
			   "voluntary_ctxt_switches:\t12345678901\n"
			   "nonvoluntary_ctxt_switches:\t9\n";

static void test_real(void)
{
	struct pst_status st = { 0 };

	pst_status_parse(&st, real);
	CHECK_TEXT(st.name, "python3 (x): y");
	CHECK_INT(st.state, 'S');
	CHECK_INT(st.tgid, 4242);
	CHECK_INT(st.tracer, 77);
	CHECK_INT(st.uid, 1000);
	CHECK(!st.kernel_thread);
	REQUIRE(st.n_ns_pid == 3);
	CHECK_INT(st.ns_pid[0], 4243);
	CHECK_INT(st.ns_pid[1], 8);
	CHECK_INT(st.ns_pid[2], 1);
	CHECK_INT(st.switches, 12345678910);
}

static void test_absent(void)
{
	struct pst_status st = { .name = "old",
		.state = 'R',
		.tgid = 1,
		.tracer = 2,
		.uid = 3,
		.n_ns_pid = 1,
		.ns_pid = { 4 },
		.switches = 5 };
	const struct pst_status before = st;

	pst_status_parse(&st, "");
	pst_status_parse(&st, "\n\nPid:\t9\nNoColon\nSTATE:\tZ\nTgid2:\t5\n:\t6\n");
	CHECK_BYTES(&st, sizeof(st), &before, sizeof(before));
}

static void test_odd(void)
{
	struct pst_status st = { 0 };

	pst_status_parse(&st, "Kthread:\t1\nState:Z\nTgid: \t 12\nUid:\t4294967294\t0\t0\t0");
	CHECK(st.kernel_thread);
	CHECK_INT(st.state, 'Z');
	CHECK_INT(st.tgid, 12);
	CHECK(st.uid == 4294967294u);
}

static void test_long_name(void)
{
	struct pst_status st = { 0 };
	char text[200];

	snprintf(text, sizeof(text), "Name:\t%0100d\nState:\tD\n", 7);
	pst_status_parse(&st, text);
	CHECK_INT(strlen(st.name), sizeof(st.name) - 1);
	CHECK_INT(st.state, 'D');
}

static void test_many_namespaces(void)
{
	struct pst_status st = { 0 };
	char text[1000] = "NSpid:";

	for (int i = 1; i <= 60; i++)
		snprintf(text + strlen(text), 16, "\t%d", i);
	strcat(text, "\nTgid:\t3\n");
	pst_status_parse(&st, text);
	CHECK_INT(st.n_ns_pid, PST_MAX_PID_NAMESPACES);
	CHECK_INT(st.ns_pid[PST_MAX_PID_NAMESPACES - 1], PST_MAX_PID_NAMESPACES);
	CHECK_INT(st.tgid, 3);
	pst_status_parse(&st, "NSpid:\t5\nNStgid:\t6\n");
	CHECK_INT(st.n_ns_pid, 1);
	CHECK_INT(st.ns_pid[0], 5);
}

static void test_cut(void)
{
	const size_t len = strlen(real);

	for (size_t cut = 0; cut <= len; cut++) {
		char *text = pst_xmalloc(cut + 1);
		struct pst_status st = { 0 };

		memcpy(text, real, cut);
		text[cut] = '\0';
		pst_status_parse(&st, text);
		CHECK(st.n_ns_pid <= 3);
		free(text);
	}
}

static void test_own_files(void)
{
	struct pst_error err = { 0 };
	cleanup_free char *status = pst_procfs_read(getpid(), 0, "status", &err),
			  *thread = pst_procfs_read(getpid(), gettid(), "comm", &err),
			  *exe = pst_procfs_readlink(getpid(), "exe", &err);
	struct pst_status st;
	char target[4096];
	ssize_t len;

	REQUIRE(status && thread && exe);
	len = readlink("/proc/self/exe", target, sizeof(target));
	CHECK_BYTES(exe, strlen(exe), target, (size_t)len);
	memset(&st, 0xff, sizeof(st));
	CHECK(strncmp(status, "Name:", 5) == 0);
	CHECK(exe[0] == '/');
	CHECK_INT(thread[strlen(thread) - 1], '\n');
	CHECK_DONE(pst_procfs_status(getpid(), 0, &st, &err), &err);
	CHECK_INT(st.tgid, getpid());
	CHECK_INT(st.uid, getuid());
	CHECK(st.n_ns_pid >= 1 && st.ns_pid[0] == getpid());
	CHECK_INT(st.state, 'R');
	CHECK_INT(st.tracer, 0);
	CHECK(!st.kernel_thread && st.switches < 1ull << 40);
}

/* What is there but cannot be read is no sign that the process has ended. */
static void test_unreadable(void)
{
	struct pst_error err = { 0 };

	CHECK(!pst_procfs_read(getpid(), 0, "task", &err));
	CHECK_INT(err.code, PST_ERR_IO);
	CHECK_INT(err.sys, EISDIR);
	CHECK(strstr(err.msg, "/task") != NULL);
	if (geteuid() == 0)
		return;
	CHECK(!pst_procfs_read(1, 0, "environ", &err));
	CHECK(err.code == PST_ERR_PERM || err.code == PST_ERR_GONE);
}

/* A file of more than one read: the map of a process with many mappings. */
static void test_long_file(void)
{
	enum { PAGES = 800, PAGE = 4096 };
	struct pst_error err = { 0 };
	cleanup_free char *text = NULL;
	size_t lines = 0;
	char *p = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(p != MAP_FAILED);
	for (size_t i = 0; i < PAGES; i += 2)
		CHECK(mprotect(p + i * PAGE, PAGE, PROT_READ) == 0);
	text = pst_procfs_read(getpid(), 0, "maps", &err);
	REQUIRE(text != NULL);
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	CHECK(lines > PAGES && strlen(text) > 8192);
	CHECK_INT(text[strlen(text) - 1], '\n');
	munmap(p, PAGES * PAGE);
}

static void test_nobody(void)
{
	struct pst_error err = { 0 };
	struct pst_status st;
	pid_t *ids = NULL;

	CHECK(!pst_procfs_read(INT_MAX, 0, "status", &err));
	CHECK_INT(err.code, PST_ERR_GONE);
	CHECK(strstr(err.msg, "2147483647") != NULL);
	pst_error_clear(&err);
	CHECK(!pst_procfs_readlink(INT_MAX, "exe", &err));
	CHECK_INT(err.code, PST_ERR_GONE);
	CHECK_ERROR(pst_procfs_status(getpid(), INT_MAX, &st, &err), &err, PST_ERR_GONE);
	CHECK_ERROR(pst_procfs_tids(INT_MAX, &ids, &err), &err, PST_ERR_GONE);
	CHECK(ids == NULL);
	CHECK_INT(pst_procfs_children(INT_MAX, &ids), 0);
	pst_cleanup_free(&ids);
}

/* ---- a child that sleeps, and wakes up at each SIGUSR1 ---- */

static void wake(int sig)
{
	(void)sig;
}

static pid_t start_child(void)
{
	const pid_t pid = fork();

	REQUIRE(pid >= 0);
	if (pid == 0) {
		signal(SIGUSR1, wake);
		for (;;)
			pause();
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool has_id(const pid_t *ids, int n, pid_t id)
{
	for (int i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static void test_lists(void)
{
	cleanup_free pid_t *tids = NULL, *children = NULL;
	struct pst_error err = { 0 };
	const pid_t child = start_child();
	int n;

	n = pst_procfs_tids(getpid(), &tids, &err);
	CHECK(n >= 1 && has_id(tids, n, gettid()));
	n = pst_procfs_children(getpid(), &children);
	if (access("/proc/thread-self/children", F_OK) == 0 || n > 0)
		CHECK(has_id(children, n, child));
	end_child(child);
}

/* Wait for the child to fall asleep, ten seconds at most. */
static bool falls_asleep(const struct pst_watch *watch, uint64_t *runs)
{
	for (int i = 0; i < 1000; i++) {
		if (pst_watch_rest(watch, runs) == PST_REST_ASLEEP &&
			pst_watch_rested(watch, *runs))
			return true;
		usleep(10000);
	}
	return false;
}

/* KEPT: with descriptors that stay open, and without. */
static void check_watch(bool kept)
{
	const pid_t child = start_child();
	struct pst_watch watch;
	uint64_t runs = 0;

	pst_watch_open(&watch, child, child);
	if (!kept)
		pst_watch_close(&watch);
	unit_row(kept ? "kept" : "not kept");
	CHECK(falls_asleep(&watch, &runs));
	CHECK_INT(pst_watch_rest(&watch, &runs), PST_REST_ASLEEP);
	CHECK(pst_watch_rested(&watch, runs));
	CHECK(runs > 0);
	kill(child, SIGUSR1);
	for (int i = 0; i < 1000 && pst_watch_rested(&watch, runs); i++)
		usleep(10000);
	CHECK(!pst_watch_rested(&watch, runs));
	end_child(child);
	CHECK_INT(pst_watch_rest(&watch, &runs), PST_REST_GONE);
	CHECK(!pst_watch_rested(&watch, runs));
	pst_watch_close(&watch);
	CHECK(watch.schedstat_fd == -1 && watch.syscall_fd == -1);
}

static void test_watch(void)
{
	check_watch(true);
	check_watch(false);
}

/* Does the kernel count how often a thread is put on a CPU? */
static bool has_schedstat(void)
{
	struct pst_error err = { 0 };
	cleanup_free char *text = pst_procfs_read(getpid(), 0, "schedstat", &err);
	unsigned long long times = 0;

	return text && sscanf(text, "%*u %*u %llu", &times) == 1 && times > 0;
}

/* A child that never sleeps, on the one CPU that we are on too: while we run, it waits. */
static pid_t start_rival(cpu_set_t *before)
{
	cpu_set_t one;
	pid_t pid;

	REQUIRE(sched_getaffinity(0, sizeof(*before), before) == 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
	pid = fork();
	REQUIRE(pid >= 0);
	while (pid == 0)
		;
	return pid;
}

/* Our own turn may end between two looks: some tries are due. */
static bool seen_waiting(const struct pst_watch *watch, uint64_t *runs)
{
	for (int i = 0; i < 100; i++) {
		if (pst_watch_preempted(watch, runs) && pst_watch_rested(watch, *runs))
			return true;
		usleep(1000);
	}
	return false;
}

static void test_watch_rival(void)
{
	cpu_set_t before;
	const pid_t child = start_rival(&before);
	struct pst_watch watch;
	uint64_t runs = 0;

	pst_watch_open(&watch, child, child);
	CHECK_INT(pst_watch_rest(&watch, &runs), PST_REST_RUNNING);
	CHECK_INT(seen_waiting(&watch, &runs), has_schedstat());
	for (int i = 0; i < 1000 && pst_watch_rested(&watch, runs); i++)
		usleep(1000);
	CHECK(!pst_watch_rested(&watch, runs));
	sched_setaffinity(0, sizeof(before), &before);
	end_child(child);
	CHECK(!pst_watch_preempted(&watch, &runs));
	pst_watch_close(&watch);
}

static CU_TestInfo tests[] = {
	{ "a real status file", test_real },
	{ "lines that are not there", test_absent },
	{ "odd lines", test_odd },
	{ "a long name", test_long_name },
	{ "many pid namespaces", test_many_namespaces },
	{ "a text that is cut off", test_cut },
	{ "our own files", test_own_files },
	{ "a file that cannot be read", test_unreadable },
	{ "a long file", test_long_file },
	{ "no such process", test_nobody },
	{ "threads and children", test_lists },
	{ "watch a sleeper", test_watch },
	{ "watch one that waits for a CPU", test_watch_rival },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_procfs = { "procfs", NULL, NULL, NULL, NULL, tests };
