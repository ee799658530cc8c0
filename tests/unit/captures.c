/* Captures of made-up samples. */
#include "captures.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

struct pst_frame captures_frame(
	struct pst_capture *c, const char *file, const char *name, size_t len, int32_t line)
{
	struct pst_names *names = pst_capture_names(c);
	const struct pst_func func = { pst_names_string(names, name, len),
		pst_names_string(names, file, strlen(file)), 1 };

	return (struct pst_frame){ pst_names_func(names, &func), line };
}

uint32_t captures_frames(struct pst_capture *c, const char *text, struct pst_frame *leaf_first)
{
	struct pst_frame frames[8];
	uint32_t n = 0;

	while (*text) {
		const size_t len = strcspn(text, ":");
		char *end;
		const int32_t line = (int32_t)strtol(text + len + 1, &end, 10);

		MUST(n < PST_ARRAY_SIZE(frames));
		frames[n++] = captures_frame(c, "x.py", text, len, line);
		text = end + (*end == ' ');
	}
	for (uint32_t i = 0; i < n; i++)
		leaf_first[i] = frames[n - 1 - i];
	return n;
}

void captures_add_frames(struct pst_capture *c, pid_t tid, const struct pst_frame *frames,
	uint32_t n, bool truncated, int times)
{
	const struct pst_thread_sample thread = {
		.tid = tid, .ident = (pst_addr_t)tid, .stack = { frames, n, truncated }
	};
	const struct pst_sample sample = { .threads = &thread, .n = 1 };

	for (int i = 0; i < times; i++)
		pst_capture_add(c, &sample);
}

void captures_add_stack(
	struct pst_capture *c, pid_t tid, const char *text, bool truncated, int times)
{
	struct pst_frame frames[8];
	const uint32_t n = captures_frames(c, text, frames);

	captures_add_frames(c, tid, frames, n, truncated, times);
}

void captures_add_idle(struct pst_capture *c, int times)
{
	const struct pst_sample sample = { 0 };

	for (int i = 0; i < times; i++)
		pst_capture_add(c, &sample);
}

char *captures_write(const struct pst_capture *c, const struct pst_writer *writer,
	const struct pst_write_opts *opts, size_t *len)
{
	char *folder = unit_folder_new(), *text;
	cleanup_free char *path = unit_path(folder, "out");
	struct pst_capture_reader *reader = pst_capture_open(c, writer->order);
	struct pst_error err = { 0 };
	struct pst_out *out = pst_out_open(path, &err);

	MUST(out != NULL);
	CHECK_DONE(writer->write(reader, opts, out, &err), &err);
	CHECK_DONE(pst_out_close(out, &err), &err);
	pst_capture_reader_close(reader);
	text = unit_read_file(path, len);
	MUST(text != NULL);
	unit_folder_remove(folder);
	return text;
}

void captures_check(const struct pst_capture *c, const struct pst_writer *writer,
	const struct pst_write_opts *opts, const char *wanted, size_t wanted_len)
{
	size_t len = 0;
	cleanup_free char *text = captures_write(c, writer, opts, &len);

	CHECK_BYTES(text, len, wanted, wanted_len);
}
