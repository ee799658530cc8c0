/* Folded text, as flamegraph.pl reads it: "file:function:line;... count", root first, one line a stack.  Its
 * readers split at ';', take the last number of a line for the count, and a number before that for a second
 * count: names are mended accordingly (line.c). */
#include "pystill/writer.h"

#include "pystill/arena.h"

#include "line.h"

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
	struct pst_line line; /* which is being made */
};

static void put_stack(struct folded *f, const struct pst_names *names,
	const struct pst_stack *stack, const struct pst_write_opts *opts)
{
	if (stack->truncated)
		pst_line_put(&f->line, "(truncated);");
	for (uint32_t i = stack->n; i > 0; i--) {
		pst_line_frame(&f->line, names, &stack->frames[i - 1], opts->no_lines);
		if (i > 1)
			pst_line_put(&f->line, ";");
	}
}

static void add_record(struct folded *f, const struct pst_names *names,
	const struct pst_record *record, const struct pst_write_opts *opts)
{
	f->line.len = 0;
	switch (record->kind) {
	case PST_RECORD_STACK: put_stack(f, names, &record->stack, opts); break;
	case PST_RECORD_IDLE: pst_line_put(&f->line, "(idle)"); break;
	case PST_RECORD_FAILED: pst_line_put(&f->line, "(failed)"); break;
	}
	f->lines = pst_grow(f->lines, &f->cap, f->n + 1, sizeof(*f->lines));
	f->lines[f->n++] =
		(struct line){ pst_arena_dup(&f->arena, f->line.buf, f->line.len), record->count };
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
	pst_line_fini(&f.line);
	return 0;
}

const struct pst_writer pst_writer_folded = {
	.name = "folded",
	.extension = "folded",
	.summary = "one line a stack, for flamegraph.pl and the like",
	.write = write_folded,
};
