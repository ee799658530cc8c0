/* Dicts of every era: what a visit finds, and what of those that are none. */
#include "unit.h"

#include "dicts.h"

#include <string.h>

/* Entry I of many: pointers that are told apart. */
static struct dict_entry nth(size_t i)
{
	return (struct dict_entry){ 0x10000 + i * 16, 0x9000000 + i * 16 };
}

static int visit(struct objects *o, pst_addr_t dict, struct visits *visits, struct pst_error *err)
{
	return o->layout.dict(&o->layout, &o->image.mem, dict, visits_add, visits, err);
}

/* A visit of DICT finds V and ends by itself. */
static void check_dict(struct objects *o, pst_addr_t dict, const struct dict_entry *v, size_t n)
{
	struct visits visits = { .n = 0 };
	struct pst_error err = { 0 };

	CHECK_DONE(visit(o, dict, &visits, &err), &err);
	visits_check(&visits, v, n);
}

static void test_plain(void)
{
	static const struct dict_entry v[] = { { 0x1000, 0x2000 }, { 0x1010, 0x2010 },
		{ 0x1020, 0x2000 }, { 0x1030, 0x1030 }, { UINT64_MAX, UINT64_MAX - 7 } };

	for (size_t i = 0; i < DICT_VERSIONS; i++)
		for (size_t n = 0; n <= PST_ARRAY_SIZE(v); n++) {
			struct objects o;

			objects_init(&o, dict_versions[i]);
			unit_row("%s, %zu entries", o.layout.row->name, n);
			check_dict(&o, dicts_plain(&o, v, n), v, n);
			objects_fini(&o);
		}
}

/* Deleted: a key without value, or in 2.x too a value without key that means anything. */
static void test_holes(void)
{
	static const struct dict_entry v[] = { { 0x1000, 0 }, { 0x1010, 0x2010 }, { 0, 0 },
		{ 0, 0x2020 }, { 0x1030, 0x2030 }, { 0x1040, 0 } };

	for (size_t i = 0; i < DICT_VERSIONS; i++) {
		struct objects o;

		objects_init(&o, dict_versions[i]);
		unit_row("%s", o.layout.row->name);
		check_dict(&o, dicts_plain(&o, v, PST_ARRAY_SIZE(v)), v, PST_ARRAY_SIZE(v));
		objects_fini(&o);
	}
}

/* Around the sizes that are read at a time, and those at which an index grows wider. */
static void test_sizes(void)
{
	static const struct {
		size_t n;
		unsigned log2_size;
	} rows[] = { { 5, 3 }, { 85, 7 }, { 86, 8 }, { 170, 8 }, { 255, 9 }, { 256, 9 }, { 257, 9 },
		{ 512, 10 }, { 513, 10 }, { 700, 15 }, { 700, 16 } };
	struct dict_entry v[700];

	for (size_t i = 0; i < PST_ARRAY_SIZE(v); i++)
		v[i] = nth(i);
	for (size_t i = 0; i < DICT_VERSIONS; i++)
		for (size_t k = 0; k < PST_ARRAY_SIZE(rows); k++) {
			struct dict_spec spec = {
				.v = v, .n = rows[k].n, .log2_size = rows[k].log2_size
			};
			struct objects o;

			objects_init(&o, dict_versions[i]);
			unit_row("%s, %zu of 2^%u", o.layout.row->name, spec.n, spec.log2_size);
			check_dict(&o, dicts_new(&o, &spec), v, spec.n);
			spec.unicode = true;
			check_dict(&o, dicts_new(&o, &spec), v, spec.n);
			objects_fini(&o);
		}
}

/* The keys are those of many dicts: some have no value here. */
static void test_split(void)
{
	struct dict_entry v[300];

	for (size_t i = 0; i < PST_ARRAY_SIZE(v); i++)
		v[i] = i % 7 == 3 ? (struct dict_entry){ nth(i).key, 0 } : nth(i);
	for (size_t i = 0; i < DICT_VERSIONS; i++)
		for (size_t n = 1; n <= PST_ARRAY_SIZE(v); n += 13) {
			const struct dict_spec spec = {
				.v = v, .n = n, .log2_size = 9, .split = true
			};
			struct objects o;

			if (dict_versions[i] < HAS_KEYS)
				continue;
			objects_init(&o, dict_versions[i]);
			unit_row("%s, %zu entries", o.layout.row->name, n);
			check_dict(&o, dicts_new(&o, &spec), v, n);
			objects_fini(&o);
		}
}

/* Every kind of entry of 3.11+. */
static void test_kinds(void)
{
	static const struct {
		uint8_t kind;
		enum pst_error_code code; /* 0: as it should be */
	} rows[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, PST_ERR_TORN }, { 0xff, PST_ERR_TORN } };
	const struct dict_entry v[] = { nth(0), nth(1), nth(2) };
	const struct pst_offsets *off;

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		const struct dict_spec spec = {
			.v = v, .n = 3, .log2_size = 3, .unicode = rows[i].kind > 0
		};
		struct visits visits = { .n = 0 };
		struct pst_error err = { 0 };
		struct objects o;
		pst_addr_t dict, keys = 0;

		objects_init(&o, 0x030c03f0);
		off = &o.layout.off;
		dict = dicts_new(&o, &spec);
		unit_row("kind %d", rows[i].kind);
		MUST(pst_mem_read_addr(
			     &o.image.mem, dict + (pst_addr_t)off->dict_keys, &keys, &err) == 0);
		image_put_byte(&o.image, keys + (pst_addr_t)off->keys_kind, rows[i].kind);
		if (rows[i].code)
			CHECK_ERROR(visit(&o, dict, &visits, &err), &err, rows[i].code);
		else
			check_dict(&o, dict, v, 3);
		objects_fini(&o);
	}
}

/* The visitor has what it looked for. */
static void test_ended(void)
{
	struct dict_entry v[600];

	for (size_t i = 0; i < PST_ARRAY_SIZE(v); i++)
		v[i] = nth(i);
	for (size_t i = 0; i < DICT_VERSIONS; i++)
		for (size_t end_at = 1; end_at < 600; end_at += 37) {
			struct visits visits = { .end_at = end_at };
			struct pst_error err = { 0 };
			struct objects o;

			objects_init(&o, dict_versions[i]);
			unit_row("%s, at %zu", o.layout.row->name, end_at);
			CHECK_INT(visit(&o, dicts_plain(&o, v, 600), &visits, &err), 1);
			CHECK_INT(visits.n, end_at);
			objects_fini(&o);
		}
}

/* ---- what is no dict ---- */

enum where { IN_DICT, IN_KEYS };
#define D(member) IN_DICT, offsetof(struct pst_offsets, member)
#define K(member) IN_KEYS, offsetof(struct pst_offsets, member)
static const struct {
	const char *what;
	uint32_t version;
	enum where where;
	size_t member; /* in struct pst_offsets */
	unsigned bytes;
	uint64_t value;
} hostile[] = {
	{ "mask", 0x020307f0, D(dict_mask), 4, 0x7fffffff },
	{ "mask", 0x020307f0, D(dict_mask), 4, 0xffffffff },
	{ "mask", 0x020712f0, D(dict_mask), 8, 1ull << 40 },
	{ "mask", 0x020712f0, D(dict_mask), 8, 1ull << 62 },
	{ "mask", 0x020712f0, D(dict_mask), 8, UINT64_MAX },
	{ "mask beyond the table", 0x020712f0, D(dict_mask), 8, 1023 },
	{ "table", 0x020712f0, D(dict_table), 8, 0x50 },
	{ "table", 0x030206f0, D(dict_table), 8, 0 },
	{ "keys", 0x030307f0, D(dict_keys), 8, 0 },
	{ "keys", 0x03060ff0, D(dict_keys), 8, 0 },
	{ "keys", 0x030d12f0, D(dict_keys), 8, 0 },
	{ "keys", 0x030307f0, D(dict_keys), 8, 0x50 },
	{ "keys", 0x030a05f0, D(dict_keys), 8, 0x50 },
	{ "keys", 0x030f02f0, D(dict_keys), 8, UINT64_MAX },
	{ "values", 0x030307f0, D(dict_values), 8, 0x50 },
	{ "values", 0x03060ff0, D(dict_values), 8, UINT64_MAX },
	{ "values", 0x030d12f0, D(dict_values), 8, UINT64_MAX },
	{ "size", 0x030307f0, K(keys_size), 8, 1ull << 40 },
	{ "size", 0x030307f0, K(keys_size), 8, UINT64_MAX },
	{ "size", 0x03060ff0, K(keys_size), 8, 1ull << 40 },
	{ "size", 0x03060ff0, K(keys_size), 8, UINT64_MAX },
	{ "size beyond the keys", 0x03060ff0, K(keys_size), 8, 4096 },
	{ "number", 0x03060ff0, K(keys_nentries), 8, 1ull << 40 },
	{ "number", 0x030a05f0, K(keys_nentries), 8, UINT64_MAX },
	{ "number", 0x030d12f0, K(keys_nentries), 8, 1ull << 40 },
	{ "number", 0x030d12f0, K(keys_nentries), 8, UINT64_MAX },
	{ "number beyond the keys", 0x030d12f0, K(keys_nentries), 8, 1000 },
	{ "index", 0x030b02f0, K(keys_log2_index_bytes), 1, 25 },
	{ "index", 0x030b02f0, K(keys_log2_index_bytes), 1, 64 },
	{ "index", 0x030f02f0, K(keys_log2_index_bytes), 1, 0xff },
	{ "index beyond the keys", 0x030f02f0, K(keys_log2_index_bytes), 1, 20 },
};

static int32_t offset_at(const struct objects *o, size_t member)
{
	int32_t offset;

	memcpy(&offset, (const char *)&o->layout.off + member, sizeof(offset));
	return offset;
}

/* The keys object of DICT, or the dict itself. */
static pst_addr_t base_of(struct objects *o, pst_addr_t dict, enum where where)
{
	struct pst_error err = { 0 };
	pst_addr_t keys = 0;

	if (where == IN_DICT)
		return dict;
	MUST(pst_mem_read_addr(
		     &o->image.mem, dict + (pst_addr_t)o->layout.off.dict_keys, &keys, &err) == 0);
	return keys;
}

/* More entries than any dict that we look into has, all of them there: none is looked at. */
static void test_too_many(void)
{
	enum { MANY = (1 << 20) + 1 };
	struct visits visits = { .n = 0 };
	struct pst_error err = { 0 };
	struct objects o;
	pst_addr_t dict, keys, entries;

	objects_init(&o, 0x030307f0);
	dict = dicts_plain(&o, NULL, 0);
	keys = image_alloc(&o.image, (size_t)o.layout.off.keys_entries + (size_t)MANY * 24);
	entries = keys + (pst_addr_t)o.layout.off.keys_entries;
	objects_put(&o, dict, o.layout.off.dict_keys, keys);
	objects_put(&o, keys, o.layout.off.keys_size, MANY);
	CHECK_ERROR(visit(&o, dict, &visits, &err), &err, PST_ERR_TORN);
	CHECK_INT(image_count_reads(&o.image, entries), 0);
	objects_fini(&o);
}

/* Each is refused, and soon. */
static void test_hostile(void)
{
	const struct dict_entry v[] = { nth(0), nth(1) };

	for (size_t i = 0; i < PST_ARRAY_SIZE(hostile); i++) {
		struct visits visits = { .n = 0 };
		struct pst_error err = { 0 };
		struct objects o;
		pst_addr_t dict, at;

		objects_init(&o, hostile[i].version);
		dict = dicts_plain(&o, v, 2);
		at = base_of(&o, dict, hostile[i].where) +
			(pst_addr_t)offset_at(&o, hostile[i].member);
		image_put(&o.image, at, &hostile[i].value, hostile[i].bytes);
		image_forget(&o.image);
		unit_row("%s: %s %#" PRIx64, o.layout.row->name, hostile[i].what, hostile[i].value);
		CHECK_ERROR(visit(&o, dict, &visits, &err), &err, PST_ERR_TORN);
		CHECK(o.image.n_calls < 10);
		objects_fini(&o);
	}
}

static void test_not_mapped(void)
{
	for (size_t i = 0; i < DICT_VERSIONS; i++) {
		struct visits visits = { .n = 0 };
		struct pst_error err = { 0 };
		struct objects o;

		objects_init(&o, dict_versions[i]);
		unit_row("%s", o.layout.row->name);
		CHECK_ERROR(visit(&o, 0, &visits, &err), &err, PST_ERR_TORN);
		CHECK_ERROR(visit(&o, 0x50, &visits, &err), &err, PST_ERR_TORN);
		CHECK_ERROR(visit(&o, UINT64_MAX, &visits, &err), &err, PST_ERR_TORN);
		objects_fini(&o);
	}
}

/* Whichever read it is that fails, its error is told. */
static void test_errors(void)
{
	const struct dict_entry v[] = { nth(0), nth(1) };

	for (size_t i = 0; i < DICT_VERSIONS; i++) {
		const struct dict_spec spec = {
			.v = v, .n = 2, .log2_size = 3, .split = dict_versions[i] >= HAS_KEYS
		};
		struct objects o;
		pst_addr_t dict;
		size_t n = 1;

		objects_init(&o, dict_versions[i]);
		dict = dicts_new(&o, &spec);
		unit_row("%s", o.layout.row->name);
		for (; n < 20; n++) {
			struct visits visits = { .n = 0 };
			struct pst_error err = { 0 };

			image_fail(&o.image, n, PST_ERR_GONE);
			if (visit(&o, dict, &visits, &err) == 0)
				break;
			CHECK_INT(err.code, PST_ERR_GONE);
			CHECK_INT(visits.n, 0);
		}
		CHECK(n > 3 && n < 20);
		objects_fini(&o);
	}
}

static CU_TestInfo tests[] = {
	{ "plain", test_plain },
	{ "holes", test_holes },
	{ "sizes", test_sizes },
	{ "split", test_split },
	{ "kinds", test_kinds },
	{ "ended by the visitor", test_ended },
	{ "members that cannot be", test_hostile },
	{ "too many", test_too_many },
	{ "not mapped", test_not_mapped },
	{ "errors", test_errors },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_dict = { "dict", NULL, NULL, NULL, NULL, tests };
