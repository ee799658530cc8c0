/* procfs: whole files, the parts of `status`, and the watch on one thread's rest. */
#define _GNU_SOURCE
#include "pystill/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void make_path(char *path, size_t size, pid_t pid, pid_t tid, const char *name)
{
	if (tid)
		snprintf(path, size, "/proc/%d/task/%d/%s", pid, tid, name);
	else
		snprintf(path, size, "/proc/%d/%s", pid, name);
}

static int procfs_failed(pid_t pid, const char *path, int sys, struct pst_error *err)
{
	if (sys == ENOENT || sys == ESRCH)
		return pst_error_set(err, PST_ERR_GONE, 0, "no process %d", pid);
	return pst_error_set(err, sys == EACCES || sys == EPERM ? PST_ERR_PERM : PST_ERR_IO, sys,
		"reading %s", path);
}

char *pst_procfs_read(pid_t pid, pid_t tid, const char *name, struct pst_error *err)
{
	cleanup_free char *text = NULL;
	cleanup_close int fd = -1;
	size_t cap = 0, len = 0;
	char path[96];
	ssize_t n;

	make_path(path, sizeof(path), pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		procfs_failed(pid, path, errno, err);
		return NULL;
	}
	do {
		text = pst_grow(text, &cap, len + 4096, 1);
		n = read(fd, text + len, cap - len - 1);
		if (n < 0) {
			procfs_failed(pid, path, errno, err);
			return NULL;
		}
		len += (size_t)n;
	} while (n > 0);
	text[len] = '\0';
	return pst_steal(&text);
}

char *pst_procfs_readlink(pid_t pid, const char *name, struct pst_error *err)
{
	char path[96], target[4096];
	ssize_t n;

	make_path(path, sizeof(path), pid, 0, name);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0) {
		procfs_failed(pid, path, errno, err);
		return NULL;
	}
	target[n] = '\0';
	return pst_xstrdup(target);
}

static void parse_ns_pids(struct pst_status *status, const char *value)
{
	char *end;

	for (status->n_ns_pid = 0; status->n_ns_pid < PST_MAX_PID_NAMESPACES; value = end) {
		const long id = strtol(value, &end, 10);

		if (end == value)
			return;
		status->ns_pid[status->n_ns_pid++] = (pid_t)id;
	}
}

static void parse_status_line(struct pst_status *status, const char *key, const char *value)
{
	if (!strcmp(key, "Name"))
		snprintf(status->name, sizeof(status->name), "%.*s", (int)strcspn(value, "\n"),
			value);
	else if (!strcmp(key, "State"))
		status->state = *value;
	else if (!strcmp(key, "Tgid"))
		status->tgid = atoi(value);
	else if (!strcmp(key, "TracerPid"))
		status->tracer = atoi(value);
	else if (!strcmp(key, "Uid"))
		status->uid = (uid_t)strtoul(value, NULL, 10);
	else if (!strcmp(key, "Kthread"))
		status->kernel_thread = atoi(value) != 0;
	else if (!strcmp(key, "NSpid"))
		parse_ns_pids(status, value);
	else if (!strcmp(key, "voluntary_ctxt_switches") ||
		!strcmp(key, "nonvoluntary_ctxt_switches"))
		status->switches += strtoull(value, NULL, 10);
}

void pst_status_parse(struct pst_status *status, const char *text)
{
	while (*text) {
		const char *end = strchrnul(text, '\n');
		const char *colon = memchr(text, ':', (size_t)(end - text));
		char key[40];

		if (colon && (size_t)(colon - text) < sizeof(key)) {
			const char *value = colon + 1 + strspn(colon + 1, " \t");

			memcpy(key, text, (size_t)(colon - text));
			key[colon - text] = '\0';
			if (value <= end)
				parse_status_line(status, key, value);
		}
		text = *end ? end + 1 : end;
	}
}

int pst_procfs_status(pid_t pid, pid_t tid, struct pst_status *status, struct pst_error *err)
{
	cleanup_free char *text = pst_procfs_read(pid, tid, "status", err);

	if (!text)
		return -1;
	memset(status, 0, sizeof(*status));
	pst_status_parse(status, text);
	return 0;
}

int pst_procfs_tids(pid_t pid, pid_t **tids, struct pst_error *err)
{
	const struct dirent *entry;
	size_t cap = 0, n = 0;
	char path[64];
	DIR *dir;

	*tids = NULL;
	make_path(path, sizeof(path), pid, 0, "task");
	dir = opendir(path);
	if (!dir)
		return procfs_failed(pid, path, errno, err);
	while ((entry = readdir(dir))) {
		const int tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		*tids = pst_grow(*tids, &cap, n + 1, sizeof(**tids));
		(*tids)[n++] = tid;
	}
	closedir(dir);
	return (int)n;
}

int pst_procfs_children(pid_t pid, pid_t **children)
{
	cleanup_free pid_t *tids = NULL;
	const int n_tids = pst_procfs_tids(pid, &tids, NULL);
	size_t cap = 0, n = 0;

	*children = NULL;
	for (int i = 0; i < n_tids; i++) {
		cleanup_free char *text = pst_procfs_read(pid, tids[i], "children", NULL);
		char *at = text, *end;

		for (; at; at = end) {
			const long child = strtol(at, &end, 10);

			if (end == at)
				break;
			*children = pst_grow(*children, &cap, n + 1, sizeof(**children));
			(*children)[n++] = (pid_t)child;
		}
	}
	return (int)n;
}

static int open_thread_file(pid_t pid, pid_t tid, const char *name)
{
	char path[96];

	make_path(path, sizeof(path), pid, tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void pst_watch_open(struct pst_watch *watch, pid_t pid, pid_t tid)
{
	watch->pid = pid;
	watch->tid = tid;
	watch->schedstat_fd = open_thread_file(pid, tid, "schedstat");
	watch->syscall_fd = open_thread_file(pid, tid, "syscall");
}

void pst_watch_close(struct pst_watch *watch)
{
	pst_cleanup_close(&watch->schedstat_fd);
	pst_cleanup_close(&watch->syscall_fd);
	watch->schedstat_fd = watch->syscall_fd = -1;
}

/* Read a small file, through the kept descriptor or (too many threads) one of the moment. */
static ssize_t read_small(
	const struct pst_watch *watch, int kept_fd, const char *name, char *buf, size_t cap)
{
	cleanup_close int fd = -1;
	ssize_t n;

	if (kept_fd < 0)
		fd = open_thread_file(watch->pid, watch->tid, name);
	n = pread(kept_fd < 0 ? fd : kept_fd, buf, cap - 1, 0);
	buf[n < 0 ? 0 : n] = '\0';
	return n;
}

/* schedstat: time on a CPU, time waiting for one, times scheduled (kernel/sched/stats.h).  It is all
 * zeros where the kernel keeps no such figures. */
static bool read_schedstat(const struct pst_watch *watch, uint64_t *runs)
{
	const char *times;
	char buf[128];

	if (read_small(watch, watch->schedstat_fd, "schedstat", buf, sizeof(buf)) <= 0)
		return false;
	times = strrchr(buf, ' '); /* read for every thread in every sample: no sscanf() */
	*runs = times ? strtoull(times + 1, NULL, 10) : 0;
	return *runs != 0;
}

/* Without schedstat the context switches serve. */
static bool count_runs(const struct pst_watch *watch, uint64_t *runs)
{
	struct pst_status status;

	if (read_schedstat(watch, runs))
		return true;
	if (pst_procfs_status(watch->pid, watch->tid, &status, NULL) < 0)
		return false;
	*runs = status.switches;
	return true;
}

/* `syscall` says "running" unless the thread is off the CPU for good: task_current_syscall() waits until
 * it has left its run queue.  Where that file is missing or forbidden the state has to do; the small
 * hole is a thread that is about to block. */
static enum pst_rest rest_now(const struct pst_watch *watch)
{
	struct pst_status status;
	char buf[256];
	const ssize_t n = read_small(watch, watch->syscall_fd, "syscall", buf, sizeof(buf));

	if (n > 0)
		return strncmp(buf, "running", 7) == 0 ? PST_REST_RUNNING : PST_REST_ASLEEP;
	if (pst_procfs_status(watch->pid, watch->tid, &status, NULL) < 0)
		return PST_REST_GONE;
	if (strchr("ZX", status.state))
		return PST_REST_GONE;
	return strchr("SDTt", status.state) ? PST_REST_ASLEEP : PST_REST_RUNNING;
}

enum pst_rest pst_watch_rest(const struct pst_watch *watch, uint64_t *runs)
{
	if (!count_runs(watch, runs))
		return PST_REST_GONE;
	return rest_now(watch);
}

/* schedstat counts how often the thread was put on a CPU, and `status` how often it was taken off one
 * (__schedule() in kernel/sched/core.c): both are equal exactly while it is off.  As the former is read after
 * the latter, being equal means that it was off when the latter was read, and has not come back since. */
bool pst_watch_preempted(const struct pst_watch *watch, uint64_t *runs)
{
	struct pst_status status;

	return pst_procfs_status(watch->pid, watch->tid, &status, NULL) == 0 &&
		read_schedstat(watch, runs) && *runs == status.switches;
}

bool pst_watch_runs(const struct pst_watch *watch, uint64_t *runs)
{
	return count_runs(watch, runs);
}

bool pst_watch_rested(const struct pst_watch *watch, uint64_t runs)
{
	uint64_t now;

	return count_runs(watch, &now) && now == runs;
}
