/* Thread names: sys.modules["threading"]._active, id -> Thread, each with a name. */
#include "unit.h"

#include "instances.h"
#include "process.h"

#include <string.h>

#define MAX 8

/* A process with a threading module, whose _active is made of ENTRIES at finish(). */
struct world {
	struct process p;
	pst_addr_t interp, module_dict;
	struct dict_entry active[MAX];
	size_t n;
};

static void begin_flavour(struct world *w, uint32_t version, enum pst_flavour flavour)
{
	memset(w, 0, sizeof(*w));
	process_begin_flavour(&w->p, version, flavour);
	w->p.py.names = pst_names_new();
	w->interp = process_interp(&w->p, 0, 0x8000000);
}

static void begin(struct world *w, uint32_t version)
{
	begin_flavour(w, version, PST_RELEASE);
}

static void end(struct world *w)
{
	pst_names_free(w->p.py.names);
	process_end(&w->p);
}

static const char *name_attr(const struct world *w)
{
	return w->p.o.version < PST_PY(3, 0, 0) ? "_Thread__name" : "_name";
}

/* A Thread object that calls itself NAME. */
static pst_addr_t thread_object(struct world *w, const char *attr, pst_addr_t name)
{
	struct objects *o = &w->p.o;
	const struct dict_entry attrs[] = { { objects_name(o, "_target"), o->type_none },
		{ objects_name(o, attr), name }, { objects_name(o, "_daemonic"), o->type_none } };

	return instances_plain(o, attrs, PST_ARRAY_SIZE(attrs)).object;
}

static void add_active(struct world *w, pst_addr_t key, pst_addr_t object)
{
	MUST(w->n < MAX);
	w->active[w->n++] = (struct dict_entry){ key, object };
}

static void add(struct world *w, int64_t ident, const char *name)
{
	add_active(w, objects_int(&w->p.o, ident),
		thread_object(w, name_attr(w), objects_name(&w->p.o, name)));
}

/* sys.modules of INTERP, with the _active that was made up so far. */
static void publish(struct world *w, pst_addr_t interp)
{
	struct objects *o = &w->p.o;
	const struct dict_entry members[] = { { objects_name(o, "_limbo"), o->type_none },
		{ objects_name(o, "_active"), dicts_plain(o, w->active, w->n) } };
	const pst_addr_t module = objects_plain(o, objects_type(o, "module", 0), 64);
	const struct dict_entry modules[] = { { objects_name(o, "sys"), o->type_none },
		{ objects_name(o, "_thread"), o->type_none },
		{ objects_name(o, "threading"), module } };

	w->module_dict = dicts_plain(o, members, PST_ARRAY_SIZE(members));
	objects_put(o, module, o->layout.off.module_dict, w->module_dict);
	process_put(&w->p, interp, o->layout.off.interp_modules,
		dicts_plain(o, modules, PST_ARRAY_SIZE(modules)));
	w->n = 0;
}

static void find(struct world *w)
{
	CHECK_DONE(process_list(&w->p), &w->p.err);
	pst_python_find_names(&w->p.py);
}

/* The thread of STATE is called WANTED; NULL: it has no name. */
static void check_name(const struct world *w, pst_addr_t state, const char *wanted)
{
	const struct pst_pythread *t = pst_python_thread(&w->p.py, state);

	REQUIRE(t != NULL);
	CHECK_INT(t->name != 0, wanted != NULL);
	if (t->name && wanted)
		CHECK_TEXT(pst_names_get(w->p.py.names, t->name, NULL), wanted);
}

static void check_version(uint32_t version, enum pst_flavour flavour)
{
	pst_addr_t main_thread, worker, foreign;
	struct world w;

	begin_flavour(&w, version, flavour);
	unit_row("%s, flavour %d", w.p.o.layout.row->name, (int)flavour);
	main_thread = process_thread(&w.p, w.interp, 0x7f12345678c0, 0);
	worker = process_thread(&w.p, w.interp, 0x7f22345678c0, 0);
	foreign = process_thread(&w.p, w.interp, 0x7f32345678c0, 0);
	add(&w, 0x7f12345678c0, "MainThread");
	add(&w, 0x7f22345678c0, "Thread-1 (work)");
	add(&w, 0x7f42345678c0, "gone");
	publish(&w, w.interp);
	find(&w);
	check_name(&w, main_thread, "MainThread");
	check_name(&w, worker, "Thread-1 (work)");
	check_name(&w, foreign, NULL);
	end(&w);
}

static void test_versions(void)
{
	for (size_t i = 0; i < DICT_VERSIONS; i++)
		check_version(dict_versions[i], PST_RELEASE);
	check_version(0x030d12f0, PST_FREE_THREADED);
	check_version(0x030e0af0, PST_FREE_THREADED);
	check_version(0x030f02f0, PST_FREE_THREADED);
	check_version(0x020712f0, PST_DEBUG);
	check_version(0x03060ff0, PST_DEBUG);
}

/* Ids are signed to 3.6, and of a thread's 64 bits all count. */
static void test_idents(void)
{
	const pst_addr_t high = 0xffff812345678000, near = 0xffff812345678040;
	pst_addr_t a, b;
	struct world w;

	begin(&w, 0x03060ff0);
	a = process_thread(&w.p, w.interp, high, 0);
	b = process_thread(&w.p, w.interp, near & 0xffffffff, 0);
	add(&w, (int64_t)high, "a");
	add(&w, (int64_t)near, "not b");
	publish(&w, w.interp);
	find(&w);
	check_name(&w, a, "a");
	check_name(&w, b, NULL);
	end(&w);
}

/* In 2.x a name is a str or, given one, a unicode; the attribute was private to its class. */
static void test_unicode(void)
{
	static const uint32_t units[] = { 'n', 0xe9, 0x1f600 };
	static const uint32_t versions[] = { 0x020307f0, 0x020712f0 };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		pst_addr_t state;
		struct world w;

		begin(&w, versions[v]);
		state = process_thread(&w.p, w.interp, 0x11, 0);
		add_active(&w, objects_int(&w.p.o, 0x11),
			thread_object(&w, "_Thread__name", objects_ustr(&w.p.o, 4, units, 3)));
		publish(&w, w.interp);
		find(&w);
		check_name(&w, state, "n\xc3\xa9\xf0\x9f\x98\x80");
		end(&w);
	}
}

/* Either attribute will do, whatever the version: subclasses have been known to have their own. */
static void test_attributes(void)
{
	static const struct {
		const char *attr, *wanted;
	} rows[] = { { "_name", "x" }, { "_Thread__name", "x" }, { "name", NULL },
		{ "_nam", NULL } };
	static const uint32_t versions[] = { 0x020712f0, 0x030b02f0 };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
			pst_addr_t state;
			struct world w;

			begin(&w, versions[v]);
			state = process_thread(&w.p, w.interp, 0x11, 0);
			add_active(&w, objects_int(&w.p.o, 0x11),
				thread_object(&w, rows[i].attr, objects_name(&w.p.o, "x")));
			publish(&w, w.interp);
			unit_row("%s: %s", w.p.o.layout.row->name, rows[i].attr);
			find(&w);
			check_name(&w, state, rows[i].wanted);
			end(&w);
		}
}

/* Each interpreter has modules of its own; ids mean nothing in another one. */
static void test_interpreters(void)
{
	pst_addr_t first, second, a, b, c;
	struct world w;

	begin(&w, V312);
	first = w.interp;
	second = process_interp(&w.p, first, 0x8000000);
	a = process_thread(&w.p, first, 0x11, 0);
	b = process_thread(&w.p, second, 0x11, 0);
	c = process_thread(&w.p, second, 0x22, 0);
	add(&w, 0x11, "a");
	add(&w, 0x22, "not c");
	publish(&w, first);
	add(&w, 0x11, "b");
	publish(&w, second);
	find(&w);
	check_name(&w, a, "a");
	check_name(&w, b, "b");
	check_name(&w, c, NULL);
	end(&w);
}

/* Threads are given new names; the same text is the same id. */
static void test_renamed(void)
{
	pst_addr_t a, b;
	struct world w;
	pst_name_id old;

	begin(&w, V312);
	a = process_thread(&w.p, w.interp, 0x11, 0);
	b = process_thread(&w.p, w.interp, 0x22, 0);
	add(&w, 0x11, "x");
	add(&w, 0x22, "x");
	publish(&w, w.interp);
	find(&w);
	old = pst_python_thread(&w.p.py, a)->name;
	CHECK_INT(pst_python_thread(&w.p.py, b)->name, old);
	add(&w, 0x11, "y");
	publish(&w, w.interp);
	find(&w);
	check_name(&w, a, "y");
	end(&w);
}

/* ---- what is not there ---- */

static void set_modules(struct world *w, pst_addr_t modules)
{
	process_put(&w->p, w->interp, w->p.o.layout.off.interp_modules, modules);
}

static void no_modules(struct world *w)
{
	set_modules(w, 0);
}

static void wild_modules(struct world *w)
{
	set_modules(w, 0x50);
}

static void no_threading(struct world *w)
{
	const struct dict_entry v[] = { { objects_name(&w->p.o, "thread"), w->p.o.type_none },
		{ objects_int(&w->p.o, 5), w->p.o.type_none } };

	set_modules(w, dicts_plain(&w->p.o, v, 2));
}

static void wild_module(struct world *w)
{
	const struct dict_entry v[] = { { objects_name(&w->p.o, "threading"), 0x50 } };

	set_modules(w, dicts_plain(&w->p.o, v, 1));
}

static void wild_keys(struct world *w)
{
	const struct dict_entry v[] = { { 0x50, 0x50 }, { 0x58, w->module_dict } };

	set_modules(w, dicts_plain(&w->p.o, v, 2));
}

static void wild_active(struct world *w)
{
	add_active(w, 0x50, 0x50);
	add_active(w, objects_name(&w->p.o, "key"), 0x50);
	add_active(w, objects_int(&w->p.o, 0x11), 0x50);
	publish(w, w->interp);
}

static void no_text(struct world *w)
{
	add_active(w, objects_int(&w->p.o, 0x11),
		thread_object(w, name_attr(w), objects_int(&w->p.o, 7)));
	publish(w, w->interp);
}

/* Ways on which there is no name: nothing fails. */
static const struct {
	const char *what;
	void (*spoil)(struct world *w);
} spoils[] = {
	{ "no modules", no_modules },
	{ "modules that are not mapped", wild_modules },
	{ "no threading", no_threading },
	{ "a module that is not mapped", wild_module },
	{ "keys that are not mapped", wild_keys },
	{ "threads that are not mapped", wild_active },
	{ "a name that is no text", no_text },
};

static void test_spoilt(void)
{
	static const uint32_t versions[] = { 0x020712f0, 0x03060ff0, V312, 0x030f02f0 };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(spoils); i++) {
			pst_addr_t state;
			struct world w;

			begin(&w, versions[v]);
			state = process_thread(&w.p, w.interp, 0x11, 0);
			add(&w, 0x11, "x");
			publish(&w, w.interp);
			spoils[i].spoil(&w);
			unit_row("%s: %s", w.p.o.layout.row->name, spoils[i].what);
			find(&w);
			check_name(&w, state, NULL);
			end(&w);
		}
}

/* Whatever cannot be read, the others are named, and the error is nobody's. */
static void test_one_is_wild(void)
{
	pst_addr_t a, b;
	struct world w;

	begin(&w, V312);
	a = process_thread(&w.p, w.interp, 0x11, 0);
	b = process_thread(&w.p, w.interp, 0x22, 0);
	add_active(&w, 0x50, 0x50);
	add_active(&w, objects_int(&w.p.o, 0x22), 0x50);
	add(&w, 0x11, "x");
	publish(&w, w.interp);
	find(&w);
	check_name(&w, a, "x");
	check_name(&w, b, NULL);
	end(&w);
}

static void test_errors(void)
{
	pst_addr_t state;
	struct world w;
	size_t n = 1;

	begin(&w, V312);
	state = process_thread(&w.p, w.interp, 0x11, 0);
	add(&w, 0x11, "x");
	publish(&w, w.interp);
	CHECK_DONE(process_list(&w.p), &w.p.err);
	for (; n < 200; n++) {
		image_fail(&w.p.o.image, n, PST_ERR_GONE);
		pst_python_find_names(&w.p.py);
		if (pst_python_thread(&w.p.py, state)->name)
			break;
	}
	CHECK(n > 20 && n < 200);
	check_name(&w, state, "x");
	end(&w);
}

static CU_TestInfo tests[] = {
	{ "versions", test_versions },
	{ "ids", test_idents },
	{ "unicode", test_unicode },
	{ "attributes", test_attributes },
	{ "interpreters", test_interpreters },
	{ "new names", test_renamed },
	{ "no way to a name", test_spoilt },
	{ "one of them is wild", test_one_is_wild },
	{ "errors", test_errors },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_thread_names = { "thread_names", NULL, NULL, NULL, NULL, tests };
