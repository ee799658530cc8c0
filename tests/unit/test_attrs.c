/* The attributes that an instance has of its own, era by era. */
#include "unit.h"

#include "instances.h"

#define V311 0x030b02f0
#define V312 0x030c03f0
#define V313 0x030d12f0

static const struct dict_entry some[] = { { 0x1000, 0x2000 }, { 0x1010, 0 }, { 0x1020, 0x2020 },
	{ 0x1030, 0x2030 } };
#define N PST_ARRAY_SIZE(some)

static int visit(struct objects *o, pst_addr_t at, struct visits *visits, struct pst_error *err)
{
	return o->layout.attr(&o->layout, &o->image.mem, at, visits_add, visits, err);
}

/* The attributes of OBJECT are V. */
static void check_attrs(struct objects *o, pst_addr_t object, const struct dict_entry *v, size_t n)
{
	struct visits visits = { .n = 0 };
	struct pst_error err = { 0 };

	CHECK_DONE(visit(o, object, &visits, &err), &err);
	visits_check(&visits, v, n);
}

static void check_torn(struct objects *o, pst_addr_t object)
{
	struct visits visits = { .n = 0 };
	struct pst_error err = { 0 };

	CHECK_ERROR(visit(o, object, &visits, &err), &err, PST_ERR_TORN);
	CHECK_INT(visits.n, 0);
}

static void test_plain(void)
{
	for (size_t i = 0; i < DICT_VERSIONS; i++) {
		struct visits visits = { .end_at = 2 };
		struct pst_error err = { 0 };
		struct objects o;

		objects_init(&o, dict_versions[i]);
		unit_row("%s", o.layout.row->name);
		check_attrs(&o, instances_plain(&o, some, N).object, some, N);
		check_attrs(&o, instances_plain(&o, some, 0).object, some, 0);
		CHECK_INT(visit(&o, instances_plain(&o, some, N).object, &visits, &err), 1);
		CHECK_INT(visits.n, 2);
		objects_fini(&o);
	}
}

/* Classes without managed dicts: a word somewhere in the object, in all versions. */
static const struct {
	const char *what;
	int64_t dictoffset;
	bool seen;
} places[] = {
	{ "first", 24, true },
	{ "last", 1 << 16, true },
	{ "none", 0, false },
	{ "from the end, of objects that vary in size", -8, false },
	{ "absurd", INT64_MIN, false },
	{ "too far", (1 << 16) + 1, false },
	{ "far too far", INT64_MAX, false },
};

static void test_dictoffset(void)
{
	for (size_t i = 0; i < DICT_VERSIONS; i++)
		for (size_t k = 0; k < PST_ARRAY_SIZE(places); k++) {
			struct instance in;
			struct objects o;

			objects_init(&o, dict_versions[i]);
			in = instances_new(&o, ~MANAGED_DICT, places[k].dictoffset, (1 << 16) + 8);
			for (unsigned n = 1; n < 8; n++)
				instances_put_before(&o, &in, n, 0x50);
			if (places[k].seen)
				objects_put(&o, in.object, (int32_t)places[k].dictoffset,
					dicts_plain(&o, some, N));
			unit_row("%s: %s", o.layout.row->name, places[k].what);
			check_attrs(&o, in.object, some, places[k].seen ? N : 0);
			if (places[k].seen) {
				objects_put(&o, in.object, (int32_t)places[k].dictoffset, 0);
				check_attrs(&o, in.object, some, 0);
				objects_put(&o, in.object, (int32_t)places[k].dictoffset, 0x50);
				check_torn(&o, in.object);
			}
			objects_fini(&o);
		}
}

/* A dict whose keys are shared, which instances had from 3.3 to 3.10. */
static void test_split_dict(void)
{
	const struct dict_spec spec = { .v = some, .n = N, .log2_size = 3, .split = true };

	for (size_t i = 0; i < DICT_VERSIONS; i++) {
		struct instance in;
		struct objects o;

		if (dict_versions[i] < HAS_KEYS)
			continue;
		objects_init(&o, dict_versions[i]);
		unit_row("%s", o.layout.row->name);
		in = instances_new(&o, 0, 16, 64);
		objects_put(&o, in.object, 16, dicts_new(&o, &spec));
		check_attrs(&o, in.object, some, N);
		objects_fini(&o);
	}
}

/* ---- managed dicts ---- */

static const struct {
	uint32_t version;
	enum pst_flavour flavour;
	bool inline_values;
} managed[] = {
	{ V311, PST_RELEASE, false },
	{ V312, PST_RELEASE, false },
	{ V313, PST_RELEASE, true },
	{ V313, PST_FREE_THREADED, true },
	{ 0x030e0af0, PST_FREE_THREADED, true },
	{ 0x030f02f0, PST_RELEASE, true },
	{ 0x030f02f0, PST_FREE_THREADED, true },
};

static void begin(struct objects *o, size_t i)
{
	objects_init_flavour(o, managed[i].version, managed[i].flavour);
	unit_row("%s, flavour %d", o->layout.row->name, (int)managed[i].flavour);
}

static void test_managed(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(managed); i++) {
		struct instance in;
		struct objects o;

		begin(&o, i);
		in = instances_plain(&o, some, N);
		check_attrs(&o, in.object, some, N);
		objects_put(&o, in.type, o.layout.off.type_cached_keys, 0);
		check_attrs(&o, in.object, some, 0);
		objects_put(&o, in.type, o.layout.off.type_cached_keys, 0x50);
		check_torn(&o, in.object);
		objects_fini(&o);
	}
}

/* Once someone has asked for its __dict__ there is one, and it alone counts. */
static void test_materialised(void)
{
	static const struct dict_entry other[] = { { 0x5000, 0x6000 } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(managed); i++) {
		struct instance in;
		struct objects o;

		begin(&o, i);
		in = instances_plain(&o, some, N);
		instances_put_before(&o, &in, BEFORE_VALUES, 0);
		instances_put_before(&o, &in, instances_before_dict(&o), dicts_plain(&o, other, 1));
		check_attrs(&o, in.object, other, 1);
		instances_put_before(&o, &in, instances_before_dict(&o), 0x50);
		check_torn(&o, in.object);
		objects_fini(&o);
	}
}

/* Neither a dict nor values. */
static void test_nothing(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(managed); i++) {
		struct instance in;
		struct objects o;

		begin(&o, i);
		in = instances_new(&o, MANAGED_DICT, -1, 64);
		check_attrs(&o, in.object, some, 0);
		objects_fini(&o);
	}
}

/* Values of 3.13+ that were moved into a dict, and a class that says that its instances have none, or that their
 * place is absurd. */
static void test_inline(void)
{
	static const int64_t sizes[] = { 0, -1, INT64_MIN, INT64_MAX, (1 << 20) + 1 };
	const size_t size = 10 * 8;

	for (size_t i = 0; i < PST_ARRAY_SIZE(managed); i++) {
		struct instance in;
		struct objects o;

		if (!managed[i].inline_values)
			continue;
		begin(&o, i);
		in = instances_plain(&o, some, N);
		image_put_byte(
			&o.image, in.object + size + (pst_addr_t)o.layout.off.values_valid, 0);
		check_attrs(&o, in.object, some, 0);
		in = instances_plain(&o, some, N);
		objects_put(&o, in.type, o.layout.off.type_flags, MANAGED_DICT);
		check_attrs(&o, in.object, some, 0);
		in = instances_plain(&o, some, N);
		for (size_t k = 0; k < PST_ARRAY_SIZE(sizes); k++) {
			objects_put(&o, in.type, o.layout.off.type_basicsize, (pst_addr_t)sizes[k]);
			check_attrs(&o, in.object, some, 0);
		}
		objects_put(&o, in.type, o.layout.off.type_basicsize, 1 << 20);
		check_torn(&o, in.object);
		objects_fini(&o);
	}
}

/* ---- what cannot be read ---- */

static void test_not_mapped(void)
{
	for (size_t i = 0; i < DICT_VERSIONS; i++) {
		struct instance in;
		struct objects o;

		objects_init(&o, dict_versions[i]);
		unit_row("%s", o.layout.row->name);
		check_torn(&o, 0);
		check_torn(&o, 0x50);
		in = instances_plain(&o, some, N);
		objects_put(&o, in.object, o.layout.off.object_type, 0x50);
		check_torn(&o, in.object);
		objects_fini(&o);
	}
}

static void test_errors(void)
{
	for (size_t i = 0; i < DICT_VERSIONS; i++) {
		struct instance in;
		struct objects o;
		size_t n = 1;

		objects_init(&o, dict_versions[i]);
		unit_row("%s", o.layout.row->name);
		in = instances_plain(&o, some, N);
		for (; n < 30; n++) {
			struct visits visits = { .n = 0 };
			struct pst_error err = { 0 };

			image_fail(&o.image, n, PST_ERR_GONE);
			if (visit(&o, in.object, &visits, &err) == 0)
				break;
			CHECK_INT(err.code, PST_ERR_GONE);
			CHECK_INT(visits.n, 0);
		}
		CHECK(n > 5 && n < 30);
		objects_fini(&o);
	}
}

static CU_TestInfo tests[] = {
	{ "plain", test_plain },
	{ "a word for the dict", test_dictoffset },
	{ "a split dict", test_split_dict },
	{ "values", test_managed },
	{ "a dict that was asked for", test_materialised },
	{ "nothing", test_nothing },
	{ "inline values", test_inline },
	{ "not mapped", test_not_mapped },
	{ "errors", test_errors },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_attrs = { "attrs", NULL, NULL, NULL, NULL, tests };
