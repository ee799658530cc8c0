/* Under sudo: the caller, from what sudo leaves in the environment (sudo(8), "ENVIRONMENT"). */
#define _GNU_SOURCE
#include "pystill/identity.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_id(const char *variable, unsigned *out, struct pst_error *err)
{
	const char *text = getenv(variable);
	unsigned long value;
	char *end;

	errno = 0;
	value = text ? strtoul(text, &end, 10) : ULONG_MAX;
	if (!text || end == text || *end || errno || value >= UINT_MAX)
		return pst_error_set(err, PST_ERR_OTHER, 0,
			"%s is '%s', which is no id; unset it, or use --as-root", variable,
			text ? text : "");
	*out = (unsigned)value;
	return 0;
}

int pst_identity_of_sudo(struct pst_identity *out, struct pst_error *err)
{
	const struct passwd *entry;

	memset(out, 0, sizeof(*out));
	if (geteuid() != 0 || !getenv("SUDO_UID"))
		return 0;
	if (read_id("SUDO_UID", &out->uid, err) < 0 || read_id("SUDO_GID", &out->gid, err) < 0)
		return -1;
	if (out->uid == 0)
		return 0;
	entry = getpwuid(out->uid);
	if (entry) {
		out->name = pst_xstrdup(entry->pw_name);
		out->home = pst_xstrdup(entry->pw_dir);
	}
	return 0;
}

void pst_identity_fini(struct pst_identity *identity)
{
	free(identity->name);
	free(identity->home);
}

static int set_groups(const struct pst_identity *identity)
{
	if (identity->name)
		return initgroups(identity->name, identity->gid);
	return setgroups(1, &identity->gid);
}

int pst_identity_become(const struct pst_identity *identity)
{
	if (set_groups(identity) < 0 || setgid(identity->gid) < 0 || setuid(identity->uid) < 0)
		return -1;
	if (identity->home && setenv("HOME", identity->home, 1) < 0)
		return -1;
	if (identity->name &&
		(setenv("USER", identity->name, 1) < 0 || setenv("LOGNAME", identity->name, 1) < 0))
		return -1;
	return 0;
}
