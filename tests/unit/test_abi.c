/* The table of rows, and how one is chosen. */
#include "unit.h"

#include "abi_facts.h"
#include "image.h"
#include "layouts.h"

#include <elf.h>
#include <string.h>

/* ---- rows ---- */

static const char *const flavours[] = { "release", "debug", "free-threaded" };

/* Which row the checks are about. */
static void name_row(const struct pst_abi *row)
{
	unit_row("%s, %s, from %#x", row->name, flavours[row->flavour], row->first);
}

static void test_rows(void)
{
	size_t n = 0;

	PST_FOR_EACH_ABI(row)
	{
		const size_t digits = strspn(row->name, "0123456789");

		name_row(row);
		CHECK(row->name[0] >= '2' && row->name[0] <= '9');
		CHECK_TEXT(row->name + digits, row->flavour == PST_FREE_THREADED ? "t" : "");
		CHECK(row->first < row->until);
		CHECK(row->word_bits == 64 || row->word_bits == 32);
		CHECK(row->machine != EM_NONE);
		n++;
	}
	unit_begin();
	CHECK(n >= FACT_VERSIONS);
}

/* The arrays follow one another without gap or overlap, and each is of one minor version. */
static void test_order(void)
{
	const struct pst_abi *last = NULL;

	for (const struct pst_abi *const *minor = pst_abi_table; *minor; minor++) {
		const struct pst_abi *whole = *minor;

		name_row(whole);
		CHECK(whole->flavour == PST_RELEASE && !whole->base);
		CHECK(!last || whole->first == last->until || whole->first == PST_PY(3, 0, 0));
		for (const struct pst_abi *row = whole; row->name; row++) {
			name_row(row);
			CHECK(row->first >= whole->first && row->until <= whole->until);
			CHECK(strncmp(row->name, whole->name, strlen(whole->name)) == 0);
		}
		last = whole;
	}
}

/* A base stands in the same array, further up, and is whole. */
static void test_bases(void)
{
	for (const struct pst_abi *const *minor = pst_abi_table; *minor; minor++)
		for (const struct pst_abi *row = *minor + 1; row->name; row++) {
			name_row(row);
			CHECK(row->base >= *minor && row->base < row);
			CHECK(row->base->word_bits == row->word_bits);
			CHECK(row->base->machine == row->machine);
		}
}

/* ---- choice ---- */

#define AMD64 PST_RELEASE, 64, EM_X86_64
#define DEBUG PST_DEBUG, 64, EM_X86_64
#define BARE  PST_FREE_THREADED, 64, EM_X86_64

static const struct {
	struct pst_abi_key key;
	const char *name; /* NULL: no row */
	uint32_t first;
	bool newer;
} choices[] = {
	{ { 0x020203f0, AMD64 }, NULL, 0, false },
	{ { 0x0202ffff, AMD64 }, NULL, 0, false },
	{ { 0x020307f0, AMD64 }, "23", PST_PY(2, 3, 0), false },
	{ { 0x020406f0, AMD64 }, "24", PST_PY(2, 4, 0), false },
	{ { 0x020506f0, AMD64 }, "25", PST_PY(2, 5, 0), false },
	{ { 0x020600f0, AMD64 }, "26", PST_PY(2, 6, 0), false },
	{ { 0x0206ffff, AMD64 }, "26", PST_PY(2, 6, 0), false },
	{ { 0x020700a0, AMD64 }, "27", PST_PY(2, 7, 0), false },
	{ { 0x020712f0, AMD64 }, "27", PST_PY(2, 7, 0), false },
	{ { 0x030000a1, AMD64 }, "30", PST_PY(3, 0, 0), false },
	{ { 0x030105f0, AMD64 }, "31", PST_PY(3, 1, 0), false },
	{ { 0x030206f0, AMD64 }, "32", PST_PY(3, 2, 0), false },
	{ { 0x030307f0, AMD64 }, "33", PST_PY(3, 3, 0), false },
	{ { 0x03040af0, AMD64 }, "34", PST_PY(3, 4, 0), false },
	{ { 0x030500f0, AMD64 }, "35", PST_PY(3, 5, 0), false },
	{ { 0x03050af0, AMD64 }, "35", PST_PY(3, 5, 0), false },
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
	{ { 0x020712f0, DEBUG }, "27", PST_PY(2, 7, 0), false },
	{ { 0x030703f0, DEBUG }, "37", PST_PY(3, 7, 0), false },
	{ { 0x030d12f0, BARE }, "313t", PST_PY(3, 13, 0), false },
	{ { 0x030f02f0, BARE }, "315t", PST_PY(3, 15, 0), false },
	{ { 0x030c02f0, BARE }, NULL, 0, false },
	{ { 0x031000a0, BARE }, "315t", PST_PY(3, 15, 0), true },
	{ { 0x030fffff, AMD64 }, "315", PST_PY(3, 15, 0), false },
	{ { PST_PY(3, 16, 0), AMD64 }, "315", PST_PY(3, 15, 0), true },
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
		CHECK_INT(row->flavour, choices[i].key.flavour);
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

/* A row of some micro versions keeps all else from its base: 3.14.5 moved sys.modules and nothing more. */
static void test_find_micro_member(void)
{
	const struct pst_layout old = layouts_fixed(layouts_row(0x030e04f0)),
				new = layouts_fixed(layouts_row(0x030e05f0));
	struct pst_offsets same = old.off;

	CHECK_INT(old.off.interp_modules, 7664);
	CHECK_INT(new.off.interp_modules, 7688);
	same.interp_modules = new.off.interp_modules;
	CHECK_BYTES(&same, sizeof(same), &new.off, sizeof(new.off));
}

static const struct pst_abi *by_name(const char *name, uint32_t version)
{
	const struct pst_abi_key key = { version, AMD64 };

	return pst_abi_by_name(name, &key);
}

static void test_by_name(void)
{
	static const char *const none[] = { "", "3", "3.11", "310t", "3111", "python", "99" };
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
	CHECK(!by_name("37", 0)->base); /* the whole row, not that of some micro versions */
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

static CU_TestInfo tests[] = {
	{ "rows", test_rows },
	{ "rows ascend", test_order },
	{ "rows with a base", test_bases },
	{ "find", test_find },
	{ "find: micro versions", test_find_micro },
	{ "find: members of micro versions", test_find_micro_member },
	{ "by name", test_by_name },
	{ "symbols of the roots", test_root_symbols },
	{ "the word of the first interpreter", test_head_word },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_abi = { "abi", NULL, NULL, NULL, NULL, tests };
