/* Made-up interpreters with threads, as pst_python_list() finds them in a process: this one. */
#ifndef PYSTILL_TESTS_PROCESS_H
#define PYSTILL_TESTS_PROCESS_H

#include "objects.h"
#include "python/internal.h"

#define V27  0x020712f0 /* no link back */
#define V37  0x030709f0 /* one GIL, no kernel's id */
#define V312 0x030c03f0 /* a GIL for each interpreter, and the kernel's id */

struct process {
	struct objects o;
	struct pst_target target;
	struct pst_python py;
	struct pst_view *view;
	struct pst_error err;
};

void process_begin(struct process *w, uint32_t version);
void process_begin_flavour(struct process *w, uint32_t version, enum pst_flavour flavour);
void process_end(struct process *w);
int process_list(struct process *w);

/* Memory of two pages: a view reads whole ones. */
pst_addr_t process_page(struct process *w);

/* Write a member, where the version has it. */
void process_put(struct process *w, pst_addr_t base, int32_t offset, pst_addr_t value);

/* A new interpreter: the first in the list. */
pst_addr_t process_interp(struct process *w, pst_addr_t next, pst_addr_t gil);

/* A new thread: the first in the list of INTERP. */
pst_addr_t process_thread(struct process *w, pst_addr_t interp, pst_addr_t ident, int32_t tid);

#endif
