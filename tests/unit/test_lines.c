/* The line-table decoders: real tables, made-up ones, and tables that end too early. */
#include "unit.h"

#include "line_facts.h"

#include <stdlib.h>
#include <string.h>

#define U pst_lines_lnotab_unsigned
#define S pst_lines_lnotab
#define R pst_lines_ranges
#define L pst_lines_locations

static const pst_lines_fn decoders[] = { U, S, R, L };

static unsigned digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

/* A copy of exactly LEN bytes of the table HEX, from malloc: a read behind it is seen. */
static uint8_t *table_of(const char *hex, size_t len)
{
	uint8_t *table = pst_xmalloc(len);

	for (size_t i = 0; i < len; i++)
		table[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
	return table;
}

/* The line that the first LEN bytes of HEX give. */
static int32_t cut_line(
	pst_lines_fn lines, const char *hex, size_t len, int32_t first, int32_t lasti)
{
	uint8_t *table = table_of(hex, len);
	const int32_t line = lines(table, len, first, lasti);

	free(table);
	return line;
}

static int32_t line_of(pst_lines_fn lines, const char *hex, int32_t first, int32_t lasti)
{
	return cut_line(lines, hex, strlen(hex) / 2, first, lasti);
}

/* ---- real tables ---- */

static void test_examples(void)
{
	for (size_t i = 0; i < n_line_examples; i++) {
		const struct line_example *e = &line_examples[i];

		unit_row("%s %s", e->version, e->function);
		CHECK_INT(line_of(e->lines, e->table, 1, e->lasti), e->line);
		CHECK_INT(line_of(e->lines, e->table, 1001, e->lasti), e->line + 1000);
	}
}

static int32_t step_line(const struct line_whole *w, int32_t lasti)
{
	size_t i = 0;

	while (w->steps[i + 1].at <= lasti && w->steps[i + 1].line >= 0)
		i++;
	return w->steps[i].line;
}

static void test_wholes(void)
{
	for (size_t i = 0; i < n_line_wholes; i++) {
		const struct line_whole *w = &line_wholes[i];

		for (int32_t lasti = 0; lasti < w->code_len; lasti++) {
			unit_row("%s at %d", w->version, lasti);
			CHECK_INT(line_of(w->lines, w->table, 1, lasti), step_line(w, lasti));
		}
	}
}

/* A frame that has not begun is on the function's first line. */
static void test_not_begun(void)
{
	for (int32_t lasti = -64; lasti < 0; lasti++)
		for (size_t i = 0; i < n_line_examples; i++) {
			const struct line_example *e = &line_examples[i];

			unit_row("%s %s at %d", e->version, e->function, lasti);
			CHECK_INT(line_of(e->lines, e->table, 77, lasti), 77);
		}
}

/* ---- made-up tables ---- */

static const struct {
	pst_lines_fn lines;
	const char *table;
	int32_t first, lasti, line;
} rows[] = {
	/* lnotab: a delta counts from its address on; a sign only from 3.6 on */
	{ U, "0a050a05", 1, 9, 1 },
	{ U, "0a050a05", 1, 10, 6 },
	{ U, "0a050a05", 1, 19, 6 },
	{ U, "0a050a05", 1, 20, 11 },
	{ U, "0a050a05", 1, 1000000, 11 },
	{ U, "02ff02fe", 1, 2, 256 },
	{ U, "02ff02fe", 1, 4, 510 },
	{ S, "02ff02fe", 10, 2, 9 },
	{ S, "02ff02fe", 10, 4, 7 },
	{ S, "0080", 200, 0, 72 },
	{ S, "007f", 200, 0, 327 },
	{ U, "00ff00ff00010001", 1, 0, 513 },
	{ U, "ff00ff00ff000203", 7, 766, 7 },
	{ U, "ff00ff00ff000203", 7, 767, 10 },
	{ S, "0001020280", 5, 100, 8 },
	/* 3.10: a range holds [addr, addr + bytes), -128 is none and moves nothing */
	{ R, "0401020102010201020102fe060304fc", 1, 0, 2 },
	{ R, "0401020102010201020102fe060304fc", 1, 3, 2 },
	{ R, "0401020102010201020102fe060304fc", 1, 4, 3 },
	{ R, "0401020102010201020102fe060304fc", 1, 6, 4 },
	{ R, "0401020102010201020102fe060304fc", 1, 8, 5 },
	{ R, "0401020102010201020102fe060304fc", 1, 10, 6 },
	{ R, "0401020102010201020102fe060304fc", 1, 13, 4 },
	{ R, "0401020102010201020102fe060304fc", 1, 14, 7 },
	{ R, "0401020102010201020102fe060304fc", 1, 19, 7 },
	{ R, "0401020102010201020102fe060304fc", 1, 20, 3 },
	{ R, "0401020102010201020102fe060304fc", 1, 23, 3 },
	{ R, "0401020102010201020102fe060304fc", 1, 24, 0 },
	{ R, "028004010280fe0102ff", 10, 1, 0 },
	{ R, "028004010280fe0102ff", 10, 2, 11 },
	{ R, "028004010280fe0102ff", 10, 6, 0 },
	{ R, "028004010280fe0102ff", 10, 8, 12 },
	{ R, "028004010280fe0102ff", 10, 8 + 253, 12 },
	{ R, "028004010280fe0102ff", 10, 8 + 254, 11 },
	{ R, "0001007f0081fe0002", 10, 0, 11 },
	/* 3.11: entry codes 0-9, 10-12, 13, 14, 15, lengths 1-8 units */
	{ L, "8000", 5, 0, 5 },
	{ L, "8000", 5, 1, 5 },
	{ L, "8000", 5, 2, 0 },
	{ L, "8700", 5, 15, 5 },
	{ L, "8700", 5, 16, 0 },
	{ L, "c900c800", 5, 0, 5 },
	{ L, "c900c800", 5, 4, 5 },
	{ L, "d00000", 5, 0, 5 },
	{ L, "d80000", 5, 0, 6 },
	{ L, "e00000", 5, 0, 7 },
	{ L, "d80000e00000d000008000", 5, 2, 8 },
	{ L, "d80000e00000d000008000", 5, 4, 8 },
	{ L, "d80000e00000d000008000", 5, 6, 8 },
	{ L, "e800", 5, 0, 5 },
	{ L, "e80280", 5, 0, 6 },
	{ L, "e803", 5, 0, 4 },
	{ L, "e87f01", 500, 0, 437 + 0 },
	{ L, "f00201020380", 5, 0, 6 },
	{ L, "f0030000008000", 5, 2, 4 },
	{ L, "f002410141024003d80000", 5, 2, 7 },
	{ L, "f8", 5, 0, 0 },
	{ L, "f8f98000", 5, 2, 0 },
	{ L, "f8f98000", 5, 5, 0 },
	{ L, "f8f98000", 5, 6, 5 },
	{ L, "d80000f88000", 5, 4, 6 },
	/* a varint of twelve bytes is read to its end */
	{ L, "e8424040404040404040404000d80000", 5, 0, 6 },
	{ L, "e8424040404040404040404000d80000", 5, 2, 7 },
};

static void test_made_up(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		unit_row("%s at %d", rows[i].table, rows[i].lasti);
		CHECK_INT(line_of(rows[i].lines, rows[i].table, rows[i].first, rows[i].lasti),
			rows[i].line);
	}
}

static void test_empty(void)
{
	static const struct {
		pst_lines_fn lines;
		int32_t line; /* of an instruction that the table does not know */
	} empty[] = { { U, 9 }, { S, 9 }, { R, 0 }, { L, 0 } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(empty); i++) {
		unit_row("%zu", i);
		CHECK_INT(line_of(empty[i].lines, "", 9, 0), empty[i].line);
		CHECK_INT(line_of(empty[i].lines, "", 9, 1 << 28), empty[i].line);
		CHECK_INT(line_of(empty[i].lines, "", 9, -1), 9);
		CHECK_INT(empty[i].lines(NULL, 0, 9, 0), empty[i].line);
	}
}

/* Lines that cannot be are no lines. */
static void test_insane(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(decoders); i++) {
		unit_row("%zu", i);
		CHECK_INT(line_of(decoders[i], "", 0, -1), 0);
		CHECK_INT(line_of(decoders[i], "", -5, -1), 0);
		CHECK_INT(line_of(decoders[i], "", INT32_MIN, -1), 0);
		CHECK_INT(line_of(decoders[i], "", INT32_MAX, -1), INT32_MAX);
	}
	CHECK_INT(line_of(U, "00ff", INT32_MAX - 254, 0), 0);
	CHECK_INT(line_of(U, "00ff", INT32_MAX - 255, 0), INT32_MAX);
	CHECK_INT(line_of(S, "00f0", 16, 0), 0);
	CHECK_INT(line_of(S, "00f0", 17, 0), 1);
	CHECK_INT(line_of(R, "0281", 127, 0), 0);
	CHECK_INT(line_of(R, "027f", INT32_MAX, 0), 0);
	CHECK_INT(line_of(L, "d80000", INT32_MAX, 0), 0);
	CHECK_INT(line_of(L, "e87f7f7f7f7f03", 5, 0), 0); /* -2^31 + 1 */
	CHECK_INT(line_of(L, "e87e7f7f7f7f03", INT32_MAX, 0), 0);
	CHECK_INT(line_of(L, "e87e7f7f7f7f01e87f7f7f7f7f01", 5, 2), 5);
}

/* Thousands of huge deltas add up without going astray. */
static void test_long(void)
{
	enum { N = 1 << 20 };
	uint8_t *table = pst_xmalloc(2 * N);

	memset(table, 0xff, 2 * N);
	CHECK_INT(U(table, 2 * N, 1, 255 * 1000), 1 + 255 * 1000);
	CHECK_INT(U(table, 2 * N, 1, INT32_MAX), 1 + 255 * N);
	CHECK_INT(S(table, 2 * N, 2 * N, INT32_MAX), N);
	CHECK_INT(R(table, 2 * N, 2 * N, 255 * (N - 1)), N);
	CHECK_INT(R(table, 2 * N, 2 * N, 255 * N), 0);
	CHECK_INT(L(table, 2 * N, 1, INT32_MAX), 0);
	free(table);
}

/* ---- tables that end too early ---- */

/* Half a pair counts as none. */
static void test_cut_pairs(void)
{
	for (size_t i = 0; i < n_line_wholes; i++) {
		const struct line_whole *w = &line_wholes[i];
		const size_t full = strlen(w->table) / 2;

		for (size_t len = 0; len < full && w->lines != L; len += 2)
			for (int32_t lasti = -2; lasti < w->code_len; lasti += 3) {
				unit_row("%s, %zu bytes, at %d", w->version, len, lasti);
				CHECK_INT(cut_line(w->lines, w->table, len + 1, 1, lasti),
					cut_line(w->lines, w->table, len, 1, lasti));
			}
	}
}

/* Where ranges break off there is no line: no other is made up.  Returns how many bytes of the table were
 * there when one was, or 0. */
static size_t find_invented(pst_lines_fn lines, const char *table, int32_t lasti)
{
	const int32_t whole = line_of(lines, table, 1, lasti);
	const size_t full = strlen(table) / 2;
	bool known = false;

	for (size_t len = 0; len <= full; len++) {
		const int32_t line = cut_line(lines, table, len, 1, lasti);

		if ((line != 0 || known) && line != whole)
			return len;
		known |= line != 0;
	}
	return 0;
}

static void check_cut(pst_lines_fn lines, const char *version, const char *table, int32_t code_len)
{
	size_t invented = 0;

	for (int32_t lasti = 0; lasti < code_len && !invented; lasti += 2) {
		invented = find_invented(lines, table, lasti);
		unit_row(
			"%s, %zu of %zu bytes, at %d", version, invented, strlen(table) / 2, lasti);
	}
	CHECK_INT(invented, 0);
}

static void test_cut_ranges(void)
{
	for (size_t i = 0; i < n_line_examples; i++) {
		const struct line_example *e = &line_examples[i];

		if (e->lines == R || e->lines == L)
			check_cut(e->lines, e->version, e->table, e->lasti + 8);
	}
	for (size_t i = 0; i < n_line_wholes; i++) {
		const struct line_whole *w = &line_wholes[i];

		if (w->lines == R || w->lines == L)
			check_cut(w->lines, w->version, w->table, w->code_len);
	}
}

/* Bytes of any kind: no decoder reads behind them, or gives a line that cannot be. */
static void test_noise(void)
{
	uint64_t seed = 3;
	size_t wrong = 0;

	for (int round = 0; round < 20000; round++) {
		const size_t len = unit_random(&seed) % 24;
		const int32_t lasti = (int32_t)(unit_random(&seed) % 80) - 4;
		uint8_t *table = pst_xmalloc(len);

		for (size_t i = 0; i < len; i++)
			table[i] = (uint8_t)(unit_random(&seed) % 3 ? unit_random(&seed) : 0x7f);
		for (size_t d = 0; d < PST_ARRAY_SIZE(decoders); d++)
			wrong += decoders[d](table, len, (int32_t)unit_random(&seed), lasti) < 0;
		free(table);
	}
	CHECK_INT(wrong, 0);
}

static CU_TestInfo tests[] = {
	{ "worked examples", test_examples },
	{ "every instruction of a function", test_wholes },
	{ "not begun", test_not_begun },
	{ "made-up tables", test_made_up },
	{ "empty tables", test_empty },
	{ "lines that cannot be", test_insane },
	{ "long tables", test_long },
	{ "cut off: pairs", test_cut_pairs },
	{ "cut off: ranges", test_cut_ranges },
	{ "noise", test_noise },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_lines = { "lines", NULL, NULL, NULL, NULL, tests };
