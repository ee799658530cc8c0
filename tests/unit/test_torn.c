/* The frame chains of every era: what a walk refuses. */
#include "unit.h"

#include "chain.h"

#include <string.h>

/* TAIL frames, then a ring of LENGTH. */
static void check_ring(uint32_t version, size_t tail, size_t length, uint8_t owner)
{
	struct frame_spec spec;
	struct chain c;

	chain_begin(&c, version, tail + length, PST_MAX_FRAMES);
	for (size_t i = 0; i < c.n; i++) {
		spec = chain_plain(&c, i);
		spec.owner = owner;
		if (i == c.n - 1)
			spec.previous = chain_frame(&c, tail);
		chain_put(&c, i, spec);
	}
	image_forget(&c.o.image);
	unit_row("%s, %zu and a ring of %zu", c.o.layout.row->name, tail, length);
	CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
	CHECK(c.o.image.n_calls <= 4 * (tail + length) + 8);
	chain_end(&c);
}

static void test_rings(void)
{
	static const size_t lengths[] = { 1, 2, 3, 5, 8, 1000 };

	for (size_t v = 0; v < CHAIN_VERSIONS; v++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(lengths); i++) {
			check_ring(chain_versions[v], 0, lengths[i], 0);
			check_ring(chain_versions[v], 1, lengths[i], 0);
			check_ring(chain_versions[v], 700, lengths[i], 0);
		}
	check_ring(V312, 3, 7, 3);
}

/* One frame of five is broken. */
static void check_broken(uint32_t version, size_t which, struct frame_spec spec, const char *what)
{
	struct chain c;

	chain_begin(&c, version, 5, 10);
	chain_put(&c, which, spec);
	unit_row("%s, frame %zu: %s", c.o.layout.row->name, which, what);
	CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
	chain_end(&c);
}

static void test_broken(void)
{
	for (size_t v = 0; v < CHAIN_VERSIONS; v++)
		for (size_t which = 0; which < 5; which++) {
			struct frame_spec good;
			struct chain c;

			chain_begin(&c, chain_versions[v], 5, 10);
			good = chain_plain(&c, which);
			chain_end(&c);
			check_broken(chain_versions[v], which,
				(struct frame_spec){ good.previous, 0, 4, 0, 0 }, "no code");
			check_broken(chain_versions[v], which,
				(struct frame_spec){ 0x50, good.code, 4, 0, 0 }, "not mapped");
			check_broken(chain_versions[v], which,
				(struct frame_spec){ UINT64_MAX - 8, good.code, 4, 0, 0 },
				"at the end of memory");
			check_broken(chain_versions[v], which,
				(struct frame_spec){ good.previous, good.code, 1 << 29, 0, 0 },
				"an instruction that cannot be");
		}
}

static void test_newest_not_mapped(void)
{
	for (size_t v = 0; v < CHAIN_VERSIONS; v++) {
		struct chain c;

		chain_begin(&c, chain_versions[v], 2, 10);
		objects_thread_put(&c.o, c.thread, 0x50);
		CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
		image_put_word(
			&c.o.image, c.thread + (pst_addr_t)c.o.layout.off.thread_frame, 0x50);
		CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
		c.thread = 0x50;
		CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
		chain_end(&c);
	}
}

/* How far from the bytecode may an instruction be? */
static void test_lasti_bounds(void)
{
	static const struct {
		int64_t distance;
		bool ok;
	} rows[] = { { -2, true }, { 0, true }, { 1 << 20, true }, { -4096, false },
		{ -(1ll << 33), false }, { 1ll << 29, false }, { 1ll << 31, false },
		{ 1ll << 32, false }, { (1ll << 32) + 4, false }, { INT64_MAX, false },
		{ INT64_MIN, false } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct chain c;

		chain_begin(&c, V312, 1, 10);
		image_put_word(
			&c.o.image, c.frames + 56, CODE(0) + 192 + (uint64_t)rows[i].distance);
		unit_row("%" PRId64, rows[i].distance);
		if (rows[i].ok)
			CHECK_DONE(chain_walk(&c), &c.err);
		else
			CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
		chain_end(&c);
	}
}

/* 3.10 counts in units: twice as many bytes must fit too. */
static void test_lasti_units(void)
{
	struct chain c;

	chain_begin(&c, V310, 1, 10);
	image_put_int(&c.o.image, c.frames + 96, INT32_MAX);
	CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
	image_put_int(&c.o.image, c.frames + 96, INT32_MIN);
	CHECK_DONE(chain_walk(&c), &c.err);
	CHECK_INT(c.out.v[0].lasti, -1);
	chain_end(&c);
}

/* 3.15: a chain that does not end in the thread's own base frame was read in mid-air. */
static void test_base_frame(void)
{
	struct chain c;

	chain_begin(&c, V315, 4, 10);
	chain_put(&c, 3, (struct frame_spec){ 0, 0, 0, 3, 0 });
	CHECK_DONE(chain_walk(&c), &c.err);
	CHECK_INT(c.out.n, 3);
	chain_set_base(&c, chain_frame(&c, 2));
	CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
	chain_set_base(&c, 0);
	CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
	chain_set_base(&c, chain_frame(&c, 3));
	chain_put(&c, 1, (struct frame_spec){ 0, CODE(1), 4, 0, 0 });
	CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
	chain_end(&c);
}

static void test_base_frame_only(void)
{
	struct chain c;

	chain_begin(&c, V315, 1, 10);
	chain_put(&c, 0, (struct frame_spec){ 0, 0, 0, 3, 0 });
	CHECK_DONE(chain_walk(&c), &c.err);
	CHECK_INT(c.out.n, 0);
	objects_thread_put(&c.o, c.thread, 0);
	CHECK_DONE(chain_walk(&c), &c.err);
	CHECK_INT(c.out.n, 0);
	chain_end(&c);
}

/* A chain that was cut short for want of room has no end to be checked. */
static void test_base_frame_truncated(void)
{
	struct chain c;

	chain_begin(&c, V315, 9, 4);
	chain_set_base(&c, 0x50);
	CHECK_DONE(chain_walk(&c), &c.err);
	CHECK(c.out.truncated);
	chain_end(&c);
}

static void test_no_cframe(void)
{
	static const uint32_t with_cframe[] = { V311, V312 };

	for (size_t i = 0; i < PST_ARRAY_SIZE(with_cframe); i++) {
		struct chain c;

		chain_begin(&c, with_cframe[i], 2, 10);
		image_put_word(&c.o.image, c.thread + 56, 0);
		CHECK_DONE(chain_walk(&c), &c.err);
		CHECK_INT(c.out.n, 0);
		chain_end(&c);
	}
}

/* Whichever read it is that fails, its error is told. */
static void test_errors(void)
{
	static const enum pst_error_code codes[] = { PST_ERR_GONE, PST_ERR_PERM, PST_ERR_LATE };

	for (size_t v = 0; v < CHAIN_VERSIONS; v++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(codes); i++) {
			struct chain c;
			size_t n = 1;

			chain_begin(&c, chain_versions[v], 3, 10);
			for (; n < 20; n++) {
				image_fail(&c.o.image, n, codes[i]);
				if (chain_walk(&c) == 0)
					break;
				CHECK_INT(c.err.code, codes[i]);
			}
			CHECK(n > 3 && n < 20);
			chain_end(&c);
		}
}

static void test_impossible_offsets(void)
{
	static const struct {
		int32_t previous, code, lasti, owner;
	} rows[] = { { 8, 0, 100000, 70 }, { 100000, 0, 56, 70 }, { 8, 100000, 56, 70 },
		{ 8, 0, 56, 100000 }, { 8, 16, 56, 0 }, { PST_ABSENT, 0, 56, 70 },
		{ 8, PST_ABSENT, 56, 70 }, { 8, 0, PST_ABSENT, 70 }, { 8, 0, 56, 300 } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct pst_offsets *off;
		struct chain c;

		chain_begin(&c, V313, 1, 10);
		off = &c.o.layout.off;
		off->frame_previous = rows[i].previous;
		off->frame_code = rows[i].code;
		off->frame_lasti = rows[i].lasti;
		off->frame_owner = rows[i].owner;
		unit_row("%zu", i);
		CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_UNSUPPORTED);
		chain_end(&c);
	}
}

static CU_TestInfo tests[] = {
	{ "rings", test_rings },
	{ "broken frames", test_broken },
	{ "the newest frame is not mapped", test_newest_not_mapped },
	{ "bounds of an instruction", test_lasti_bounds },
	{ "bounds of an instruction in units", test_lasti_units },
	{ "3.15: the end of a chain", test_base_frame },
	{ "3.15: a thread without frames", test_base_frame_only },
	{ "3.15: a chain that was cut short", test_base_frame_truncated },
	{ "3.11: no cframe", test_no_cframe },
	{ "errors", test_errors },
	{ "offsets that cannot be", test_impossible_offsets },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_torn = { "torn", NULL, NULL, NULL, NULL, tests };
