/* Output formats: rows in one table.  A writer turns a capture into bytes; it never sees a pid. */
#ifndef PYSTILL_WRITER_H
#define PYSTILL_WRITER_H

#include "pystill/capture.h"
#include "pystill/out.h"

struct pst_write_opts {
	bool no_lines; /* leave line numbers out, and count what is then equal as one */
	bool no_idle;  /* leave idle samples out */
};

struct pst_writer {
	const char *name, *extension, *summary;
	enum pst_order order; /* in which the reader must be opened */
	int (*write)(struct pst_capture_reader *reader, const struct pst_write_opts *opts,
		struct pst_out *out, struct pst_error *err);
};

/* All writers, with NULL behind the last. */
extern const struct pst_writer *const pst_writer_table[];

/* The writer called NAME, or NULL. */
const struct pst_writer *pst_writer_find(const char *name);

extern const struct pst_writer pst_writer_folded;
extern const struct pst_writer pst_writer_flamechart;
extern const struct pst_writer pst_writer_stacks;

#endif
