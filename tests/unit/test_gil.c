/* Where the words of a GIL lie, era by era. */
#include "unit.h"

#include "layouts.h"

static const struct pst_roots all_roots = { .runtime = 0x10000,
	.interp_head = 0x20000,
	.thread_current = 0x30000,
	.gil_last_holder = 0x40000,
	.gil_locked = 0x50000,
	.gil_switch_number = 0x60000 };

static void check_words(const struct pst_gil_words *w, struct pst_gil_words wanted)
{
	CHECK_INT(w->current, wanted.current);
	CHECK_INT(w->last_holder, wanted.last_holder);
	CHECK_INT(w->locked, wanted.locked);
	CHECK_INT(w->switches, wanted.switches);
	CHECK_INT(w->enabled, wanted.enabled);
}

/* ---- statics, to 3.6 ---- */

static const struct {
	const char *what;
	struct pst_roots roots;
	struct pst_gil_words wanted; /* zeros: none */
} statics[] = {
	{ "all",
		{ .thread_current = 1,
			.gil_last_holder = 2,
			.gil_locked = 3,
			.gil_switch_number = 4 },
		{ 1, 2, 3, 4, 0 } },
	{ "no current", { .gil_last_holder = 2, .gil_locked = 3, .gil_switch_number = 4 },
		{ 0, 2, 3, 4, 0 } },
	{ "stripped", { .thread_current = 1 }, { 1, 0, 0, 0, 0 } },
	{ "no last holder", { .thread_current = 1, .gil_locked = 3, .gil_switch_number = 4 },
		{ 1, 0, 0, 0, 0 } },
	{ "no lock", { .thread_current = 1, .gil_last_holder = 2, .gil_switch_number = 4 },
		{ 1, 0, 0, 0, 0 } },
	{ "no count", { .thread_current = 1, .gil_last_holder = 2, .gil_locked = 3 },
		{ 1, 0, 0, 0, 0 } },
	{ "no count, no current", { .gil_last_holder = 2, .gil_locked = 3 }, { 0, 0, 0, 0, 0 } },
	{ "nothing", { .runtime = 7, .interp_head = 8 }, { 0, 0, 0, 0, 0 } },
};

/* The words have no use one without the others. */
static void test_statics(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(statics); i++) {
		const bool none = !statics[i].wanted.current && !statics[i].wanted.locked;
		struct pst_error err = { 0 };
		struct pst_gil_words w;
		const int result = pst_gil_statics(NULL, &statics[i].roots, NULL, 0, &w, &err);

		unit_row("%s", statics[i].what);
		if (none)
			CHECK_ERROR(result, &err, PST_ERR_UNSUPPORTED);
		else if (CHECK_DONE(result, &err))
			check_words(&w, statics[i].wanted);
	}
}

/* ---- in _PyRuntime, 3.7-3.11 ---- */

static const struct {
	uint32_t version;
	pst_addr_t last_holder; /* behind the runtime; the others follow */
} runtimes[] = { { 0x030700f0, 1184 }, { 0x030704f0, 1272 }, { 0x030814f0, 1160 },
	{ 0x030919f0, 360 }, { 0x030a05f0, 360 }, { 0x030b02f0, 368 } };

static void test_runtime(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(runtimes); i++) {
		const struct pst_layout layout = layouts_fixed(layouts_row(runtimes[i].version));
		const pst_addr_t at = all_roots.runtime + runtimes[i].last_holder;
		struct pst_error err = { 0 };
		struct pst_gil_words w;

		unit_row("%s, %#x", layout.row->name, runtimes[i].version);
		CHECK_DONE(layout.gil(&layout, &all_roots, NULL, 0, &w, &err), &err);
		check_words(&w, (struct pst_gil_words){ 0, at, at + 8, at + 16, 0 });
	}
}

/* ---- of an interpreter, 3.12+ ---- */

static const struct {
	uint32_t version;
	enum pst_flavour flavour;
	pst_addr_t interp_gil;
	struct pst_gil_words behind; /* the GIL's address */
} interps[] = {
	{ 0x030c03f0, PST_RELEASE, 384, { 0, 8, 16, 24, 0 } },
	{ 0x030d12f0, PST_RELEASE, 16, { 0, 8, 16, 24, 0 } },
	{ 0x030f02f0, PST_RELEASE, 16, { 0, 8, 16, 24, 0 } },
	{ 0x030d12f0, PST_FREE_THREADED, 16, { 0, 16, 24, 32, 0 } },
	{ 0x030e0af0, PST_FREE_THREADED, 16, { 0, 16, 24, 32, 0 } },
	{ 0x030f02f0, PST_FREE_THREADED, 16, { 0, 16, 24, 32, 0 } },
};

static void test_interp(void)
{
	const pst_addr_t gil = 0x9000;

	for (size_t i = 0; i < PST_ARRAY_SIZE(interps); i++) {
		const bool bare = interps[i].flavour == PST_FREE_THREADED;
		const struct pst_gil_words b = interps[i].behind;
		const struct pst_layout layout =
			layouts_fixed(layouts_row_of(interps[i].version, interps[i].flavour));
		struct pst_error err = { 0 };
		struct pst_gil_words w;
		struct image image;
		pst_addr_t interp;

		image_init(&image, 8);
		interp = image_alloc(&image, 512);
		image_put_word(&image, interp + interps[i].interp_gil, gil);
		unit_row("%s", layout.row->name);
		CHECK_DONE(layout.gil(&layout, &all_roots, &image.mem, interp, &w, &err), &err);
		check_words(&w,
			(struct pst_gil_words){ 0, gil + b.last_holder, gil + b.locked,
				gil + b.switches, bare ? gil : 0 });
		image_fini(&image);
	}
}

static void test_no_gil(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(interps); i++) {
		const struct pst_layout layout =
			layouts_fixed(layouts_row_of(interps[i].version, interps[i].flavour));
		struct pst_error err = { 0 };
		struct pst_gil_words w;
		struct image image;
		pst_addr_t interp;

		image_init(&image, 8);
		interp = image_alloc(&image, 512);
		unit_row("%s", layout.row->name);
		CHECK_ERROR(layout.gil(&layout, &all_roots, &image.mem, interp, &w, &err), &err,
			PST_ERR_TORN);
		CHECK_ERROR(layout.gil(&layout, &all_roots, &image.mem, 16, &w, &err), &err,
			PST_ERR_TORN);
		image_fail(&image, 1, PST_ERR_GONE);
		CHECK_ERROR(layout.gil(&layout, &all_roots, &image.mem, interp, &w, &err), &err,
			PST_ERR_GONE);
		image_fini(&image);
	}
}

static CU_TestInfo tests[] = {
	{ "statics", test_statics },
	{ "in the runtime", test_runtime },
	{ "of an interpreter", test_interp },
	{ "an interpreter without one", test_no_gil },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_gil = { "gil", NULL, NULL, NULL, NULL, tests };
