/* Every row against what the headers of the versions that it serves say. */
#include "unit.h"

#include "image.h"
#include "row_facts.h"

#include <elf.h>
#include <string.h>

#define FIRST_VALUE 4096 /* of those that are made up: more than any row has at hand by itself */

/* Members that a version has and that must yet be left out, in versions before UNTIL: the flags of a type tell what
 * is text from 2.6 on, and the keys of its instances are looked for from 3.11 on. */
static const struct {
	size_t column;
	uint32_t until;
} unused[] = {
	{ ROW_type_flags, PST_PY(2, 6, 0) },
	{ ROW_type_cached_keys, PST_PY(3, 11, 0) },
};

static bool is_unused(size_t column, uint32_t version)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(unused); i++)
		if (unused[i].column == column && version < unused[i].until)
			return true;
	return false;
}

static const struct pst_abi *find(uint32_t version, enum pst_flavour flavour, bool *newer)
{
	const struct pst_abi_key key = { version, flavour, 64, EM_X86_64 };

	return pst_abi_find(&key, newer);
}

/* The row that serves VERSION, as the tables have it.  Returns false when there is none. */
static bool resolve(uint32_t version, enum pst_flavour flavour, struct pst_layout *out)
{
	const struct pst_roots roots = { 0 };
	struct pst_error err = { 0 };
	bool newer = true;
	const struct pst_abi *row = find(version, flavour, &newer);

	return CHECK(row && !newer) &&
		CHECK_DONE(pst_abi_resolve(row, NULL, &roots, false, out, &err), &err);
}

static int32_t member(const struct pst_layout *layout, size_t column)
{
	int32_t at;

	memcpy(&at, (const char *)&layout->off + row_columns[column].member, sizeof(at));
	return at;
}

/* ---- the tables ---- */

static void check_version(const struct row_facts *f, uint32_t version)
{
	const struct pst_mem mem = { NULL, 8 };
	struct pst_layout layout;

	unit_row("%s: %#x", f->what, version);
	if (!resolve(version, f->served_as, &layout))
		return;
	CHECK(!layout.published);
	CHECK_INT(pst_size_bytes(&layout, &mem), f->size_bytes);
	CHECK_INT(layout.str_kind_bit, f->kind_bit == PST_ABSENT ? 0 : f->kind_bit);
	for (size_t c = 0; c < ROW_WIDTH; c++) {
		unit_row("%s: %#x, %s", f->what, version, row_columns[c].name);
		CHECK_INT(member(&layout, c), is_unused(c, version) ? PST_ABSENT : f->at[c]);
	}
}

/* The last byte of a final release is 0xf0. */
static uint32_t next_micro(uint32_t version)
{
	return ((version >> 8) + 1) << 8 | 0xf0;
}

static void test_members(void)
{
	for (size_t i = 0; i < n_row_facts; i++) {
		const struct row_facts *f = &row_facts[i];

		for (uint32_t v = f->first; v < f->last; v = next_micro(v))
			check_version(f, v);
		check_version(f, f->last);
	}
}

/* Micro versions where a struct changed, and whether that is a struct that we read. */
static const struct {
	uint32_t below, from;
	enum pst_flavour flavour;
	bool differ;
} changes[] = {
	{ 0x030703f0, 0x030704f0, PST_RELEASE, true }, /* the runtime's gc: the GIL moved */
	{ 0x030703f0, 0x030704f0, PST_DEBUG, true },
	{ 0x030902f0, 0x030903f0, PST_RELEASE, false }, /* recursion counters */
	{ 0x030903f0, 0x030904f0, PST_RELEASE, false },
	{ 0x030a05f0, 0x030a06f0, PST_RELEASE, false }, /* asyncio's tasks */
	{ 0x030c00f0, 0x030c01f0, PST_RELEASE, false }, /* sizes */
	{ 0x030c03f0, 0x030c04f0, PST_RELEASE, false },
	{ 0x030c06f0, 0x030c07f0, PST_RELEASE, false },
	{ 0x030d00f0, 0x030d01f0, PST_RELEASE, false }, /* locks */
	{ 0x030d0bf0, 0x030d0cf0, PST_RELEASE, false }, /* the runtime behind ceval */
	{ 0x030d0cf0, 0x030d0df0, PST_RELEASE, false }, /* sizes */
	{ 0x030d0bf0, 0x030d0cf0, PST_FREE_THREADED, false },
	{ 0x030e03f0, 0x030e04f0, PST_RELEASE, false }, /* sizes */
	{ 0x030e04f0, 0x030e05f0, PST_RELEASE, true },  /* the gc: sys.modules moved */
	{ 0x030e04f0, 0x030e05f0, PST_FREE_THREADED, false },
	{ 0x030e07f0, 0x030e0af0, PST_FREE_THREADED, false }, /* mimalloc */
	{ 0x030f00c1, 0x030f02f0, PST_RELEASE, false },
	{ 0x030f00c1, 0x030f02f0, PST_FREE_THREADED, false }, /* imports, behind the modules */
};

static void test_micro(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(changes); i++) {
		struct pst_layout below, from;

		unit_row("%#x, flavour %d", changes[i].from, (int)changes[i].flavour);
		if (!resolve(changes[i].below, changes[i].flavour, &below) ||
			!resolve(changes[i].from, changes[i].flavour, &from))
			continue;
		CHECK_INT(memcmp(&below.off, &from.off, sizeof(from.off)) != 0, changes[i].differ);
		CHECK(!changes[i].differ || below.row != from.row);
	}
}

/* A row serves nothing outside of its minor version.  There was no 2.8. */
static bool is_within(const struct pst_abi *row, uint32_t minor)
{
	const uint32_t end = minor == PST_PY(2, 7, 0) ? PST_PY(3, 0, 0) : minor + PST_PY(0, 1, 0);

	return row->first >= minor && row->until <= end;
}

/* There are rows for a minor version from its first pre-release to the last micro version that there can be, and none
 * for other builds. */
static void check_kind(uint32_t minor, enum pst_flavour flavour, bool wanted)
{
	static const uint32_t parts[] = { 0x00a1, 0x00f0, 0x01f0, 0xffff };

	for (size_t i = 0; i < PST_ARRAY_SIZE(parts); i++) {
		bool newer = false;
		const struct pst_abi *row = find(minor | parts[i], flavour, &newer);

		unit_row("%#x, flavour %d", minor | parts[i], (int)flavour);
		CHECK_INT(row && !newer, wanted);
		CHECK(!wanted || !row || is_within(row, minor));
	}
}

static void test_kinds(void)
{
	const uint32_t last_minor[] = { [2] = 7, [3] = 15 };

	for (uint32_t major = 2; major <= 3; major++)
		for (uint32_t minor = major == 2 ? 3 : 0; minor <= last_minor[major]; minor++) {
			const uint32_t v = PST_PY(major, minor, 0);

			check_kind(v, PST_RELEASE, true);
			check_kind(v, PST_DEBUG, v < PST_PY(3, 8, 0));
			check_kind(v, PST_FREE_THREADED, v >= PST_PY(3, 13, 0));
		}
}

/* ---- what a process publishes ---- */

/* Published, but the same in all builds: the rows have it themselves. */
static bool is_fixed(size_t column)
{
	return column == ROW_type_basicsize || column == ROW_type_dictoffset ||
		column == ROW_type_cached_keys;
}

static int32_t made_up(size_t column)
{
	return FIRST_VALUE + 8 * (int32_t)column;
}

/* A value of its own at each place; nothing of it may come from another. */
static pst_addr_t publish(struct image *image, const struct row_slots *s)
{
	const pst_addr_t runtime = image_alloc(image, 4096);

	for (size_t c = 0; c < ROW_WIDTH; c++)
		if (s->at[c] != PST_ABSENT)
			image_put_u64(image, runtime + (pst_addr_t)s->at[c], (uint64_t)made_up(c));
	return runtime;
}

static void check_slots(const struct row_slots *s, uint32_t version, enum pst_flavour flavour)
{
	struct pst_error err = { 0 };
	struct pst_layout fixed, layout;
	struct pst_roots roots = { 0 };
	struct image image;

	unit_row("%s, flavour %d", s->what, (int)flavour);
	if (!resolve(version, flavour, &fixed))
		return;
	image_init(&image, 8);
	roots.runtime = publish(&image, s);
	if (CHECK_DONE(pst_abi_resolve(fixed.row, &image.mem, &roots, true, &layout, &err), &err))
		for (size_t c = 0; c < ROW_WIDTH; c++) {
			const int32_t own = member(&fixed, c);
			const bool is_own = s->at[c] == PST_ABSENT || own == PST_ABSENT;

			unit_row("%s, flavour %d, %s", s->what, (int)flavour, row_columns[c].name);
			CHECK_INT(member(&layout, c), is_own || is_fixed(c) ? own : made_up(c));
		}
	image_fini(&image);
}

static void test_slots(void)
{
	for (size_t i = 0; i < n_row_slots; i++) {
		const struct row_slots *s = &row_slots[i];

		check_slots(s, s->first, PST_RELEASE);
		check_slots(s, s->first + 0xff00, PST_RELEASE);
		check_slots(s, s->first, PST_FREE_THREADED);
		check_slots(s, s->first + 0xff00, PST_FREE_THREADED);
	}
}

static CU_TestInfo tests[] = {
	{ "members of every version", test_members },
	{ "micro versions", test_micro },
	{ "builds of every version", test_kinds },
	{ "published members", test_slots },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_rows = { "rows", NULL, NULL, NULL, NULL, tests };
