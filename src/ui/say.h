/* What the user is told on stderr: errors and warnings, one line each. */
#ifndef PYSTILL_UI_SAY_H
#define PYSTILL_UI_SAY_H

#include "pystill/note.h"
#include "pystill/opt.h"

/* Tell ERR in the form that was asked for, with the exit STATUS that follows. */
void pst_say_error(const struct pst_opts *opts, const struct pst_error *err, int status);

/* Say TEXT as a line of ours. */
void pst_say_line(const struct pst_opts *opts, const char *text);

/* Warnings of the engine come here. */
struct pst_note pst_say_note(const struct pst_opts *opts);

#endif
