/* Pyflame's flame chart: pairs of lines in order of time, first the microseconds since the epoch, then the stack
 * with ';' behind each frame. */
#include "pystill/writer.h"

#include "line.h"

static void put_stack(struct pst_line *line, const struct pst_names *names,
	const struct pst_stack *stack, const struct pst_write_opts *opts)
{
	if (stack->truncated)
		pst_line_put(line, "(truncated);");
	for (uint32_t i = stack->n; i > 0; i--) {
		pst_line_frame(line, names, &stack->frames[i - 1], opts->no_lines);
		pst_line_put(line, ";");
	}
}

static int write_flamechart(struct pst_capture_reader *reader, const struct pst_write_opts *opts,
	struct pst_out *out, struct pst_error *err)
{
	const struct pst_names *names = pst_capture_reader_names(reader);
	struct pst_line line = { 0 };
	struct pst_record record;

	(void)err;
	while (pst_capture_next(reader, &record)) {
		line.len = 0;
		switch (record.kind) {
		case PST_RECORD_STACK: put_stack(&line, names, &record.stack, opts); break;
		case PST_RECORD_IDLE: pst_line_put(&line, opts->no_idle ? "" : "(idle)"); break;
		case PST_RECORD_FAILED: pst_line_put(&line, "(failed)"); break;
		}
		if (line.len == 0)
			continue;
		pst_out_format(out, "%" PRId64 "\n", record.epoch_us);
		pst_out_raw(out, line.buf, line.len);
		pst_out_text(out, "\n");
	}
	pst_line_fini(&line);
	return 0;
}

const struct pst_writer pst_writer_flamechart = {
	.name = "flamechart",
	.extension = "flamechart",
	.summary = "Pyflame's flame chart: times and stacks in turn",
	.order = PST_BY_TIME,
	.write = write_flamechart,
};
