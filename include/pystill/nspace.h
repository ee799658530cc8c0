/* Opening files as the target sees them: it may live in another mount namespace or root, and its files
 * may have been deleted or replaced. */
#ifndef PYSTILL_NSPACE_H
#define PYSTILL_NSPACE_H

#include "pystill/error.h"
#include "pystill/maps.h"

/* Open the file that MAP of process PID shows, read-only.  Ways are tried in order, and the file must be
 * the mapped one (by inode): a path that was replaced since is refused.  Returns a descriptor, or -1 with
 * ERR set. */
int pst_nspace_open_map(pid_t pid, const struct pst_map *map, struct pst_error *err);

#endif
