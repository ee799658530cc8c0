/* Lines of text, and names that fit into them. */
#include "line.h"

#include "pystill/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pst_line_fini(struct pst_line *line)
{
	free(line->buf);
	*line = (struct pst_line){ 0 };
}

static void put_bytes(struct pst_line *line, const char *bytes, size_t len)
{
	line->buf = pst_grow(line->buf, &line->cap, line->len + len, 1);
	if (len)
		memcpy(line->buf + line->len, bytes, len);
	line->len += len;
}

void pst_line_put(struct pst_line *line, const char *text)
{
	put_bytes(line, text, strlen(text));
}

/* ';' would end the frame, and white space other than a blank the line; other control characters are not
 * allowed in the XML that is made of it. */
static uint32_t mend(uint32_t c)
{
	if (c == ';')
		return ':';
	if (c == '\n' || c == '\r' || c == '\t' || c == 0x85 || c == 0x2028 || c == 0x2029)
		return ' ';
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff)
		return 0xfffd;
	return c;
}

void pst_line_name(struct pst_line *line, const struct pst_names *names, pst_name_id id)
{
	size_t len;
	const char *name = pst_names_get(names, id, &len);

	for (size_t at = 0; at < len;) {
		char bytes[PST_UTF8_MAX];
		uint32_t c;

		at += pst_utf8_get(name + at, len - at, &c);
		put_bytes(line, bytes, pst_utf8_put(bytes, mend(c)));
	}
}

/* A frame that ends in " 12" would be read as a count: the blank becomes '_'. */
static void mend_end(struct pst_line *line, size_t start)
{
	size_t at = line->len;

	while (at > start && line->buf[at - 1] >= '0' && line->buf[at - 1] <= '9')
		at--;
	if (at < line->len && at > start && line->buf[at - 1] == ' ')
		line->buf[at - 1] = '_';
}

void pst_line_frame(struct pst_line *line, const struct pst_names *names,
	const struct pst_frame *frame, bool no_lines)
{
	const struct pst_func func = pst_names_func_get(names, frame->func);
	const size_t start = line->len;
	char number[16];

	pst_line_name(line, names, func.file);
	pst_line_put(line, ":");
	pst_line_name(line, names, func.name);
	if (!no_lines) {
		snprintf(number, sizeof(number), ":%d", frame->line);
		pst_line_put(line, number);
	}
	mend_end(line, start);
}
