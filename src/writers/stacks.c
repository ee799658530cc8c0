/* Pyflame's dump: the id of each thread ('*' behind that of the holder of the GIL), its name, its frames leaf first,
 * and a blank line between threads.  The thread that was started first comes first. */
#include "pystill/writer.h"

#include "line.h"

#include <stdlib.h>

static void put_head(
	struct pst_line *line, const struct pst_names *names, const struct pst_record *record)
{
	cleanup_free char *head =
		pst_xasprintf("%" PRIu64 "%s:", record->ident, record->holds_gil ? "*" : "");

	pst_line_put(line, head);
	if (record->name) {
		pst_line_put(line, " ");
		pst_line_name(line, names, record->name);
	}
	pst_line_put(line, "\n");
}

static void put_frames(struct pst_line *line, const struct pst_names *names,
	const struct pst_record *record, const struct pst_write_opts *opts)
{
	if (record->kind == PST_RECORD_FAILED)
		pst_line_put(line, "(failed)\n");
	for (uint32_t i = 0; i < record->stack.n; i++) {
		pst_line_frame(line, names, &record->stack.frames[i], opts->no_lines);
		pst_line_put(line, "\n");
	}
	if (record->stack.truncated)
		pst_line_put(line, "(truncated)\n");
}

/* The text of every thread, newest first; *N is their number. */
static struct pst_line *make_texts(
	struct pst_capture_reader *reader, const struct pst_write_opts *opts, size_t *n)
{
	const struct pst_names *names = pst_capture_reader_names(reader);
	struct pst_line *texts = NULL;
	struct pst_record record;
	size_t cap = 0;

	for (*n = 0; pst_capture_next(reader, &record);) {
		if (record.kind == PST_RECORD_IDLE)
			continue;
		texts = pst_grow(texts, &cap, *n + 1, sizeof(*texts));
		texts[*n] = (struct pst_line){ 0 };
		if (record.ident)
			put_head(&texts[*n], names, &record);
		put_frames(&texts[*n], names, &record, opts);
		(*n)++;
	}
	return texts;
}

static int write_stacks(struct pst_capture_reader *reader, const struct pst_write_opts *opts,
	struct pst_out *out, struct pst_error *err)
{
	size_t n;
	cleanup_free struct pst_line *texts = make_texts(reader, opts, &n);

	(void)err;
	for (size_t i = n; i > 0; i--) {
		pst_out_raw(out, texts[i - 1].buf, texts[i - 1].len);
		pst_line_fini(&texts[i - 1]);
		if (i > 1)
			pst_out_text(out, "\n");
	}
	return 0;
}

const struct pst_writer pst_writer_stacks = {
	.name = "stacks",
	.extension = "txt",
	.summary = "Pyflame's dump: every thread and its frames, of one moment",
	.order = PST_BY_TIME,
	.write = write_stacks,
};
