/* Captures for writers, and what they write. */
#ifndef PYSTILL_TESTS_CAPTURES_H
#define PYSTILL_TESTS_CAPTURES_H

#include "pystill/writer.h"

/* A frame of function NAME, LEN bytes. */
struct pst_frame captures_frame(
	struct pst_capture *c, const char *file, const char *name, size_t len, int32_t line);

/* Frames of functions in x.py, written "outer:3 inner:5", to FRAMES, leaf first; at most 8. */
uint32_t captures_frames(struct pst_capture *c, const char *text, struct pst_frame *frames);

/* Samples of one thread, all at the same time. */
void captures_add_frames(struct pst_capture *c, pid_t tid, const struct pst_frame *frames,
	uint32_t n, bool truncated, int times);
void captures_add_stack(
	struct pst_capture *c, pid_t tid, const char *text, bool truncated, int times);
void captures_add_idle(struct pst_capture *c, int times);

/* What WRITER makes of C, from malloc. */
char *captures_write(const struct pst_capture *c, const struct pst_writer *writer,
	const struct pst_write_opts *opts, size_t *len);

/* It is WANTED. */
void captures_check(const struct pst_capture *c, const struct pst_writer *writer,
	const struct pst_write_opts *opts, const char *wanted, size_t wanted_len);

#endif
