/* Why the kernel forbids us to look at a process: rows of rules, checked in order; the first that applies
 * is named with its remedy. */
#ifndef PYSTILL_ACCESS_H
#define PYSTILL_ACCESS_H

#include "pystill/error.h"

#include <sys/types.h>

/* Fill ERR (PERM) with "WHAT, process PID: why; what to do" and return -1. */
int pst_access_explain(pid_t pid, const char *what, struct pst_error *err);

#endif
