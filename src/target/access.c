/* Rules that can forbid an attach: __ptrace_may_access() and the security modules above it. */
#define _GNU_SOURCE
#include "pystill/access.h"

#include "pystill/procfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAP_SYS_PTRACE_BIT 19 /* include/uapi/linux/capability.h */

struct situation {
	pid_t pid;
	struct pst_status target;
	uid_t target_owner; /* of its proc folder: root when it is not dumpable */
	bool may_ptrace;    /* we have CAP_SYS_PTRACE */
	int yama;           /* kernel.yama.ptrace_scope; 0 where there is none */
};

struct rule {
	bool (*applies)(const struct situation *s);
	const char *why; /* and the remedy */
};

static bool is_traced(const struct situation *s)
{
	return s->target.tracer != 0;
}

static bool is_other_user(const struct situation *s)
{
	return !s->may_ptrace && s->target.uid != geteuid();
}

static bool is_not_dumpable(const struct situation *s)
{
	return !s->may_ptrace && s->target_owner != s->target.uid;
}

static bool is_yama_off(const struct situation *s)
{
	return s->yama == 3;
}

static bool is_yama_admin(const struct situation *s)
{
	return s->yama == 2 && !s->may_ptrace;
}

static bool is_yama_child(const struct situation *s)
{
	return s->yama == 1 && !s->may_ptrace;
}

static bool lacks_capability(const struct situation *s)
{
	return !s->may_ptrace;
}

static bool always(const struct situation *s)
{
	(void)s;
	return true;
}

static const struct rule rules[] = {
	{ is_traced,
		"a debugger or another profiler traces it already (TracerPid in its status); "
		"end that one, or use --stop none" },
	{ is_yama_off, "ptrace_scope is 3: nobody may attach until the next boot" },
	{ is_other_user, "it belongs to another user; run as that user or as root" },
	{ is_not_dumpable, "it has hidden itself (set-user-id, or changed its user); run as root" },
	{ is_yama_admin, "ptrace_scope is 2; run as root" },
	{ is_yama_child,
		"ptrace_scope is 1; run as root, or set /proc/sys/kernel/yama/ptrace_scope to 0" },
	{ lacks_capability,
		"the kernel refuses it; run as root, in a container with --cap-add SYS_PTRACE" },
	{ always,
		"the kernel refuses it even with CAP_SYS_PTRACE: a seccomp filter, a security module, "
		"or a target in an outer user namespace; run outside of the container" },
};

static int read_yama(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%d", &scope) != 1)
		scope = 0;
	fclose(f);
	return scope;
}

static bool have_capability(int bit)
{
	cleanup_free char *text = pst_procfs_read(getpid(), 0, "status", NULL);
	const char *line = text ? strstr(text, "\nCapEff:") : NULL;

	return line && (strtoull(line + 8, NULL, 16) >> bit & 1);
}

int pst_access_explain(pid_t pid, const char *what, struct pst_error *err)
{
	struct situation s = { .pid = pid };
	const char *why = NULL;
	char path[32];
	struct stat st;

	if (pst_procfs_status(pid, 0, &s.target, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	s.target_owner = stat(path, &st) == 0 ? st.st_uid : s.target.uid;
	s.may_ptrace = have_capability(CAP_SYS_PTRACE_BIT);
	s.yama = read_yama();
	for (size_t i = 0; i < PST_ARRAY_SIZE(rules) && !why; i++)
		why = rules[i].applies(&s) ? rules[i].why : NULL;
	return pst_error_set(err, PST_ERR_PERM, 0, "%s, process %d: %s", what, pid, why);
}
