/* Whose identity a launched program gets. */
#ifndef PYSTILL_IDENTITY_H
#define PYSTILL_IDENTITY_H

#include "pystill/error.h"

#include <sys/types.h>

/* The user who called sudo. */
struct pst_identity {
	uid_t uid;
	gid_t gid;
	char *name, *home; /* from malloc; NULL: keep what is in the environment */
};

/* Who called sudo, when we are root by it; uid 0 when we are not.  Returns 0, or -1 with ERR set: what sudo left in the
 * environment makes no sense. */
int pst_identity_of_sudo(struct pst_identity *out, struct pst_error *err);
void pst_identity_fini(struct pst_identity *identity);

/* Become that user, for good: groups, gid, uid, HOME, USER, LOGNAME.  In a process that is to exec.  Returns 0, or -1
 * with errno set. */
int pst_identity_become(const struct pst_identity *identity);

#endif
