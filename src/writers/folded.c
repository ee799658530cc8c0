/* Folded text, as flamegraph.pl reads it: "file:function:line;... count", root first, one line a stack.  The
 * readers split at ';', take the last number of a line for the count, and a number before that for a second
 * count, so names are mended accordingly. */
#include "pystill/writer.h"

#include "pystill/arena.h"
#include "pystill/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
	const char *text; /* without the count */
	uint64_t count;
};

struct folded {
	struct pst_arena arena; /* the texts */
	struct line *lines;
	size_t n, cap;
	char *buf; /* the line that is being made */
	size_t len, buf_cap;
};

static void put_bytes(struct folded *f, const char *bytes, size_t len)
{
	f->buf = pst_grow(f->buf, &f->buf_cap, f->len + len, 1);
	memcpy(f->buf + f->len, bytes, len);
	f->len += len;
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

static void put_name(struct folded *f, const char *name, size_t len)
{
	for (size_t at = 0; at < len;) {
		char bytes[PST_UTF8_MAX];
		uint32_t c;

		at += pst_utf8_get(name + at, len - at, &c);
		put_bytes(f, bytes, pst_utf8_put(bytes, mend(c)));
	}
}

/* A frame that ends in " 12" would be read as a count: the blank becomes '_'. */
static void mend_end(struct folded *f, size_t start)
{
	size_t at = f->len;

	while (at > start && f->buf[at - 1] >= '0' && f->buf[at - 1] <= '9')
		at--;
	if (at < f->len && at > start && f->buf[at - 1] == ' ')
		f->buf[at - 1] = '_';
}

static void put_frame(struct folded *f, const struct pst_names *names,
	const struct pst_frame *frame, const struct pst_write_opts *opts)
{
	const struct pst_func func = pst_names_func_get(names, frame->func);
	const size_t start = f->len;
	char line[16];
	size_t len;
	const char *text = pst_names_get(names, func.file, &len);

	put_name(f, text, len);
	put_bytes(f, ":", 1);
	text = pst_names_get(names, func.name, &len);
	put_name(f, text, len);
	if (!opts->no_lines)
		put_bytes(f, line, (size_t)snprintf(line, sizeof(line), ":%d", frame->line));
	mend_end(f, start);
}

static void put_stack(struct folded *f, const struct pst_names *names,
	const struct pst_stack *stack, const struct pst_write_opts *opts)
{
	if (stack->truncated)
		put_bytes(f, "(truncated);", 12);
	for (uint32_t i = stack->n; i > 0; i--) {
		put_frame(f, names, &stack->frames[i - 1], opts);
		if (i > 1)
			put_bytes(f, ";", 1);
	}
}

static void add_record(struct folded *f, const struct pst_names *names,
	const struct pst_record *record, const struct pst_write_opts *opts)
{
	f->len = 0;
	switch (record->kind) {
	case PST_RECORD_STACK: put_stack(f, names, &record->stack, opts); break;
	case PST_RECORD_IDLE: put_bytes(f, "(idle)", 6); break;
	case PST_RECORD_FAILED: put_bytes(f, "(failed)", 8); break;
	}
	f->lines = pst_grow(f->lines, &f->cap, f->n + 1, sizeof(*f->lines));
	f->lines[f->n++] = (struct line){ pst_arena_dup(&f->arena, f->buf, f->len), record->count };
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* Lines that are equal, of several threads or without numbers, become one. */
static void merge(struct folded *f)
{
	size_t n = 0;

	if (f->n)
		qsort(f->lines, f->n, sizeof(*f->lines), by_text);
	for (size_t i = 0; i < f->n; i++) {
		if (n && by_text(&f->lines[n - 1], &f->lines[i]) == 0)
			f->lines[n - 1].count += f->lines[i].count;
		else
			f->lines[n++] = f->lines[i];
	}
	f->n = n;
}

/* Whole lines are sorted, counts included, as `LC_ALL=C sort` would. */
static void add_counts(struct folded *f)
{
	for (size_t i = 0; i < f->n; i++) {
		char count[24];
		const size_t len = strlen(f->lines[i].text);
		const size_t n =
			(size_t)snprintf(count, sizeof(count), " %" PRIu64 "\n", f->lines[i].count);
		char *text = pst_arena_alloc(&f->arena, len + n + 1);

		memcpy(text, f->lines[i].text, len);
		memcpy(text + len, count, n + 1);
		f->lines[i].text = text;
	}
	if (f->n)
		qsort(f->lines, f->n, sizeof(*f->lines), by_text);
}

static int write_folded(struct pst_capture_reader *reader, const struct pst_write_opts *opts,
	struct pst_out *out, struct pst_error *err)
{
	const struct pst_names *names = pst_capture_reader_names(reader);
	struct folded f = { 0 };
	struct pst_record record;

	(void)err;
	pst_arena_init(&f.arena);
	while (pst_capture_next(reader, &record))
		if (record.kind != PST_RECORD_IDLE || !opts->no_idle)
			add_record(&f, names, &record, opts);
	merge(&f);
	add_counts(&f);
	for (size_t i = 0; i < f.n; i++)
		pst_out_text(out, f.lines[i].text);
	pst_arena_fini(&f.arena);
	free(f.lines);
	free(f.buf);
	return 0;
}

const struct pst_writer pst_writer_folded = {
	.name = "folded",
	.extension = "folded",
	.summary = "one line a stack, for flamegraph.pl and the like",
	.write = write_folded,
};
