/* Text objects of every era as UTF-8. */
#include "unit.h"

#include "objects.h"

#include <stdlib.h>
#include <string.h>

#define CAP 64

/* Three layouts of str, and the one of 2.x. */
static const uint32_t flexible[] = { 0x030600f0, 0x030b00f0, 0x030c00f0, 0x030f00f0 };
#define V27 0x020712f0

static int read_text(
	struct objects *o, pst_addr_t at, char *buf, size_t cap, size_t *len, struct pst_error *err)
{
	return o->layout.text(&o->layout, &o->image.mem, at, buf, cap, len, err);
}

/* The text at AT is WANTED; the buffer has exactly CAP bytes. */
static void check_text(
	struct objects *o, pst_addr_t at, size_t cap, const char *wanted, size_t wanted_len)
{
	cleanup_free char *buf = pst_xmalloc(cap);
	struct pst_error err = { 0 };
	size_t len = 999;

	if (CHECK_DONE(read_text(o, at, buf, cap, &len, &err), &err))
		CHECK_BYTES(buf, len, wanted, wanted_len);
}

static void check_no_text(struct objects *o, pst_addr_t at, enum pst_error_code code)
{
	struct pst_error err = { 0 };
	char buf[CAP];
	size_t len;

	CHECK_ERROR(read_text(o, at, buf, sizeof(buf), &len, &err), &err, code);
}

/* ---- the str of 3.3+ ---- */

static const uint8_t ascii[] = { 'f', '(', 'x', ')' };
static const uint8_t latin[] = { 'a', 0xe9, 0xff, 0x80, 'z' };
static const uint16_t two[] = { 'a', 0x20ac, 0xe9, 0xffff, 'z' };
static const uint16_t surrogates[] = { 0xdc80, 'x', 0xd83d, 0xde00, 0xd800 };
static const uint32_t four[] = { 'a', 0x1f600, 0xe9, 0x10ffff, 'z' };
static const uint32_t insane[] = { 0x110000, 0xdc00, 0xffffffff, 'z' };
#define R "\xef\xbf\xbd"

static const struct {
	const char *what;
	enum storage storage;
	unsigned kind;
	const void *units;
	size_t length;
	const char *wanted;
} strs[] = {
	{ "empty", STORED_ASCII, 1, "", 0, "" },
	{ "ASCII", STORED_ASCII, 1, ascii, 4, "f(x)" },
	{ "Latin-1", STORED_COMPACT, 1, latin, 5, "a\xc3\xa9\xc3\xbf\xc2\x80z" },
	{ "two bytes", STORED_COMPACT, 2, two, 5, "a\xe2\x82\xac\xc3\xa9\xef\xbf\xbfz" },
	{ "four bytes", STORED_COMPACT, 4, four, 5, "a\xf0\x9f\x98\x80\xc3\xa9\xf4\x8f\xbf\xbfz" },
	{ "surrogates", STORED_COMPACT, 2, surrogates, 5, R "x\xf0\x9f\x98\x80" R },
	{ "no characters", STORED_COMPACT, 4, insane, 4, R R R "z" },
	{ "apart, one byte", STORED_APART, 1, latin, 5, "a\xc3\xa9\xc3\xbf\xc2\x80z" },
	{ "apart, two bytes", STORED_APART, 2, two, 5, "a\xe2\x82\xac\xc3\xa9\xef\xbf\xbfz" },
	{ "apart, four bytes", STORED_APART, 4, four, 5,
		"a\xf0\x9f\x98\x80\xc3\xa9\xf4\x8f\xbf\xbfz" },
};

static void test_str(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(flexible); v++) {
		struct objects o;

		objects_init(&o, flexible[v]);
		for (size_t i = 0; i < PST_ARRAY_SIZE(strs); i++) {
			const pst_addr_t at = objects_str(
				&o, strs[i].storage, strs[i].kind, strs[i].units, strs[i].length);

			unit_row("%s: %s", o.layout.row->name, strs[i].what);
			check_text(&o, at, CAP, strs[i].wanted, strlen(strs[i].wanted));
		}
		objects_fini(&o);
	}
}

/* NUL is a character like others. */
static void test_nul(void)
{
	struct objects o;

	objects_init(&o, 0x030b00f0);
	check_text(&o, objects_str(&o, STORED_ASCII, 1, "a\0b", 3), CAP, "a\0b", 3);
	objects_fini(&o);
	objects_init(&o, V27);
	check_text(&o, objects_bytes(&o, "a\0b", 3), CAP, "a\0b", 3);
	objects_fini(&o);
}

/* The other bits of the state are of no account: interned, ready, statically allocated, and what is above. */
static void test_state_bits(void)
{
	struct objects o;
	pst_addr_t at;

	objects_init(&o, 0x030b00f0);
	at = objects_str(&o, STORED_ASCII, 1, "abc", 3);
	image_put_int(&o.image, at + 32, (int32_t)0xffffff83u | 1 << 2 | 1 << 5 | 1 << 6);
	check_text(&o, at, CAP, "abc", 3);
	at = objects_str(&o, STORED_APART, 1, "abc", 3);
	image_put_int(&o.image, at + 32, 1 << 2 | 1 << 6 | 1 << 7 | 3);
	check_text(&o, at, CAP, "abc", 3);
	objects_fini(&o);
}

static void test_bad_kind(void)
{
	static const unsigned kinds[] = { 0, 3, 5, 6, 7 };

	for (size_t i = 0; i < PST_ARRAY_SIZE(kinds); i++) {
		struct objects o;
		pst_addr_t at;

		objects_init(&o, 0x030b00f0);
		unit_row("kind %u", kinds[i]);
		at = objects_str(&o, STORED_ASCII, 1, "abcdefghijklmnop", 16);
		image_put_int(&o.image, at + 32, (int32_t)(kinds[i] << 2 | 1u << 5 | 1u << 6));
		check_no_text(&o, at, PST_ERR_TORN);
		objects_fini(&o);
	}
}

/* A long text of KIND is read in pieces, none of which leaves the text. */
static void check_long(unsigned kind, size_t length)
{
	cleanup_free unsigned char *units = pst_xcalloc(length, kind);
	cleanup_free char *wanted = pst_xmalloc(length);
	struct objects o;

	for (size_t i = 0; i < length; i++)
		units[i * kind] = (unsigned char)(wanted[i] = (char)('a' + i % 23));
	objects_init(&o, 0x030b00f0);
	unit_row("%zu units of %u bytes", length, kind);
	check_text(&o, objects_str(&o, STORED_COMPACT, kind, units, length), length + 8, wanted,
		length);
	objects_fini(&o);
}

static void test_long(void)
{
	static const size_t lengths[] = { 127, 128, 129, 255, 256, 257, 511, 512, 513, 1024, 5000 };

	for (size_t i = 0; i < PST_ARRAY_SIZE(lengths); i++) {
		check_long(1, lengths[i]);
		check_long(2, lengths[i]);
		check_long(4, lengths[i]);
	}
}

/* ---- room ---- */

/* Text that fits is whole, text that does not is cut between characters. */
static void check_cap(struct objects *o, pst_addr_t at, const char *whole, size_t cap)
{
	const size_t len_whole = strlen(whole);
	cleanup_free char *buf = pst_xmalloc(cap);
	struct pst_error err = { 0 };
	size_t len = 999;

	unit_row("%s into %zu", whole, cap);
	if (!CHECK_DONE(read_text(o, at, buf, cap, &len, &err), &err))
		return;
	CHECK(len <= cap);
	CHECK(len + PST_ARRAY_SIZE("\xf0\x9f\x98\x80") > cap || len == len_whole);
	CHECK(len <= len_whole && memcmp(buf, whole, len) == 0);
	CHECK(len == len_whole || (whole[len] & 0xc0) != 0x80);
	if (cap >= len_whole)
		CHECK_INT(len, len_whole);
}

static void test_cap(void)
{
	static const char wide[] = "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80";
	static const uint32_t faces[] = { 0x1f600, 0x1f600, 0x1f600 };
	struct objects o;
	pst_addr_t narrow, faced, bytes;

	objects_init(&o, 0x030b00f0);
	narrow = objects_str(&o, STORED_ASCII, 1, "abcdefghij", 10);
	faced = objects_str(&o, STORED_COMPACT, 4, faces, 3);
	for (size_t cap = 1; cap < 20; cap++) {
		check_cap(&o, narrow, "abcdefghij", cap);
		check_cap(&o, faced, wide, cap);
	}
	objects_fini(&o);
	objects_init(&o, V27);
	bytes = objects_bytes(&o, "abcdefghij", 10);
	for (size_t cap = 1; cap < 20; cap++)
		check_cap(&o, bytes, "abcdefghij", cap);
	objects_fini(&o);
}

/* Of a long text no more is read than there is room for. */
static void check_reads(struct objects *o, pst_addr_t at, pst_addr_t text, unsigned kind)
{
	struct pst_error err = { 0 };
	char buf[CAP];
	size_t len;

	image_forget(&o->image);
	unit_row("%u bytes", kind);
	CHECK_DONE(read_text(o, at, buf, sizeof(buf), &len, &err), &err);
	CHECK_INT(image_count_reads(&o->image, text), 1);
	CHECK_INT(image_count_reads(&o->image, text + CAP * kind), 0);
}

static void test_reads(void)
{
	cleanup_free char *units = pst_xcalloc(5000, 4);
	struct objects o;

	objects_init(&o, 0x030b00f0);
	for (unsigned kind = 1; kind <= 4; kind *= 2) {
		const pst_addr_t at = objects_str(&o, STORED_COMPACT, kind, units, 5000);

		check_reads(&o, at, at + 72, kind);
	}
	objects_fini(&o);
}

/* A length that cannot be: no more is read than there is room for, and that is not there. */
static void test_absurd_length(void)
{
	static const uint64_t lengths[] = { 1 << 20, 1ull << 32, 1ull << 62, 1ull << 63,
		UINT64_MAX };

	for (size_t i = 0; i < PST_ARRAY_SIZE(lengths); i++) {
		struct objects o;
		pst_addr_t at;

		unit_row("%#" PRIx64, lengths[i]);
		objects_init(&o, 0x030b00f0);
		at = objects_str(&o, STORED_COMPACT, 4, four, 5);
		image_put_word(&o.image, at + 16, lengths[i]);
		check_no_text(&o, at, PST_ERR_TORN);
		at = objects_str(&o, STORED_ASCII, 1, "abc", 3);
		image_put_word(&o.image, at + 16, lengths[i]);
		check_no_text(&o, at, PST_ERR_TORN);
		objects_fini(&o);
		objects_init(&o, V27);
		at = objects_bytes(&o, "abc", 3);
		image_put_word(&o.image, at + 16, lengths[i]);
		check_no_text(&o, at, PST_ERR_TORN);
		objects_fini(&o);
	}
}

/* More bytes than there is room for, all of them there. */
static void test_huge_bytes(void)
{
	enum { N = 300000 };
	cleanup_free char *text = pst_xmalloc(N), *buf = pst_xmalloc(16384);
	struct pst_error err = { 0 };
	struct objects o;
	size_t len = 0;

	memset(text, 'q', N);
	objects_init(&o, V27);
	CHECK_DONE(read_text(&o, objects_bytes(&o, text, N), buf, 16384, &len, &err), &err);
	CHECK(len > 16000 && len <= 16384);
	CHECK(memcmp(text, buf, len) == 0);
	objects_fini(&o);
}

/* ---- the str of 2.x ---- */

static void test_bytes(void)
{
	static const struct {
		const char *bytes, *wanted;
	} rows[] = {
		{ "", "" },
		{ "f", "f" },
		{ "/a b/c.py", "/a b/c.py" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "caf\xe9", "caf" R },
		{ "\xe9t\xe9", R "t" R },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\xf0\x9f\x98", R R R },
		{ "\xed\xa0\x80", R R R },
	};
	struct objects o;

	objects_init(&o, V27);
	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		unit_row("%zu", i);
		check_text(&o, objects_bytes(&o, rows[i].bytes, strlen(rows[i].bytes)), CAP,
			rows[i].wanted, strlen(rows[i].wanted));
	}
	objects_fini(&o);
}

/* ---- what is no text ---- */

static void test_types(void)
{
	struct objects o;
	pst_addr_t at;

	objects_init(&o, 0x030b00f0);
	check_no_text(&o, objects_bytes(&o, "a str has other bytes", 21), PST_ERR_TORN);
	check_no_text(&o, objects_plain(&o, o.type_none, 100), PST_ERR_TORN);
	at = objects_str(&o, STORED_ASCII, 1, "abc", 3);
	image_put_word(&o.image, at + 8, objects_type(&o, "mystr", FLAG_STR | 1 << 9 | 1));
	check_text(&o, at, CAP, "abc", 3);
	image_put_word(&o.image, at + 8, objects_type(&o, "all others", ~FLAG_STR));
	check_no_text(&o, at, PST_ERR_TORN);
	o.layout.off.type_flags = PST_ABSENT; /* a version that has no such flag: its name tells */
	check_no_text(&o, at, PST_ERR_TORN);
	image_put_word(&o.image, at + 8, objects_type(&o, "str", 0));
	check_text(&o, at, CAP, "abc", 3);
	objects_fini(&o);
	objects_init(&o, V27);
	at = objects_bytes(&o, "abc", 3);
	image_put_word(&o.image, at + 8, objects_type(&o, "all others", ~FLAG_BYTES));
	check_no_text(&o, at, PST_ERR_TORN);
	image_put_word(&o.image, at + 8, objects_type(&o, "mystr", FLAG_BYTES));
	check_text(&o, at, CAP, "abc", 3);
	objects_fini(&o);
}

static void test_not_mapped(void)
{
	struct objects o;
	pst_addr_t at;

	objects_init(&o, 0x030b00f0);
	check_no_text(&o, 0, PST_ERR_TORN);
	check_no_text(&o, 0x50, PST_ERR_TORN);
	at = objects_str(&o, STORED_APART, 1, "abc", 3);
	image_put_word(&o.image, at + 72, 0x50);
	check_no_text(&o, at, PST_ERR_TORN);
	image_put_word(&o.image, at + 8, 0x50);
	check_no_text(&o, at, PST_ERR_TORN);
	objects_fini(&o);
}

/* Whichever read it is that fails, its error is told. */
static void check_failing(uint32_t version, enum pst_error_code code)
{
	struct pst_error err = { 0 };
	struct objects o;
	char buf[CAP];
	pst_addr_t at;
	size_t len, n = 1;

	objects_init(&o, version);
	at = version == V27 ? objects_bytes(&o, "abc", 3)
			    : objects_str(&o, STORED_APART, 2, two, 5);
	for (; n < 50; n++) {
		image_fail(&o.image, n, code);
		if (read_text(&o, at, buf, sizeof(buf), &len, &err) == 0)
			break;
		unit_row("%s, read %zu", o.layout.row->name, n);
		CHECK_INT(err.code, code);
	}
	CHECK(n > 3 && n < 50);
	objects_fini(&o);
}

static void test_errors(void)
{
	check_failing(V27, PST_ERR_GONE);
	check_failing(0x030b00f0, PST_ERR_GONE);
	check_failing(0x030b00f0, PST_ERR_PERM);
	check_failing(0x030b00f0, PST_ERR_LATE);
}

static CU_TestInfo tests[] = {
	{ "str: kinds and places", test_str },
	{ "NUL", test_nul },
	{ "str: other bits of the state", test_state_bits },
	{ "str: kinds that cannot be", test_bad_kind },
	{ "str: long", test_long },
	{ "cut where there is no room", test_cap },
	{ "no more is read than there is room for", test_reads },
	{ "lengths that cannot be", test_absurd_length },
	{ "2.x: long", test_huge_bytes },
	{ "2.x: bytes", test_bytes },
	{ "types", test_types },
	{ "not mapped", test_not_mapped },
	{ "errors", test_errors },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_text = { "text", NULL, NULL, NULL, NULL, tests };
