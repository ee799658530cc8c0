/* Text in units of 2 or 4 bytes, by how Python was built: the str of 3.0-3.2 and the unicode of 2.x.  And the str
 * of builds without the GIL, whose state lies otherwise. */
#include "unit.h"

#include "objects.h"

#include <stdlib.h>
#include <string.h>

#define CAP 64
#define R   "\xef\xbf\xbd"

static const uint32_t versions[] = { 0x020307f0, 0x020406f0, 0x020506f0, 0x020609f0, 0x020712f0,
	0x030001f0, 0x030105f0, 0x030206f0 };

static int read_wide(
	struct objects *o, pst_addr_t at, char *buf, size_t cap, size_t *len, struct pst_error *err)
{
	*len = 999;
	return pst_text_wide(&o->layout, &o->image.mem, at, buf, cap, len, err);
}

static void check_wide(struct objects *o, pst_addr_t at, const char *wanted, size_t wanted_len)
{
	struct pst_error err = { 0 };
	char buf[CAP];
	size_t len;

	if (CHECK_DONE(read_wide(o, at, buf, sizeof(buf), &len, &err), &err))
		CHECK_BYTES(buf, len, wanted, wanted_len);
}

static void check_no_text(struct objects *o, pst_addr_t at, enum pst_error_code code)
{
	struct pst_error err = { 0 };
	char buf[CAP];
	size_t len;

	CHECK_ERROR(read_wide(o, at, buf, sizeof(buf), &len, &err), &err, code);
}

/* ---- units ---- */

#define U2(...) 2, (const uint16_t[]){ __VA_ARGS__ }, sizeof((const uint16_t[]){ __VA_ARGS__ }) / 2
#define U4(...) 4, (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4

static const struct {
	const char *what;
	unsigned width;
	const void *units;
	size_t length;
	const char *wanted;
} texts[] = {
	{ "ASCII", U2('f', '(', ')'), "f()" },
	{ "two bytes", U2('a', 0xe9, 0x20ac, 0xfffd), "a\xc3\xa9\xe2\x82\xac" R },
	{ "a pair", U2('a', 0xd83d, 0xde00, 'z'), "a\xf0\x9f\x98\x80z" },
	{ "pairs", U2(0xd83d, 0xde00, 0xdbff, 0xdfff), "\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf" },
	{ "the least pair", U2(0xd800, 0xdc00), "\xf0\x90\x80\x80" },
	{ "half a pair", U2('a', 0xd83d, 'z'), "a" R "z" },
	{ "half a pair at the end", U2('a', 0xd83d), "a" R },
	{ "the other half", U2('a', 0xde00, 'z'), "a" R "z" },
	{ "other halves", U2(0xde00, 0xde01), R R },
	{ "the wrong way round", U2(0xde00, 0xd83d), R R },
	{ "a half and a pair", U2(0xd83d, 0xd83d, 0xde00), R "\xf0\x9f\x98\x80" },
	{ "halves", U2(0xd83d, 0xd83d, 0xd83d), R R R },
	{ "wide ASCII", U4('f', '(', ')'), "f()" },
	{ "four bytes", U4('a', 0x1f600, 0xe9, 0x10ffff),
		"a\xf0\x9f\x98\x80\xc3\xa9\xf4\x8f\xbf\xbf" },
	{ "beyond two bytes", U4(0x1f600), "\xf0\x9f\x98\x80" },
	{ "no character", U4('a', 0x110000, 0xffffffff, 0x80000061), "a" R R R },
	{ "a half alone", U4('a', 0xd800, 'z'), "a" R "z" },
};

/* The width is known, by a symbol. */
static void test_units(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(texts); i++) {
			struct objects o;

			objects_init(&o, versions[v]);
			o.layout.unicode_bytes = texts[i].width;
			unit_row("%s: %s", o.layout.row->name, texts[i].what);
			check_wide(&o,
				objects_ustr(&o, texts[i].width, texts[i].units, texts[i].length),
				texts[i].wanted, strlen(texts[i].wanted));
			objects_fini(&o);
		}
}

/* It is not: no name holds a NUL. */
static void test_guess(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(texts); i++) {
		struct objects o;

		if (strcmp(texts[i].what, "no character") == 0 ||
			strcmp(texts[i].what, "beyond two bytes") == 0)
			continue;
		objects_init(&o, 0x030206f0);
		CHECK_INT(o.layout.unicode_bytes, 0);
		unit_row("%s", texts[i].what);
		check_wide(&o, objects_ustr(&o, texts[i].width, texts[i].units, texts[i].length),
			texts[i].wanted, strlen(texts[i].wanted));
		objects_fini(&o);
	}
}

/* Of one unit the lower half says all there is, in either width. */
static void test_short(void)
{
	static const uint32_t one[] = { 'q' };

	for (unsigned width = 2; width <= 4; width += 2) {
		struct objects o;

		objects_init(&o, 0x030206f0);
		unit_row("%u bytes", width);
		check_wide(&o, objects_ustr(&o, width, one, 0), "", 0);
		check_wide(&o, objects_ustr(&o, width, one, 1), "q", 1);
		o.layout.unicode_bytes = width;
		check_wide(&o, objects_ustr(&o, width, one, 0), "", 0);
		check_wide(&o, objects_ustr(&o, width, one, 1), "q", 1);
		objects_fini(&o);
	}
}

static void test_width_of_roots(void)
{
	static const struct {
		struct pst_roots roots;
		unsigned bytes;
	} rows[] = { { { .runtime = 1 }, 0 }, { { .unicode_ucs2 = 0x5000 }, 2 },
		{ { .unicode_ucs4 = 0x5000 }, 4 } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct pst_error err = { 0 };
		struct pst_layout layout;

		unit_row("%zu", i);
		CHECK_DONE(pst_abi_resolve(layouts_row(0x020712f0), NULL, &rows[i].roots, true,
				   &layout, &err),
			&err);
		CHECK_INT(layout.unicode_bytes, rows[i].bytes);
	}
}

/* Long text is read in pieces; a pair that lies across two of them is one character. */
static void test_long(void)
{
	enum { N = 1000 };
	cleanup_free uint16_t *units = pst_xcalloc(N, sizeof(*units));
	cleanup_free char *buf = pst_xmalloc(N * 4);

	for (size_t start = 250; start < 260; start++) {
		struct pst_error err = { 0 };
		struct objects o;
		size_t len;

		for (size_t i = 0; i < N; i++)
			units[i] = 'a';
		units[start] = 0xd83d;
		units[start + 1] = 0xde00;
		objects_init(&o, 0x030206f0);
		o.layout.unicode_bytes = 2;
		unit_row("%zu", start);
		CHECK_DONE(
			read_wide(&o, objects_ustr(&o, 2, units, N), buf, N * 4, &len, &err), &err);
		CHECK_INT(len, N + 2);
		CHECK(memcmp(buf + start, "\xf0\x9f\x98\x80", 4) == 0 && buf[start - 1] == 'a' &&
			buf[start + 4] == 'a');
		objects_fini(&o);
	}
}

/* What does not fit is cut between characters. */
static void test_cap(void)
{
	static const uint16_t faces[] = { 0xd83d, 0xde00, 0xd83d, 0xde00, 0xd83d, 0xde00 };

	for (size_t cap = 1; cap < 16; cap++) {
		cleanup_free char *buf = pst_xmalloc(cap);
		struct pst_error err = { 0 };
		struct objects o;
		size_t len;

		objects_init(&o, 0x030206f0);
		o.layout.unicode_bytes = 2;
		unit_row("%zu bytes", cap);
		CHECK_DONE(
			read_wide(&o, objects_ustr(&o, 2, faces, 6), buf, cap, &len, &err), &err);
		CHECK(len <= cap && len <= 12);
		for (size_t at = 0; at + 4 <= len; at += 4)
			CHECK(memcmp(buf + at, "\xf0\x9f\x98\x80", 4) == 0);
		CHECK(len % 4 == 0 || memcmp(buf + len - len % 4, R, len % 4) == 0);
		if (cap >= 12)
			CHECK_INT(len, 12);
		objects_fini(&o);
	}
}

/* ---- what is no text ---- */

static void test_lengths(void)
{
	static const uint64_t lengths[] = { 1 << 20, 1ull << 31, 1ull << 32, 1ull << 62, 1ull << 63,
		UINT64_MAX };
	static const uint32_t text[] = { 'a', 'b', 'c' };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(lengths); i++) {
			struct objects o;
			pst_addr_t at;

			if (versions[v] < PST_PY(2, 5, 0) && (uint32_t)lengths[i] == 0)
				continue;
			objects_init(&o, versions[v]);
			unit_row("%s: %#" PRIx64, o.layout.row->name, lengths[i]);
			at = objects_ustr(&o, 4, text, 3);
			objects_put_size(&o, at, o.layout.off.ustr_length, lengths[i]);
			check_no_text(&o, at, PST_ERR_TORN);
			o.layout.unicode_bytes = 4;
			check_no_text(&o, at, PST_ERR_TORN);
			objects_fini(&o);
		}
}

/* A length that cannot be, where all that would be read of it is there. */
static void test_long_lie(void)
{
	static const uint32_t text[CAP] = { 'a', 'b', 'c' };
	struct objects o;
	pst_addr_t at;

	objects_init(&o, 0x030206f0);
	o.layout.unicode_bytes = 4;
	at = objects_ustr(&o, 4, text, CAP);
	objects_put_size(&o, at, o.layout.off.ustr_length, (1 << 30) + 1);
	check_no_text(&o, at, PST_ERR_TORN);
	objects_fini(&o);
}

/* Told by a flag of their type, or before there were such by its name. */
static void test_types(void)
{
	static const uint32_t text[] = { 'a', 'b', 'c' };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		const bool flags = versions[v] >= PST_PY(2, 6, 0);
		struct objects o;
		pst_addr_t at;

		objects_init(&o, versions[v]);
		unit_row("%s", o.layout.row->name);
		at = objects_ustr(&o, 4, text, 3);
		check_wide(&o, at, "abc", 3);
		objects_put(&o, at, o.layout.off.object_type, o.type_bytes);
		check_no_text(&o, at, PST_ERR_TORN);
		objects_put(
			&o, at, o.layout.off.object_type, objects_type(&o, "unicode", ~FLAG_STR));
		if (flags)
			check_no_text(&o, at, PST_ERR_TORN);
		else
			check_wide(&o, at, "abc", 3);
		objects_put(&o, at, o.layout.off.object_type, objects_type(&o, "mine", FLAG_STR));
		if (flags)
			check_wide(&o, at, "abc", 3);
		else
			check_no_text(&o, at, PST_ERR_TORN);
		objects_fini(&o);
	}
}

static void test_not_mapped(void)
{
	static const uint32_t text[] = { 'a', 'b', 'c' };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct objects o;
		pst_addr_t at;
		size_t n = 1;

		objects_init(&o, versions[v]);
		unit_row("%s", o.layout.row->name);
		check_no_text(&o, 0x50, PST_ERR_TORN);
		at = objects_ustr(&o, 4, text, 3);
		for (; n < 20; n++) {
			struct pst_error err = { 0 };
			char buf[CAP];
			size_t len;

			image_fail(&o.image, n, PST_ERR_GONE);
			if (read_wide(&o, at, buf, sizeof(buf), &len, &err) == 0)
				break;
			CHECK_INT(err.code, PST_ERR_GONE);
		}
		CHECK(n > 5 && n < 20);
		image_fail(&o.image, 0, 0);
		objects_put(&o, at, o.layout.off.ustr_data, 0x50);
		check_no_text(&o, at, PST_ERR_TORN);
		objects_fini(&o);
	}
}

/* ---- builds without the GIL ---- */

/* `interned`, below the kind, is of no account, however wide it is. */
static void test_kind_bit(void)
{
	static const uint32_t bare[] = { 0x030d12f0, 0x030e0af0, 0x030f02f0 };
	static const uint16_t text[] = { 'a', 0x20ac, 'z' };

	for (size_t v = 0; v < PST_ARRAY_SIZE(bare); v++)
		for (int storage = STORED_COMPACT; storage <= STORED_APART; storage++) {
			struct pst_error err = { 0 };
			struct objects o;
			char buf[CAP];
			int32_t state = 0;
			pst_addr_t at, word;
			size_t len = 0;

			objects_init_flavour(&o, bare[v], PST_FREE_THREADED);
			at = objects_str(&o, (enum storage)storage, 2, text, 3);
			word = at + (pst_addr_t)o.layout.off.str_state;
			unit_row("%s, storage %d", o.layout.row->name, storage);
			for (int32_t interned = 0; interned < 1 << o.kind_bit; interned++) {
				MUST(pst_mem_read_i32(&o.image.mem, word, &state, &err) == 0);
				state = (state >> o.kind_bit << o.kind_bit) | interned;
				image_put_int(&o.image, word, state);
				CHECK_DONE(o.layout.text(&o.layout, &o.image.mem, at, buf,
						   sizeof(buf), &len, &err),
					&err);
				CHECK_BYTES(buf, len, "a\xe2\x82\xacz", 5);
			}
			objects_fini(&o);
		}
}

static CU_TestInfo tests[] = {
	{ "units", test_units },
	{ "units whose width is not known", test_guess },
	{ "short", test_short },
	{ "symbols tell the width", test_width_of_roots },
	{ "long", test_long },
	{ "cut where there is no room", test_cap },
	{ "lengths that cannot be", test_lengths },
	{ "a length that is a lie", test_long_lie },
	{ "types", test_types },
	{ "not mapped, errors", test_not_mapped },
	{ "str without the GIL", test_kind_bit },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_wide = { "wide", NULL, NULL, NULL, NULL, tests };
