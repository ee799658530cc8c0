/* Buffered output with errors that latch: a writer need not check each call, the close tells. */
#ifndef PYSTILL_OUT_H
#define PYSTILL_OUT_H

#include "pystill/error.h"

struct pst_out;

/* Open PATH for output; NULL or "-" is the standard output.  A file is written beside its name, in the same
 * folder, and takes that name when it is complete: a half-written one is never seen.  Something that is there
 * and is no regular file (a device, a pipe) is written as it is.  Returns NULL with ERR set (IO). */
struct pst_out *pst_out_open(const char *path, struct pst_error *err);

void pst_out_raw(struct pst_out *out, const char *bytes, size_t len);
void pst_out_text(struct pst_out *out, const char *text);
void pst_out_format(struct pst_out *out, const char *fmt, ...) PST_PRINTF(2, 3);

/* Finish.  Returns 0, or -1 with ERR set (IO) when any write failed: then there is no file. */
int pst_out_close(struct pst_out *out, struct pst_error *err);

/* Give up: there is no file. */
void pst_out_abandon(struct pst_out *out);

#endif
