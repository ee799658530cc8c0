/* A line of text that is being made, for the formats that are lines: names are mended so that no reader is
 * misled by them. */
#ifndef PYSTILL_WRITERS_LINE_H
#define PYSTILL_WRITERS_LINE_H

#include "pystill/names.h"
#include "pystill/sample.h"

struct pst_line {
	char *buf;
	size_t len, cap;
};

void pst_line_fini(struct pst_line *line);
void pst_line_put(struct pst_line *line, const char *text);

/* A name: ';' becomes ':', white space a blank, what is not allowed in XML U+FFFD. */
void pst_line_name(struct pst_line *line, const struct pst_names *names, pst_name_id id);

/* "file:function:line", or "file:function" with NO_LINES.  A frame never ends in a blank and a number. */
void pst_line_frame(struct pst_line *line, const struct pst_names *names,
	const struct pst_frame *frame, bool no_lines);

#endif
