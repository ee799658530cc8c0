/* Rows resolved: against measured numbers, and with hostile ones published. */
#include "unit.h"

#include "abi_facts.h"
#include "image.h"
#include "layouts.h"

#include <stdio.h>
#include <string.h>

/* ROW with what the process publishes at RUNTIME. */
static int resolve(const struct pst_abi *row, struct image *image, pst_addr_t runtime,
	struct pst_layout *out, struct pst_error *err)
{
	const struct pst_roots roots = { .runtime = runtime };

	return pst_abi_resolve(row, &image->mem, &roots, true, out, err);
}

static void check_facts(const struct pst_layout *layout, size_t v)
{
	CHECK(layout->row == layouts_row(fact_versions[v]));
	for (size_t i = 0; i < n_facts; i++) {
		unit_row("%s, %s", layout->row->name, facts[i].name);
		CHECK_INT(fact_of(layout, &facts[i]), facts[i].at[v]);
	}
}

/* Every member that was measured: as published, and as the tables have it. */
static void test_facts(void)
{
	struct image image;

	image_init(&image, 8);
	for (size_t v = 0; v < FACT_VERSIONS; v++) {
		const struct pst_layout published = layouts_resolve(&image, fact_versions[v]),
					fixed = layouts_fixed(layouts_row(fact_versions[v]));

		check_facts(&published, v);
		check_facts(&fixed, v);
		CHECK_INT(published.published, fact_versions[v] >= PST_PY(3, 13, 0));
		CHECK(!fixed.published);
	}
	image_fini(&image);
}

/* ---- slots ---- */

static bool uses_slots(const struct pst_abi *row)
{
	const unsigned char *at = (const unsigned char *)&row->at;

	for (size_t i = 0; i < sizeof(row->at); i += sizeof(struct pst_place)) {
		struct pst_place place;

		memcpy(&place, at + i, sizeof(place));
		if (place.slot)
			return true;
	}
	return false;
}

/* A row without slots needs no runtime, and reads nothing. */
static void test_fixed(void)
{
	struct pst_error err = { 0 };
	struct pst_layout layout;
	struct image image;

	image_init(&image, 8);
	for (size_t v = 0; v < FACT_VERSIONS; v++) {
		const struct pst_abi *row = layouts_row(fact_versions[v]);

		unit_row("%s", row->name);
		CHECK_INT(uses_slots(row), fact_versions[v] >= PST_PY(3, 13, 0));
		CHECK_INT(pst_abi_has_slots(row), uses_slots(row));
		if (!uses_slots(row))
			CHECK_DONE(resolve(row, &image, 0, &layout, &err), &err);
		else
			CHECK_ERROR(
				resolve(row, &image, 0, &layout, &err), &err, PST_ERR_UNSUPPORTED);
	}
	CHECK_INT(image.n_calls, 0);
	image_fini(&image);
}

static void test_unreadable(void)
{
	const struct pst_abi *row = layouts_row(0x030e00f0);
	struct pst_error err = { 0 };
	struct pst_layout layout;
	struct image image;
	pst_addr_t block;

	image_init(&image, 8);
	CHECK_ERROR(resolve(row, &image, 0x5000, &layout, &err), &err, PST_ERR_TORN);
	block = layouts_publish(&image, 0x030e00f0);
	image_fail(&image, 1, PST_ERR_PERM);
	CHECK_ERROR(resolve(row, &image, block, &layout, &err), &err, PST_ERR_PERM);
	image_fail(&image, 1, PST_ERR_GONE);
	CHECK_ERROR(resolve(row, &image, block, &layout, &err), &err, PST_ERR_GONE);
	image_fini(&image);
}

/* Not more is read than is published. */
static void test_block_size(void)
{
	struct image image;

	image_init(&image, 8);
	for (uint32_t minor = 13; minor <= 15; minor++) {
		const uint32_t version = PST_PY(3, minor, 0);

		image_forget(&image);
		layouts_resolve(&image, version);
		unit_row("3.%u", minor);
		CHECK_INT(image.n_ranges, 1);
		CHECK(image.ranges[0].size <= layouts_published_size(version));
	}
	image_fini(&image);
}

/* One absurd value at a time: it is refused when the row wants it, and does no harm when it does not. */
static void check_absurd(uint32_t version, uint64_t value, bool wanted)
{
	const struct pst_abi *row = layouts_row(version);
	const size_t size = layouts_published_size(version);
	struct pst_error err = { 0 };
	struct pst_layout good, layout;
	struct image image;
	size_t refused = 0;

	image_init(&image, 8);
	good = layouts_resolve(&image, version);
	for (size_t place = PUBLISHED_FIRST; place < size; place += 8) {
		const pst_addr_t block = layouts_publish(&image, version);
		int result;

		image_put_u64(&image, block + place, value);
		result = resolve(row, &image, block, &layout, &err);
		refused += result < 0;
		if (result < 0)
			CHECK_ERROR(result, &err, PST_ERR_UNSUPPORTED);
		else if (wanted)
			CHECK_BYTES(&layout.off, sizeof(layout.off), &good.off, sizeof(good.off));
	}
	unit_row("%s, %" PRIu64, row->name, value);
	CHECK(wanted ? refused >= 25 : refused == 0);
	image_fini(&image);
}

static void test_absurd(void)
{
	for (uint32_t minor = 13; minor <= 15; minor++) {
		const uint32_t version = PST_PY(3, minor, 0);

		check_absurd(version, UINT64_MAX, true);
		check_absurd(version, 1ull << 32 | 8, true);
		check_absurd(version, 0x80000000, true);
		check_absurd(version, 1ull << 40, true);
		check_absurd(version, 100000000, true);
		check_absurd(version, 0, false);
		check_absurd(version, 250000, false);
	}
}

static void test_message(void)
{
	const pst_addr_t current_frame = 184;
	struct pst_error err = { 0 };
	struct pst_layout layout;
	struct image image;
	pst_addr_t block;

	image_init(&image, 8);
	block = layouts_publish(&image, 0x030d00f0);
	image_put_u64(&image, block + current_frame, 123456789012);
	CHECK_ERROR(resolve(layouts_row(0x030d00f0), &image, block, &layout, &err), &err,
		PST_ERR_UNSUPPORTED);
	CHECK(strstr(err.msg, "123456789012") != NULL);
	CHECK(strstr(err.msg, "thread.frame") != NULL);
	image_fini(&image);
}

/* ---- rows that are made up ---- */

static const struct pst_abi grandmother = {
	.name = "x",
	.lasti_unit = 2,
	.frames = pst_frames_cframe,
	.text = pst_text_bytes,
	.lines = pst_lines_lnotab,
	.gil = pst_gil_interp,
	.at = { .interp_next = PST_AT(0),
		.thread_next = PST_AT(1),
		.thread_prev = PST_AT(2),
		.code_name = PST_SLOT(24, 106) },
};
static const struct pst_abi mother = {
	.name = "x",
	.base = &grandmother,
	.lines = pst_lines_ranges,
	.at = { .thread_next = PST_AT(11),
		.thread_prev = PST_SLOT(32, 102),
		.frame_owner = PST_AT(0) },
};
static const struct pst_abi child = {
	.name = "x",
	.base = &mother,
	.frames = pst_frames_objects,
	.at = { .thread_next = PST_AT(21), .interp_id = PST_SLOT(0, 105) },
};

/* What a row leaves out comes from its base, and from that one's. */
static void test_inherit(void)
{
	struct pst_error err = { 0 };
	struct pst_layout layout;
	struct image image;
	pst_addr_t block;

	image_init(&image, 8);
	block = image_alloc(&image, 40);
	image_put_u64(&image, block, 5);
	image_put_u64(&image, block + 24, 6);
	image_put_u64(&image, block + 32, 0);
	CHECK_DONE(resolve(&child, &image, block, &layout, &err), &err);
	CHECK(layout.row == &child);
	CHECK_INT(layout.off.thread_next, 21);
	CHECK_INT(layout.off.interp_id, 5);
	CHECK_INT(layout.off.thread_prev, 0);
	CHECK_INT(layout.off.frame_owner, 0);
	CHECK_INT(layout.off.interp_next, 0);
	CHECK_INT(layout.off.code_name, 6);
	CHECK_INT(layout.off.code_filename, PST_ABSENT);
	CHECK(layout.frames == pst_frames_objects && layout.lines == pst_lines_ranges);
	CHECK(layout.text == pst_text_bytes && layout.gil == pst_gil_interp);
	CHECK_INT(layout.lasti_unit, 2);
	CHECK_ERROR(resolve(&child, &image, 0, &layout, &err), &err, PST_ERR_UNSUPPORTED);
	image_fini(&image);
}

static void test_empty_row(void)
{
	static const struct pst_abi empty = { .name = "x" };
	struct pst_error err = { 0 };
	struct pst_layout layout;
	struct image image;

	image_init(&image, 8);
	CHECK_DONE(resolve(&empty, &image, 0, &layout, &err), &err);
	for (size_t i = 0; i < n_facts; i++) {
		unit_row("%s", facts[i].name);
		CHECK_INT(fact_of(&layout, &facts[i]), PST_ABSENT);
	}
	image_fini(&image);
}

/* A slot so far out that no version has it. */
static void test_far_slot(void)
{
	static const struct pst_abi far_row = { .name = "x",
		.at = { .interp_id = PST_SLOT(1 << 20, 5) } };
	struct pst_error err = { 0 };
	struct pst_layout layout;
	struct image image;

	image_init(&image, 8);
	CHECK_ERROR(resolve(&far_row, &image, 0x5000, &layout, &err), &err, PST_ERR_UNSUPPORTED);
	image_fini(&image);
}

static CU_TestInfo tests[] = {
	{ "members as measured", test_facts },
	{ "rows without slots", test_fixed },
	{ "a self-description that cannot be read", test_unreadable },
	{ "no more is read than is published", test_block_size },
	{ "absurd values", test_absurd },
	{ "the message names member and value", test_message },
	{ "rows inherit", test_inherit },
	{ "absent is not zero", test_empty_row },
	{ "a slot far out", test_far_slot },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_offsets = { "offsets", NULL, NULL, NULL, NULL, tests };
