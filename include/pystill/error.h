/* One error: a decision for the caller (the code), the errno behind it, and a message for the user.
 * It lives on the caller's stack and allocates nothing, since we may fail while a thread is stopped. */
#ifndef PYSTILL_ERROR_H
#define PYSTILL_ERROR_H

#include "pystill/base.h"

/* code, cause (in --errors=json), exit status on a verb's command line */
#define PST_ERROR_CODES(X)                                                                      \
	X(OTHER, "other", 1) /* none of the below */                                            \
	X(GONE, "gone", 3)   /* the process or thread ended: finish and write what we have */   \
	X(TORN, "other", 1)  /* an inconsistent read: drop this sample and count it */          \
	X(LATE, "other", 1)  /* a thread did not stop in time: drop this sample and count it */ \
	X(PERM, "permission", 4)      /* the kernel forbids it; the message names the rule */   \
	X(NOTPYTHON, "not-python", 5) /* no Python in the process (yet) */                      \
	X(UNSUPPORTED, "version", 6)  /* a Python that we cannot read */                        \
	X(IO, "io", 7)                /* input or output failed */                              \
	X(USAGE, "usage", 2)          /* the command line is wrong */

enum pst_error_code {
#define X(code, cause, status) PST_ERR_##code,
	PST_ERROR_CODES(X)
#undef X
		PST_ERR_COUNT
};

struct pst_error {
	enum pst_error_code code;
	int sys;       /* errno behind it, or 0 */
	char msg[512]; /* "what failed, on what: why; what to do" */
};

/* Fill ERR and return -1.  When SYS is not 0 its text is appended (": No such file or directory").
 * ERR may be NULL. */
int pst_error_set(struct pst_error *err, enum pst_error_code code, int sys, const char *fmt, ...)
	PST_PRINTF(4, 5);

/* Put "context: " before the message on the way up, and return -1. */
int pst_error_wrap(struct pst_error *err, const char *fmt, ...) PST_PRINTF(2, 3);

void pst_error_clear(struct pst_error *err);

/* The documented exit status of a verb, and the word for --errors=json. */
int pst_error_exit_status(const struct pst_error *err);
const char *pst_error_cause(const struct pst_error *err);

#endif
