/* UTF-8 in and out, and JSON strings. */
#include "unit.h"

#include "pystill/json.h"
#include "pystill/utf8.h"

#include <stdlib.h>
#include <string.h>

static void test_put(void)
{
	static const struct {
		uint32_t c;
		const char *bytes;
	} rows[] = {
		{ 0x24, "\x24" },
		{ 0x7f, "\x7f" },
		{ 0x80, "\xc2\x80" },
		{ 0xe9, "\xc3\xa9" },
		{ 0x7ff, "\xdf\xbf" },
		{ 0x800, "\xe0\xa0\x80" },
		{ 0x20ac, "\xe2\x82\xac" },
		{ 0xd7ff, "\xed\x9f\xbf" },
		{ 0xd800, "\xef\xbf\xbd" },
		{ 0xdbff, "\xef\xbf\xbd" },
		{ 0xdc80, "\xef\xbf\xbd" },
		{ 0xdfff, "\xef\xbf\xbd" },
		{ 0xe000, "\xee\x80\x80" },
		{ 0xffff, "\xef\xbf\xbf" },
		{ 0x10000, "\xf0\x90\x80\x80" },
		{ 0x1f600, "\xf0\x9f\x98\x80" },
		{ 0x10ffff, "\xf4\x8f\xbf\xbf" },
		{ 0x110000, "\xef\xbf\xbd" },
		{ 0xffffffff, "\xef\xbf\xbd" },
	};
	char out[PST_UTF8_MAX];

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		unit_row("U+%04X", rows[i].c);
		CHECK_BYTES(
			out, pst_utf8_put(out, rows[i].c), rows[i].bytes, strlen(rows[i].bytes));
	}
	CHECK_INT(pst_utf8_put(out, 0), 1);
	CHECK_INT(out[0], 0);
}

static void test_get(void)
{
	static const struct {
		const char *bytes;
		size_t len, used;
		uint32_t c;
	} rows[] = {
		{ "a", 1, 1, 'a' },
		{ "\0", 1, 1, 0 },
		{ "\xc2\x80", 2, 2, 0x80 },
		{ "\xdf\xbf", 2, 2, 0x7ff },
		{ "\xe0\xa0\x80", 3, 3, 0x800 },
		{ "\xed\x9f\xbf", 3, 3, 0xd7ff },
		{ "\xee\x80\x80", 3, 3, 0xe000 },
		{ "\xf0\x90\x80\x80", 4, 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff },
		/* cut off */
		{ "\xc3", 1, 1, 0xfffd },
		{ "\xc3\xa9", 1, 1, 0xfffd },
		{ "\xe2\x82\xac", 2, 1, 0xfffd },
		{ "\xf0\x9f\x98\x80", 3, 1, 0xfffd },
		/* what continues nothing, or is continued by nothing */
		{ "\x80", 1, 1, 0xfffd },
		{ "\xbf\xbf", 2, 1, 0xfffd },
		{ "\xc3\x28", 2, 1, 0xfffd },
		{ "\xe2\x28\xac", 3, 1, 0xfffd },
		{ "\xe2\x82\x28", 3, 1, 0xfffd },
		{ "\xe2\x82\xc0", 3, 1, 0xfffd },
		{ "\xf0\x9f\x98\xff", 4, 1, 0xfffd },
		/* longer than need be */
		{ "\xc0\x80", 2, 1, 0xfffd },
		{ "\xc1\xbf", 2, 1, 0xfffd },
		{ "\xe0\x9f\xbf", 3, 1, 0xfffd },
		{ "\xf0\x8f\xbf\xbf", 4, 1, 0xfffd },
		/* surrogates, and more than there is */
		{ "\xed\xa0\x80", 3, 1, 0xfffd },
		{ "\xed\xbf\xbf", 3, 1, 0xfffd },
		{ "\xf4\x90\x80\x80", 4, 1, 0xfffd },
		{ "\xf5\x80\x80\x80", 4, 1, 0xfffd },
		{ "\xff", 1, 1, 0xfffd },
		{ "\xfe\x80\x80\x80\x80", 5, 1, 0xfffd },
	};

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		char *exact = pst_xmalloc(rows[i].len);
		uint32_t c = 1;

		memcpy(exact, rows[i].bytes, rows[i].len);
		unit_row("%zu", i);
		CHECK_INT(pst_utf8_get(exact, rows[i].len, &c), rows[i].used);
		CHECK_INT(c, rows[i].c);
		free(exact);
	}
}

static void test_round_trip(void)
{
	size_t wrong = 0;

	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		const bool surrogate = c >= 0xd800 && c <= 0xdfff;
		char bytes[PST_UTF8_MAX];
		const size_t n = pst_utf8_put(bytes, c);
		uint32_t back = 1;

		wrong += pst_utf8_get(bytes, n, &back) != n || back != (surrogate ? 0xfffd : c);
	}
	CHECK_INT(wrong, 0);
}

/* Any bytes are read to their end, and come out as UTF-8 that reads as itself. */
static void test_any_bytes(void)
{
	uint64_t seed = 1;
	size_t wrong = 0;

	for (int round = 0; round < 20000; round++) {
		char in[8];
		const size_t len = 1 + unit_random(&seed) % sizeof(in);

		for (size_t i = 0; i < len; i++)
			in[i] = (char)(unit_random(&seed) % 3 ? 0x80 + unit_random(&seed) % 128
							      : unit_random(&seed));
		for (size_t at = 0; at < len;) {
			uint32_t c = 0, again = 0;
			char out[PST_UTF8_MAX];
			const size_t used = pst_utf8_get(in + at, len - at, &c);
			const size_t n = pst_utf8_put(out, c);

			wrong += used == 0 || used > len - at || c > 0x10ffff;
			wrong += pst_utf8_get(out, n, &again) != n || again != c;
			wrong += c != 0xfffd && (n != used || memcmp(out, in + at, n) != 0);
			at += used;
		}
	}
	CHECK_INT(wrong, 0);
}

static void test_json(void)
{
	static const struct {
		const char *in;
		size_t len;
		const char *out;
	} rows[] = {
		{ "", 0, "" },
		{ "plain text/1", 12, "plain text/1" },
		{ "a\"b\\c", 5, "a\\\"b\\\\c" },
		{ "\b\f\n\r\t", 5, "\\b\\f\\n\\r\\t" },
		{ "\0\1\x1f", 3, "\\u0000\\u0001\\u001f" },
		{ "\x7f", 1, "\\u007f" },
		{ "</script>", 9, "\\u003c/script>" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", 6, "\\u2028\\u2029" },
		{ "\xc3\xa9\xf0\x9f\x98\x80", 6, "\xc3\xa9\xf0\x9f\x98\x80" },
		{ "a\xffz", 3, "a\xef\xbf\xbdz" },
		{ "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xe2\x80", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
	};

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		cleanup_free char *out = pst_xmalloc(PST_JSON_GROWTH * rows[i].len);
		const size_t n = pst_json_escape(out, rows[i].in, rows[i].len);

		unit_row("%zu", i);
		CHECK_BYTES(out, n, rows[i].out, strlen(rows[i].out));
	}
}

static void test_json_growth(void)
{
	for (int c = 0; c < 256; c++) {
		cleanup_free char *in = pst_xmalloc(100), *out = pst_xmalloc(PST_JSON_GROWTH * 100);
		size_t n;

		memset(in, c, 100);
		n = pst_json_escape(out, in, 100);
		unit_row("byte %d", c);
		CHECK(n >= 100 && n <= 600);
		CHECK(memchr(out, '"', n) == NULL || c == '"');
		CHECK(memchr(out, '<', n) == NULL);
	}
}

static CU_TestInfo tests[] = {
	{ "put", test_put },
	{ "get", test_get },
	{ "every code point there and back", test_round_trip },
	{ "any bytes", test_any_bytes },
	{ "JSON strings", test_json },
	{ "JSON strings: how much they grow", test_json_growth },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_utf8 = { "utf8", NULL, NULL, NULL, NULL, tests };
