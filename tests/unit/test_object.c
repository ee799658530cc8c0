/* Objects of any version: sizes, types, ints, and the comparison of text. */
#include "unit.h"

#include "objects.h"

#include <string.h>

#define V24  0x020406f0 /* sizes are ints */
#define V27  0x020712f0
#define V32  0x030206f0
#define V311 0x030b02f0
#define V312 0x030c03f0 /* ints say their size in a tag */
#define V315 0x030f02f0

/* ---- sizes ---- */

static const struct {
	uint32_t version;
	uint64_t raw, max;
	bool ok;
} sizes[] = {
	{ V27, 0, 0, true },
	{ V27, 5, 5, true },
	{ V27, 6, 5, false },
	{ V27, UINT64_MAX, 1 << 30, false },
	{ V27, 1ull << 63, UINT64_MAX / 2, false },
	{ V27, 1ull << 32, 1 << 30, false },
	{ V24, 5, 5, true },
	{ V24, 0xffffffff00000005, 5, true }, /* the upper half is something else */
	{ V24, 6, 5, false },
	{ V24, 0xffffffff, 1 << 30, false },
	{ V315, 5, 5, true },
	{ V315, 0xffffffff00000005, 5, false },
};

static void test_sizes(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(sizes); i++) {
		struct pst_error err = { 0 };
		uint64_t size = 99;
		struct objects o;
		pst_addr_t at;
		int result;

		objects_init(&o, sizes[i].version);
		at = objects_plain(&o, o.type_bytes, 64);
		image_put_u64(&o.image, at + (pst_addr_t)o.layout.off.object_size, sizes[i].raw);
		result = pst_object_size(&o.layout, &o.image.mem, at, sizes[i].max, &size, &err);
		unit_row("%s: %#" PRIx64, o.layout.row->name, sizes[i].raw);
		if (!sizes[i].ok)
			CHECK_ERROR(result, &err, PST_ERR_TORN);
		else if (CHECK_DONE(result, &err))
			CHECK_INT(size, sizes[i].raw & 0xffffffff);
		CHECK_ERROR(pst_object_size(&o.layout, &o.image.mem, 0x50, 9, &size, &err), &err,
			PST_ERR_TORN);
		CHECK_INT(pst_size_bytes(&o.layout, &o.image.mem), sizes[i].version == V24 ? 4 : 8);
		objects_fini(&o);
	}
}

/* ---- ints ---- */

static int read_int(struct objects *o, pst_addr_t at, int64_t *value, struct pst_error *err)
{
	*value = 99;
	return pst_object_int(&o->layout, &o->image.mem, at, value, err);
}

static void check_int(struct objects *o, pst_addr_t at, int64_t wanted)
{
	struct pst_error err = { 0 };
	int64_t value;

	unit_row("%s: %" PRId64, o->layout.row->name, wanted);
	CHECK_DONE(read_int(o, at, &value, &err), &err);
	CHECK_INT(value, wanted);
}

static void check_no_int(struct objects *o, pst_addr_t at, const char *what)
{
	struct pst_error err = { 0 };
	int64_t value;

	unit_row("%s: %s", o->layout.row->name, what);
	CHECK_ERROR(read_int(o, at, &value, &err), &err, PST_ERR_TORN);
}

static const uint32_t int_versions[] = { V24, V27, V32, 0x03060ff0, V311, V312, V315 };
static const int64_t values[] = { 0, 1, -1, 255, 32767, 32768, -32768, (1 << 30) - 1, 1 << 30,
	-(1 << 30), 0x7f3b12345678, -0x7f3b12345678, 0x3fffffffffffffff, INT64_MAX, INT64_MIN };

/* A pthread's id, for instance. */
static void test_ints(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(int_versions); v++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(values); i++) {
			struct objects o;

			objects_init(&o, int_versions[v]);
			check_int(&o, objects_int(&o, values[i]), values[i]);
			objects_fini(&o);
		}
}

/* Digits of 15 and of 30 bits: builds for 64 bits may have either. */
static void test_longs(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(int_versions); v++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(values); i++)
			for (unsigned bits = 15; bits <= 30; bits += 15) {
				const bool negative = values[i] < 0;
				const uint64_t magnitude =
					negative ? 0 - (uint64_t)values[i] : (uint64_t)values[i];
				const char *name =
					int_versions[v] < PST_PY(3, 0, 0) ? "long" : "int";
				struct objects o;

				objects_init(&o, int_versions[v]);
				check_int(&o, objects_long(&o, name, bits, negative, magnitude),
					values[i]);
				objects_fini(&o);
			}
}

/* Ids are unsigned in some versions: 64 bits they are all the same. */
static void test_unsigned(void)
{
	struct objects o;

	objects_init(&o, V311);
	check_int(&o, objects_long(&o, "int", 30, false, UINT64_MAX), -1);
	check_int(&o, objects_long(&o, "int", 15, false, 1ull << 63), INT64_MIN);
	objects_fini(&o);
}

/* One digit more than 64 bits have, or a bit more in the last. */
static void test_too_large(void)
{
	static const struct {
		unsigned bits, digit; /* the one that is overwritten */
		uint32_t value;
		uint64_t count;
		bool ok;
	} rows[] = { { 30, 2, 15, 3, true }, { 30, 2, 16, 3, false },
		{ 30, 2, 0x3fffffff, 3, false }, { 30, 3, 1, 4, false }, { 15, 4, 15, 5, true },
		{ 15, 4, 16, 5, false }, { 15, 4, 0x7fff, 5, false }, { 15, 4, 1, 6, false },
		{ 30, 0, 1, 1ull << 40, false }, { 30, 0, 1, 1ull << 60, false } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		const unsigned bytes = rows[i].bits == 15 ? 2 : 4;
		struct pst_error err = { 0 };
		struct objects o;
		int64_t value;
		pst_addr_t at;
		int result;

		objects_init(&o, V312);
		at = objects_long(&o, "int", rows[i].bits, false, 7);
		objects_put(&o, at, o.layout.off.long_tag, rows[i].count << 3);
		image_put(&o.image,
			at + (pst_addr_t)o.layout.off.long_digits + rows[i].digit * bytes,
			&rows[i].value, bytes);
		result = read_int(&o, at, &value, &err);
		unit_row("digit %u of %u bits is %#x", rows[i].digit, rows[i].bits, rows[i].value);
		if (rows[i].ok)
			CHECK_DONE(result, &err);
		else
			CHECK_ERROR(result, &err, PST_ERR_TORN);
		objects_fini(&o);
	}
}

static void test_no_int(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(int_versions); v++) {
		static const int32_t items[] = { 0, 1, 3, 8, -4 };
		struct objects o;
		pst_addr_t at, type = 0;
		struct pst_error err = { 0 };

		objects_init(&o, int_versions[v]);
		check_no_int(&o, objects_name(&o, "12"), "a str");
		check_no_int(&o, objects_long(&o, "bool", 30, false, 1), "a bool");
		check_no_int(&o, 0, "nothing");
		check_no_int(&o, UINT64_MAX, "nothing");
		at = objects_long(&o, "long", 30, false, 5);
		check_int(&o, at, 5);
		MUST(pst_mem_read_addr(&o.image.mem, at + (pst_addr_t)o.layout.off.object_type,
			     &type, &err) == 0);
		for (size_t i = 0; i < PST_ARRAY_SIZE(items); i++) {
			objects_put_int(&o, type, o.layout.off.type_itemsize, items[i]);
			check_no_int(&o, at, "strange digits");
		}
		objects_fini(&o);
	}
}

/* How many digits: what cannot be is refused before it is read. */
static void test_counts(void)
{
	static const struct {
		uint32_t version;
		uint64_t raw;
	} rows[] = { { V24, 0x80000000 }, { V24, 0x7fffffff }, { V27, 1ull << 63 },
		{ V27, 1ull << 40 }, { V311, 1ull << 63 }, { V311, 4 }, { V311, (uint64_t)-4 },
		{ V312, 4 << 3 }, { V312, UINT64_MAX & ~3ull }, { V315, (4 << 3) + 2 } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct objects o;
		pst_addr_t at;

		objects_init(&o, rows[i].version);
		at = objects_long(&o, "long", 30, false, 5);
		if (rows[i].version >= V312)
			objects_put(&o, at, o.layout.off.long_tag, rows[i].raw);
		else
			objects_put_size(&o, at, o.layout.off.object_size, rows[i].raw);
		check_no_int(&o, at, "strange count");
		objects_fini(&o);
	}
}

static void test_errors(void)
{
	static const uint32_t versions[] = { V27, V311, V312 };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct objects o;
		pst_addr_t at;
		size_t n = 1;

		objects_init(&o, versions[v]);
		at = objects_int(&o, 5);
		unit_row("%s", o.layout.row->name);
		for (; n < 30; n++) {
			struct pst_error err = { 0 };
			int64_t value;

			image_fail(&o.image, n, PST_ERR_GONE);
			if (read_int(&o, at, &value, &err) == 0)
				break;
			CHECK_INT(err.code, PST_ERR_GONE);
		}
		CHECK(n > 4 && n < 30);
		objects_fini(&o);
	}
}

/* ---- text ---- */

static void test_text_equals(void)
{
	static const struct {
		const char *text, *other;
	} rows[] = { { "threading", "threading" }, { "threading", "threadin" },
		{ "threading", "threadings" }, { "threading", "Threading" }, { "", "" },
		{ "", "a" }, { "a", "" }, { "_name", "_Thread__name" } };
	static const uint32_t versions[] = { V24, V27, V32, 0x030307f0, V312, V315 };
	char longer[301];

	memset(longer, 'x', 300);
	longer[300] = '\0';
	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct objects o;

		objects_init(&o, versions[v]);
		for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
			unit_row("%s: '%s', '%s'", o.layout.row->name, rows[i].text, rows[i].other);
			CHECK_INT(pst_text_equals(&o.layout, &o.image.mem,
					  objects_name(&o, rows[i].text), rows[i].other),
				strcmp(rows[i].text, rows[i].other) == 0);
		}
		unit_row("%s: no text", o.layout.row->name);
		CHECK(!pst_text_equals(&o.layout, &o.image.mem, 0x50, ""));
		CHECK(!pst_text_equals(&o.layout, &o.image.mem, objects_int(&o, 1), ""));
		CHECK(!pst_text_equals(
			&o.layout, &o.image.mem, objects_name(&o, longer), "xxxxxxxxxx"));
		objects_fini(&o);
	}
}

static CU_TestInfo tests[] = {
	{ "sizes", test_sizes },
	{ "ints", test_ints },
	{ "ints by digits", test_longs },
	{ "ints of 64 bits without a sign", test_unsigned },
	{ "ints that are too large", test_too_large },
	{ "what is no int", test_no_int },
	{ "numbers of digits that cannot be", test_counts },
	{ "errors", test_errors },
	{ "text equals", test_text_equals },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_object = { "object", NULL, NULL, NULL, NULL, tests };
