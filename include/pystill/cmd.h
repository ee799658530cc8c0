/* Commands: one row each. */
#ifndef PYSTILL_CMD_H
#define PYSTILL_CMD_H

#include "pystill/opt.h"

struct pst_cmd {
	const char *name, *summary;
	bool short_wins; /* its first letter alone means this one */
	/* Run it; argv[0] is the word that chose it.  Returns the exit status.  NULL: a later version has
	 * it. */
	int (*run)(struct pst_opts *opts, int argc, char **argv);
};

/* The verbs, with a row without name behind the last. */
extern const struct pst_cmd pst_cmd_table[];

/* The verb that WORD names, whole or by an unambiguous beginning; NULL when it names none. */
const struct pst_cmd *pst_cmd_find(const char *word);

/* Pyflame's command line, which has no verb. */
int pst_cmd_pyflame(struct pst_opts *opts, int argc, char **argv);

#endif
