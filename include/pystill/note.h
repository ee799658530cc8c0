/* How the engine says something to the user without printing: a callback that ui/ hands down.  For
 * warnings only; results travel as data. */
#ifndef PYSTILL_NOTE_H
#define PYSTILL_NOTE_H

#include "pystill/base.h"

struct pst_note {
	void (*say)(void *ctx, const char *text); /* TEXT is one line without its end, borrowed */
	void *ctx;
};

/* Say one warning.  NOTE may be NULL, or have no callback: then it is dropped. */
void pst_note_warn(const struct pst_note *note, const char *fmt, ...) PST_PRINTF(2, 3);

#endif
