/* Finding the interpreter: which version, which row, whose offsets, and what the user is told of it. */
#include "unit.h"

#include "discovery.h"

#include <string.h>

#define V313          0x030d12f0
#define V314          0x030e0af0
#define V315          0x030f02f0
#define V316          0x031000f0
#define PLACE(member) offsetof(struct pst_places, member)

static void begin(struct discovery *d, uint32_t version, enum pst_flavour flavour)
{
	discovery_begin(d, "program", version, flavour);
}

/* One is found, read by row NAME, with WARNINGS for the user of which the last has TEXT in it. */
static void check_found(struct discovery *d, const char *abi_name, const char *name,
	size_t warnings, const char *text)
{
	if (!CHECK_DONE(discovery_find(d, abi_name), &d->p.err))
		return;
	CHECK_TEXT(d->found.layout.row->name, name);
	CHECK_INT(d->found.head_word, d->p.py.head_word);
	CHECK_INT(d->warnings, warnings);
	if (warnings && !CHECK(strstr(d->warning, text) != NULL))
		CHECK_TEXT(d->warning, text);
}

static void check_not_found(
	struct discovery *d, const char *abi_name, enum pst_error_code code, const char *text)
{
	CHECK_ERROR(discovery_find(d, abi_name), &d->p.err, code);
	if (!CHECK(strstr(d->p.err.msg, text) != NULL))
		CHECK_TEXT(d->p.err.msg, text);
	CHECK_INT(d->warnings, 0);
	CHECK(!d->found.image);
}

/* ---- whose offsets ---- */

static const struct {
	uint32_t version;
	enum pst_flavour flavour;
	const char *name;
} builds[] = {
	{ V313, PST_RELEASE, "313" },
	{ V314, PST_RELEASE, "314" },
	{ V315, PST_RELEASE, "315" },
	{ V313, PST_FREE_THREADED, "313t" },
	{ V314, PST_FREE_THREADED, "314t" },
	{ V315, PST_FREE_THREADED, "315t" },
};

static void test_published(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(builds); i++) {
		struct discovery d;

		begin(&d, builds[i].version, builds[i].flavour);
		discovery_publish(&d, builds[i].version);
		discovery_interp(&d);
		discovery_interp(&d);
		unit_row("%s", builds[i].name);
		check_found(&d, NULL, builds[i].name, 0, "");
		CHECK(d.found.layout.published);
		CHECK_INT(d.found.version, builds[i].version);
		CHECK_INT(d.found.roots.runtime, RUNTIME);
		CHECK_TEXT(d.found.image, d.path);
		discovery_end(&d);
	}
}

/* A build whose structs are not those of the tables: what it publishes wins. */
static void test_moved(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(builds); i++) {
		struct pst_offsets *off;
		struct discovery d;

		begin(&d, builds[i].version, builds[i].flavour);
		off = &d.p.o.layout.off;
		off->interp_threads_head += 24;
		off->thread_next = 40;
		off->frame_previous = 48;
		discovery_publish(&d, builds[i].version);
		discovery_publish_as(
			&d, PLACE(interp_threads_head), (uint64_t)off->interp_threads_head);
		discovery_publish_as(&d, PLACE(thread_next), 40);
		discovery_publish_as(&d, PLACE(frame_previous), 48);
		discovery_interp(&d);
		unit_row("%s", builds[i].name);
		check_found(&d, NULL, builds[i].name, 0, "");
		CHECK(d.found.layout.published);
		CHECK_INT(d.found.layout.off.interp_threads_head, off->interp_threads_head);
		CHECK_INT(d.found.layout.off.thread_next, 40);
		CHECK_INT(d.found.layout.off.frame_previous, 48);
		discovery_end(&d);
	}
}

static const struct {
	const char *what;
	size_t place;
	uint64_t value;
} garbage[] = {
	{ "no number", PLACE(code_name), UINT64_MAX },
	{ "too large", PLACE(interp_next), 1ull << 40 },
	{ "wrong head", PLACE(runtime_interpreters_head), 8 },
	{ "no head", PLACE(runtime_interpreters_head), 1 << 20 },
	{ "wrong threads", PLACE(interp_threads_head), 16 },
	{ "wrong owner", PLACE(thread_interp), 40 },
	{ "wrong next", PLACE(thread_next), 16 },
	{ "wrong prev", PLACE(thread_prev), 24 },
	{ "wrong modules", PLACE(interp_modules), 16 },
	{ "wrong type", PLACE(object_type), 32 },
	{ "wrong name of a type", PLACE(type_name), 0 },
};

/* What leads nowhere is left for the tables, and that is said, once. */
static void test_garbage(void)
{
	for (size_t b = 0; b < PST_ARRAY_SIZE(builds); b++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(garbage); i++) {
			struct discovery d;

			begin(&d, builds[b].version, builds[b].flavour);
			discovery_publish(&d, builds[b].version);
			discovery_publish_as(&d, garbage[i].place, garbage[i].value);
			discovery_interp(&d);
			unit_row("%s: %s", builds[b].name, garbage[i].what);
			check_found(&d, NULL, builds[b].name, 1, "_Py_DebugOffsets");
			CHECK(!d.found.layout.published);
			CHECK_BYTES(&d.found.layout.off, sizeof(d.found.layout.off),
				&d.p.o.layout.off, sizeof(d.p.o.layout.off));
			discovery_end(&d);
		}
}

/* Neither of them leads anywhere. */
static void test_neither(void)
{
	struct discovery d;

	begin(&d, V314, PST_RELEASE);
	d.p.o.layout.off.interp_threads_head += 24;
	discovery_publish(&d, V314);
	discovery_publish_as(&d, PLACE(interp_threads_head), 16);
	process_put(&d.p, discovery_interp(&d), 7344, 0x50);
	check_not_found(&d, NULL, PST_ERR_UNSUPPORTED, "does not look as ABI 314 does");
	discovery_end(&d);
}

/* ---- which row ---- */

/* Newer than all rows: read by the newest, which is said. */
static void test_newer(void)
{
	struct discovery d;

	begin(&d, V315, PST_RELEASE);
	discovery_publish(&d, V316);
	discovery_interp(&d);
	check_found(&d, NULL, "315", 1, "3.16.0, newer than this build knows");
	CHECK(d.found.layout.published);
	check_found(&d, "315", "315", 0, "");
	discovery_end(&d);
	begin(&d, V315, PST_FREE_THREADED);
	discovery_publish(&d, V316);
	discovery_interp(&d);
	check_found(&d, NULL, "315t", 1, "newer");
	discovery_end(&d);
}

static void test_forced(void)
{
	struct discovery d;

	begin(&d, V313, PST_RELEASE);
	discovery_publish(&d, V313);
	discovery_interp(&d);
	check_found(&d, "313", "313", 0, "");
	discovery_say_version(&d, "3.13.0");
	check_not_found(&d, "99", PST_ERR_UNSUPPORTED, "--abi 99");
	check_not_found(&d, "", PST_ERR_UNSUPPORTED, "--abi");
	discovery_end(&d);
	begin(&d, 0x030a05f0, PST_RELEASE); /* says that it is 3.9, and is 3.10 */
	discovery_say_version(&d, "3.9.18");
	discovery_interp(&d);
	check_found(&d, "310", "310", 1, "Python 3.9.18; --abi 310 is used");
	CHECK_INT(d.found.version, 0x030912f0);
	discovery_end(&d);
}

/* A version that the file's name tells has no micro version; --abi may help where nothing tells. */
static void test_version_of_name(void)
{
	static const struct {
		const char *file, *name; /* NULL: no version */
	} rows[] = { { "libpython3.11.so.1.0", "311" }, { "python3.11", "311" },
		{ "mypython3.11d", "311" }, { "program", NULL }, { "python", NULL } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct discovery d;

		discovery_begin(&d, rows[i].file, 0x030b02f0, PST_RELEASE);
		discovery_interp(&d);
		unit_row("%s", rows[i].file);
		if (rows[i].name)
			check_found(&d, NULL, rows[i].name, 0, "");
		else
			check_not_found(&d, NULL, PST_ERR_UNSUPPORTED, "--abi");
		discovery_end(&d);
	}
}

static void test_no_row(void)
{
	struct discovery d;

	begin(&d, 0x030c03f0, PST_RELEASE);
	discovery_say_version(&d, "2.2.3");
	discovery_interp(&d);
	check_not_found(&d, NULL, PST_ERR_UNSUPPORTED, "");
	discovery_end(&d);
	begin(&d, V313, PST_FREE_THREADED);
	discovery_publish(&d, 0x030c03f0);
	discovery_interp(&d);
	check_not_found(&d, NULL, PST_ERR_UNSUPPORTED, "3.12.3 free-threaded");
	discovery_end(&d);
}

/* A debug build is told by the longer head of its objects. */
static void test_debug(void)
{
	static const struct {
		uint32_t version;
		const char *number, *name;
	} rows[] = { { 0x030703f0, "3.7.3", "37" }, { 0x030711f0, "3.7.17", "37" } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++)
		for (int flavour = PST_RELEASE; flavour <= PST_DEBUG; flavour++) {
			struct discovery d;

			begin(&d, rows[i].version, (enum pst_flavour)flavour);
			discovery_say_version(&d, rows[i].number);
			discovery_interp(&d);
			unit_row("%s, flavour %d", rows[i].number, flavour);
			check_found(&d, NULL, rows[i].name, 0, "");
			CHECK_INT(d.found.layout.row->flavour, flavour);
			check_found(&d, rows[i].name, rows[i].name, 0, "");
			CHECK_INT(d.found.layout.row->flavour, flavour);
			discovery_end(&d);
		}
}

/* ---- what is none ---- */

static void test_not_initialised(void)
{
	struct discovery d;

	begin(&d, V314, PST_RELEASE);
	discovery_publish(&d, V314);
	check_not_found(&d, NULL, PST_ERR_NOTPYTHON, "not initialised");
	discovery_end(&d);
}

static void test_not_python(void)
{
	struct elf_file file = elf_file_make();
	struct discovery d;

	begin(&d, V314, PST_RELEASE);
	file.head.e_machine = EM_X86_64;
	memcpy(file.section_names.runtime, ".PyRuntimf", 10);
	discovery_write(&d, &file);
	discovery_interp(&d);
	check_not_found(&d, NULL, PST_ERR_NOTPYTHON, "not a Python process");
	discovery_publish(&d, V314); /* the cookie is found without any symbol or section */
	check_found(&d, NULL, "314", 0, "");
	CHECK(strstr(d.found.finder, "cookie") != NULL);
	d.p.target.maps.n = 0; /* a process that ends loses its memory first */
	check_not_found(&d, NULL, PST_ERR_GONE, "has ended");
	discovery_end(&d);
}

static CU_TestInfo tests[] = {
	{ "what it publishes", test_published },
	{ "what it publishes wins", test_moved },
	{ "what it publishes is garbage", test_garbage },
	{ "neither that nor the tables", test_neither },
	{ "newer than all rows", test_newer },
	{ "forced", test_forced },
	{ "the version of a file's name", test_version_of_name },
	{ "no row", test_no_row },
	{ "debug builds", test_debug },
	{ "not initialised", test_not_initialised },
	{ "no Python", test_not_python },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_discover = { "discover", NULL, NULL, NULL, NULL, tests };
