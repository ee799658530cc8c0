/* One thread of a made-up interpreter, whose stack can be read and resolved. */
#ifndef PYSTILL_TESTS_STAGE_H
#define PYSTILL_TESTS_STAGE_H

#include "objects.h"
#include "pystill/python.h"

#define STAGE_STEPS 20 /* each code has so many lines, of two bytes of code each */

struct stage {
	struct objects o;
	struct pst_target target;
	struct pst_python py;
	struct pst_pythread thread;
	struct pst_reading reading;
	struct pst_frame *frames; /* the result: N of them */
	uint32_t n;
	uint8_t table[STAGE_STEPS * 3];
	size_t table_len;
	struct pst_error err;
};

void stage_begin(struct stage *s, uint32_t version);
void stage_begin_flavour(struct stage *s, uint32_t version, enum pst_flavour flavour);
void stage_end(struct stage *s);

/* A function's code: it begins on line FIRST and is on line FIRST + n at instruction 2 * n. */
struct code_spec stage_spec(const struct stage *s, const char *name, int32_t first);
pst_addr_t stage_code(struct stage *s, const char *name, int32_t first);

/* Put a frame on the stack, or take the newest away. */
pst_addr_t stage_push(struct stage *s, pst_addr_t code, int32_t lasti, uint8_t owner);
void stage_pop(struct stage *s);
pst_addr_t stage_newest(const struct stage *s);

/* The newest frame is at another instruction now. */
void stage_step(struct stage *s, pst_addr_t code, int32_t lasti);

int stage_read(struct stage *s);
int stage_resolve(struct stage *s);

/* Read and resolve; the test goes on without a result when it fails. */
void stage_take(struct stage *s);

/* Frame I of the result is NAME in file NAME.py on LINE, which begins on line FIRST. */
void stage_check(const struct stage *s, uint32_t i, const char *name, int32_t first, int32_t line);

/* The same as one value, for loops. */
bool stage_is(const struct stage *s, uint32_t i, const char *name, int32_t first, int32_t line);

#endif
