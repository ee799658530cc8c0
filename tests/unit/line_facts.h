/* Line tables of real functions. */
#ifndef PYSTILL_TESTS_LINE_FACTS_H
#define PYSTILL_TESTS_LINE_FACTS_H

#include "pystill/abi.h"

/* What the table TABLE (hexadecimal) of a function that begins on line 1 says of one instruction. */
struct line_example {
	pst_lines_fn lines;
	const char *version, *function, *table;
	int32_t lasti, line;
};

extern const struct line_example line_examples[];
extern const size_t n_line_examples;

/* The line of every instruction: STEPS say where it changes (0: to none), the last one where the code ends. */
struct line_whole {
	pst_lines_fn lines;
	const char *version, *table;
	int32_t code_len;
	struct {
		int32_t at, line;
	} steps[48];
};

extern const struct line_whole line_wholes[];
extern const size_t n_line_wholes;

#endif
