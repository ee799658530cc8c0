/* The table of rows, how one is chosen, and the words of the GIL. */
#include "unit.h"

#include "abi_facts.h"
#include "image.h"
#include "layouts.h"

#include <elf.h>
#include <string.h>

static bool same_kind(const struct pst_abi *a, const struct pst_abi *b)
{
	return a->flavour == b->flavour && a->word_bits == b->word_bits && a->machine == b->machine;
}

/* ---- rows ---- */

static size_t count_rows(void)
{
	size_t n = 0;

	while (pst_abi_table[n])
		n++;
	return n;
}

static void test_rows(void)
{
	const size_t n = count_rows();

	CHECK(n >= FACT_VERSIONS);
	for (size_t i = 0; i < n; i++) {
		const struct pst_abi *row = pst_abi_table[i];

		unit_row("%s, row %zu", row->name, i);
		CHECK(row->name[0] >= '2' && row->name[0] <= '9');
		CHECK(row->first < row->until);
		CHECK(row->word_bits == 64 || row->word_bits == 32);
		CHECK(row->machine != EM_NONE);
		for (size_t k = 0; k < i; k++)
			CHECK(row != pst_abi_table[k]);
	}
}

/* Of one kind each row begins where the one before it begins, or later; a gap between rows is a version that
 * nobody wrote a row for, an overlap is a micro version before its minor one. */
static void test_order(void)
{
	for (size_t i = 1; pst_abi_table[i]; i++) {
		const struct pst_abi *a = pst_abi_table[i - 1], *b = pst_abi_table[i];

		if (!same_kind(a, b))
			continue;
		unit_row("%s after %s", b->name, a->name);
		CHECK(b->first >= a->first);
		CHECK(b->until >= a->until);
		CHECK(b->first >= a->until || strcmp(a->name, b->name) == 0);
	}
}

static void test_bases(void)
{
	for (size_t i = 0; pst_abi_table[i]; i++) {
		const struct pst_abi *row = pst_abi_table[i];

		unit_row("%s, row %zu", row->name, i);
		if (!row->base)
			continue;
		CHECK(same_kind(row, row->base));
		CHECK(row->base != row);
		CHECK_TEXT(row->name, row->base->name);
		CHECK(row->first >= row->base->first && row->until <= row->base->until);
	}
}

/* ---- choice ---- */

#define AMD64 PST_RELEASE, 64, EM_X86_64

static const struct {
	struct pst_abi_key key;
	const char *name; /* NULL: no row */
	uint32_t first;
	bool newer;
} choices[] = {
	{ { 0x020600f0, AMD64 }, NULL, 0, false },
	{ { 0x0206ffff, AMD64 }, NULL, 0, false },
	{ { 0x020700a0, AMD64 }, "27", PST_PY(2, 7, 0), false },
	{ { 0x020712f0, AMD64 }, "27", PST_PY(2, 7, 0), false },
	{ { 0x030500f0, AMD64 }, NULL, 0, false },
	{ { 0x03050af0, AMD64 }, NULL, 0, false },
	{ { 0x03060ff0, AMD64 }, "36", PST_PY(3, 6, 0), false },
	{ { 0x030700a1, AMD64 }, "37", PST_PY(3, 7, 0), false },
	{ { 0x030700f0, AMD64 }, "37", PST_PY(3, 7, 0), false },
	{ { 0x030703f0, AMD64 }, "37", PST_PY(3, 7, 0), false },
	{ { 0x030704f0, AMD64 }, "37", PST_PY(3, 7, 0), false },
	{ { 0x030711f0, AMD64 }, "37", PST_PY(3, 7, 0), false },
	{ { 0x030800a0, AMD64 }, "38", PST_PY(3, 8, 0), false },
	{ { 0x030915f0, AMD64 }, "39", PST_PY(3, 9, 0), false },
	{ { 0x030a05f0, AMD64 }, "310", PST_PY(3, 10, 0), false },
	{ { 0x030b02f0, AMD64 }, "311", PST_PY(3, 11, 0), false },
	{ { 0x030c00f0, AMD64 }, "312", PST_PY(3, 12, 0), false },
	{ { 0x030d12f0, AMD64 }, "313", PST_PY(3, 13, 0), false },
	{ { 0x030e0af0, AMD64 }, "314", PST_PY(3, 14, 0), false },
	{ { 0x030f02f0, AMD64 }, "315", PST_PY(3, 15, 0), false },
	{ { 0x030fffff, AMD64 }, "315", PST_PY(3, 15, 0), false },
	{ { 0x031000a0, AMD64 }, "315", PST_PY(3, 15, 0), true },
	{ { 0x03ff00f0, AMD64 }, "315", PST_PY(3, 15, 0), true },
	{ { 0, AMD64 }, NULL, 0, false },
	{ { 0x030b02f0, PST_RELEASE, 64, EM_S390 }, NULL, 0, false },
	{ { 0x031000a0, PST_RELEASE, 64, EM_S390 }, NULL, 0, false },
	{ { 0x030b02f0, PST_RELEASE, 32, EM_X86_64 }, NULL, 0, false },
	{ { 0x030b02f0, PST_RELEASE, 16, EM_X86_64 }, NULL, 0, false },
};

static void test_find(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(choices); i++) {
		bool newer = !choices[i].newer;
		const struct pst_abi *row = pst_abi_find(&choices[i].key, &newer);

		unit_row("%#x", choices[i].key.version);
		CHECK_INT(newer, choices[i].newer);
		CHECK_INT(row != NULL, choices[i].name != NULL);
		if (!row || !choices[i].name)
			continue;
		CHECK_TEXT(row->name, choices[i].name);
		CHECK_INT(row->first, choices[i].first);
		CHECK(row->word_bits == 64 && row->machine == EM_X86_64);
	}
}

/* 3.7.4 moved the GIL. */
static void test_find_micro(void)
{
	const struct pst_abi *old = layouts_row(0x030703f0), *new = layouts_row(0x030704f0);

	CHECK(old != new);
	CHECK(layouts_row(0x030700f0) == old && layouts_row(0x030703f0) == old);
	CHECK(layouts_row(0x030711f0) == new);
	CHECK(layouts_row(PST_PY(3, 7, 0)) == old && layouts_row(PST_PY(3, 7, 4)) == new);
	CHECK(layouts_row(PST_PY(3, 7, 4) - 1) == old && layouts_row(PST_PY(3, 8, 0) - 1) == new);
	CHECK(old->base == new);
}

static const struct pst_abi *by_name(const char *name, uint32_t version)
{
	const struct pst_abi_key key = { version, AMD64 };

	return pst_abi_by_name(name, &key);
}

static void test_by_name(void)
{
	static const char *const none[] = { "", "3", "3.11", "31", "3111", "python", "99" };
	const struct pst_abi_key elsewhere = { 0x030b02f0, PST_RELEASE, 64, EM_S390 },
				 narrow = { 0x030b02f0, PST_RELEASE, 32, EM_X86_64 };

	for (size_t i = 0; i < FACT_VERSIONS; i++) {
		const struct pst_abi *row = layouts_row(fact_versions[i]);

		unit_row("%s", row->name);
		CHECK(by_name(row->name, fact_versions[i]) == row);
	}
	unit_begin();
	CHECK(by_name("37", 0x030702f0) == layouts_row(0x030702f0));
	CHECK(by_name("37", 0x030709f0) == layouts_row(0x030709f0));
	CHECK(by_name("37", PST_PY(3, 7, 0)) == layouts_row(0x030700f0));
	CHECK(by_name("37", PST_PY(3, 7, 4)) == layouts_row(0x030704f0));
	CHECK(by_name("311", 0) == layouts_row(0x030b00f0));
	CHECK(by_name("311", 0x030d00f0) == layouts_row(0x030b00f0));
	CHECK(by_name("37", 0) && strcmp(by_name("37", 0)->name, "37") == 0);
	for (size_t i = 0; i < PST_ARRAY_SIZE(none); i++)
		CHECK(!by_name(none[i], 0x030b02f0));
	CHECK(!pst_abi_by_name("311", &elsewhere));
	CHECK(!pst_abi_by_name("311", &narrow));
}

/* ---- roots ---- */

static void test_root_symbols(void)
{
	uint64_t places = 0;

	CHECK_INT(pst_root_symbols_count, sizeof(struct pst_roots) / sizeof(pst_addr_t));
	for (size_t i = 0; i < pst_root_symbols_count; i++) {
		CHECK(pst_root_symbols[i].root % sizeof(pst_addr_t) == 0);
		CHECK(pst_root_symbols[i].root < sizeof(struct pst_roots));
		places |= 1u << pst_root_symbols[i].root / sizeof(pst_addr_t);
	}
	CHECK_INT(places, (1u << pst_root_symbols_count) - 1);
	CHECK_TEXT(pst_root_symbols[0].name, "_PyRuntime");
	CHECK_INT(pst_root_symbols[0].root, offsetof(struct pst_roots, runtime));
}

static void test_head_word(void)
{
	const struct pst_roots both = { .runtime = 0x5000, .interp_head = 0x7000 },
			       runtime = { .runtime = 0x5000 }, head = { .interp_head = 0x7000 };
	struct pst_layout layout = { 0 };

	layout.off.runtime_interpreters_head = 40;
	CHECK_INT(pst_abi_head_word(&layout, &both), 0x5028);
	CHECK_INT(pst_abi_head_word(&layout, &runtime), 0x5028);
	CHECK_INT(pst_abi_head_word(&layout, &head), 0);
	layout.off.runtime_interpreters_head = PST_ABSENT;
	CHECK_INT(pst_abi_head_word(&layout, &both), 0x7000);
	CHECK_INT(pst_abi_head_word(&layout, &head), 0x7000);
	CHECK_INT(pst_abi_head_word(&layout, &runtime), 0);
}

/* ---- the words of the GIL ---- */

static void check_words(const struct pst_gil_words *w, pst_addr_t current, pst_addr_t last_holder,
	pst_addr_t locked, pst_addr_t switches)
{
	CHECK_INT(w->current, current);
	CHECK_INT(w->last_holder, last_holder);
	CHECK_INT(w->locked, locked);
	CHECK_INT(w->switches, switches);
}

static void test_gil_statics(void)
{
	struct pst_roots r = {
		.thread_current = 1, .gil_last_holder = 2, .gil_locked = 3, .gil_switch_number = 4
	};
	struct pst_error err = { 0 };
	struct pst_gil_words w;

	CHECK_DONE(pst_gil_statics(NULL, &r, NULL, 0, &w, &err), &err);
	check_words(&w, 1, 2, 3, 4);
	r.thread_current = 0;
	CHECK_DONE(pst_gil_statics(NULL, &r, NULL, 0, &w, &err), &err);
	check_words(&w, 0, 2, 3, 4);
	r.gil_switch_number = 0;
	CHECK_ERROR(pst_gil_statics(NULL, &r, NULL, 0, &w, &err), &err, PST_ERR_UNSUPPORTED);
	r.thread_current = 1;
	CHECK_DONE(pst_gil_statics(NULL, &r, NULL, 0, &w, &err), &err);
	check_words(&w, 1, 0, 0, 0);
}

/* Rows of 3.7 to 3.11 keep it in _PyRuntime. */
static void test_gil_runtime(void)
{
	const struct pst_roots r = { .runtime = 0x10000 };
	struct pst_error err = { 0 };
	struct pst_gil_words w;
	struct image image;

	image_init(&image, 8);
	for (size_t i = 0; i < FACT_VERSIONS; i++) {
		const struct pst_layout layout = layouts_resolve(&image, fact_versions[i]);

		if (layout.gil != pst_gil_runtime)
			continue;
		unit_row("%s", layout.row->name);
		CHECK_DONE(pst_gil_runtime(&layout, &r, &image.mem, 0, &w, &err), &err);
		check_words(&w, 0, 0x10000 + (pst_addr_t)layout.off.runtime_gil_last_holder,
			0x10000 + (pst_addr_t)layout.off.runtime_gil_locked,
			0x10000 + (pst_addr_t)layout.off.runtime_gil_switch_number);
	}
	image_fini(&image);
}

static void test_gil_interp(void)
{
	const struct pst_roots r = { .runtime = 0x10000 };
	struct pst_error err = { 0 };
	struct pst_layout layout;
	struct pst_gil_words w;
	struct image image;
	pst_addr_t interp;

	image_init(&image, 8);
	layout = layouts_resolve(&image, 0x030c00f0);
	interp = image_alloc(&image, 1000);
	CHECK_ERROR(layout.gil(&layout, &r, &image.mem, interp, &w, &err), &err, PST_ERR_TORN);
	image_put_word(&image, interp + 384, 0x9000);
	CHECK_DONE(layout.gil(&layout, &r, &image.mem, interp, &w, &err), &err);
	check_words(&w, 0, 0x9008, 0x9010, 0x9018);
	CHECK_ERROR(layout.gil(&layout, &r, &image.mem, 16, &w, &err), &err, PST_ERR_TORN);
	image_fail(&image, 1, PST_ERR_GONE);
	CHECK_ERROR(layout.gil(&layout, &r, &image.mem, interp, &w, &err), &err, PST_ERR_GONE);
	image_fini(&image);
}

static CU_TestInfo tests[] = {
	{ "rows", test_rows },
	{ "rows ascend", test_order },
	{ "rows with a base", test_bases },
	{ "find", test_find },
	{ "find: micro versions", test_find_micro },
	{ "by name", test_by_name },
	{ "symbols of the roots", test_root_symbols },
	{ "the word of the first interpreter", test_head_word },
	{ "GIL: statics", test_gil_statics },
	{ "GIL: in the runtime", test_gil_runtime },
	{ "GIL: of an interpreter", test_gil_interp },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_abi = { "abi", NULL, NULL, NULL, NULL, tests };
