/* Warnings on their way up to the user. */
#include "pystill/note.h"

#include <stdarg.h>
#include <stdio.h>

void pst_note_warn(const struct pst_note *note, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!note || !note->say)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note->say(note->ctx, text);
}
