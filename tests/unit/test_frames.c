/* The frame chains of every era: what a walk gives. */
#include "unit.h"

#include "chain.h"

#include <string.h>

static void test_simple(void)
{
	for (size_t v = 0; v < CHAIN_VERSIONS; v++)
		for (size_t n = 0; n < 6; n++) {
			struct chain c;

			chain_begin(&c, chain_versions[v], n, 10);
			c.out.n = 7;
			c.out.truncated = true;
			CHECK_DONE(chain_walk(&c), &c.err);
			CHECK_INT(c.out.n, n);
			CHECK(!c.out.truncated);
			chain_check_plain(&c, 0, 0, n);
			chain_end(&c);
		}
}

/* Instructions as the interpreter writes them, not by the helper that the other tests use. */
static void test_lasti(void)
{
	static const struct {
		uint32_t version;
		uint64_t raw; /* f_lasti; or behind the beginning of the bytecode */
		int32_t lasti;
	} rows[] = { { 0x020712f0, 0, 0 }, { 0x020712f0, 27, 27 }, { 0x020712f0, 0xffffffff, -1 },
		{ 0x03060ff0, 18, 18 }, { 0x030910f0, 18, 18 }, { V310, 9, 18 }, { V310, 0, 0 },
		{ V310, 0xffffffff, -1 }, { V310, 1 << 20, 1 << 21 }, { V311, 32, 32 },
		{ V311, (uint64_t)-2, -2 }, { V312, 24, 24 }, { V313, 18, 18 }, { V314, 18, 18 },
		{ V315, 20, 20 }, { V315, 0, 0 } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		const struct pst_offsets *off;
		struct chain c;
		pst_addr_t at;

		chain_begin(&c, rows[i].version, 1, 10);
		off = &c.o.layout.off;
		at = c.frames + (pst_addr_t)off->frame_lasti;
		if (off->code_bytecode == PST_ABSENT)
			image_put_int(&c.o.image, at, (int32_t)rows[i].raw);
		else
			image_put_word(&c.o.image, at,
				CODE(0) + (pst_addr_t)off->code_bytecode + rows[i].raw);
		unit_row("%s, %" PRId64, c.o.layout.row->name, (int64_t)rows[i].raw);
		CHECK_DONE(chain_walk(&c), &c.err);
		CHECK_INT(c.out.v[0].lasti, rows[i].lasti);
		chain_end(&c);
	}
}

/* Owners 0 (thread), 1 (generator) and 2 (frame object) are Python's; 3 and above the interpreter's own. */
static void test_owners(void)
{
	for (size_t v = 0; v < CHAIN_VERSIONS; v++)
		for (unsigned owner = 0; owner < 6; owner++) {
			struct frame_spec spec;
			struct chain c;

			chain_begin(&c, chain_versions[v], 3, 10);
			spec = chain_plain(&c, 1);
			spec.owner = (uint8_t)owner;
			chain_put(&c, 1, spec);
			CHECK_DONE(chain_walk(&c), &c.err);
			if (chain_has_owner(&c) && owner >= 3) {
				CHECK_INT(c.out.n, 2);
				chain_check_plain(&c, 0, 0, 1);
				chain_check_plain(&c, 1, 2, 1);
			} else {
				CHECK_INT(c.out.n, 3);
				CHECK_INT(c.out.v[1].owner, chain_has_owner(&c) ? owner : 0);
				chain_check_plain(&c, 2, 2, 1);
			}
			chain_end(&c);
		}
}

/* A frame of the interpreter's own may hold anything but a wrong caller. */
static void test_shims(void)
{
	for (size_t v = 0; v < CHAIN_VERSIONS; v++) {
		struct chain c;

		chain_begin(&c, chain_versions[v], 6, 3);
		if (chain_has_owner(&c)) {
			chain_put(&c, 0, (struct frame_spec){ chain_frame(&c, 1), 0, 77, 3, 0 });
			chain_put(&c, 2,
				(struct frame_spec){
					chain_frame(&c, 3), c.o.type_none, -9999, 3, 0 });
			chain_put(&c, 5, (struct frame_spec){ 0, 0, 0, 4, 0 });
			CHECK_DONE(chain_walk(&c), &c.err);
			CHECK_INT(c.out.n, 3);
			chain_check_plain(&c, 0, 1, 1);
			chain_check_plain(&c, 1, 3, 2);
		}
		chain_end(&c);
	}
}

/* The low bits of a _PyStackRef are no part of the address. */
static void test_tags(void)
{
	for (unsigned tag = 0; tag < 4; tag++) {
		struct frame_spec spec;
		struct chain c;

		chain_begin(&c, V314, 2, 10);
		spec = chain_plain(&c, 0);
		spec.tag = tag;
		chain_put(&c, 0, spec);
		CHECK_DONE(chain_walk(&c), &c.err);
		CHECK_INT(c.out.n, 2);
		chain_check_plain(&c, 0, 0, 2);
		chain_put(&c, 0, (struct frame_spec){ chain_frame(&c, 1), 0, 4, 0, tag });
		CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
		chain_end(&c);
	}
}

/* Deeper than there is room for: the newest frames are there. */
static void test_truncated(void)
{
	for (size_t v = 0; v < CHAIN_VERSIONS; v++)
		for (uint32_t cap = 0; cap < 8; cap++) {
			struct chain c;

			chain_begin(&c, chain_versions[v], 5, cap);
			CHECK_DONE(chain_walk(&c), &c.err);
			CHECK_INT(c.out.n, cap < 5 ? cap : 5);
			CHECK_INT(c.out.truncated, cap < 5);
			chain_check_plain(&c, 0, 0, c.out.n);
			chain_end(&c);
		}
}

static void test_deep(void)
{
	for (size_t v = 0; v < CHAIN_VERSIONS; v += 2) {
		struct chain c;

		chain_begin(&c, chain_versions[v], PST_MAX_FRAMES, PST_MAX_FRAMES);
		CHECK_DONE(chain_walk(&c), &c.err);
		CHECK_INT(c.out.n, PST_MAX_FRAMES);
		CHECK(!c.out.truncated);
		CHECK_INT(c.out.v[PST_MAX_FRAMES - 1].frame, chain_frame(&c, PST_MAX_FRAMES - 1));
		chain_end(&c);
	}
}

/* Frames that are not shown do not take room, but there is an end to them. */
static void test_endless_shims(void)
{
	enum { MANY = 3 * PST_MAX_FRAMES };
	struct chain c;

	chain_begin(&c, V312, MANY, 10);
	for (size_t i = 0; i < MANY; i++)
		chain_put(&c, i,
			(struct frame_spec){
				i + 1 < MANY ? chain_frame(&c, i + 1) : 0, 0, 0, 3, 0 });
	image_forget(&c.o.image);
	CHECK_DONE(chain_walk(&c), &c.err);
	CHECK_INT(c.out.n, 0);
	CHECK(c.out.truncated);
	CHECK(c.o.image.n_calls < 3 * PST_MAX_FRAMES);
	chain_end(&c);
}

/* A 32-bit target: words of 4 bytes, where i386 keeps them in 2.7. */
static void test_narrow(void)
{
	struct pst_raw_frame v[4];
	struct pst_raw_stack out = { v, 0, 4, false };
	struct pst_layout layout = { .row = layouts_row(0x020712f0), .lasti_unit = 1 };
	struct pst_error err = { 0 };
	struct image image;
	pst_addr_t thread, frame;

	memset(&layout.off, 0xff, sizeof(layout.off));
	layout.off.thread_frame = 8;
	layout.off.frame_previous = 12;
	layout.off.frame_code = 16;
	layout.off.frame_lasti = 60;
	image_init(&image, 4);
	thread = image_alloc(&image, 12);
	frame = image_alloc(&image, 64);
	image_put_word(&image, thread + 8, frame);
	image_put_word(&image, frame + 16, 0xf7001000);
	image_put_int(&image, frame + 60, 33);
	CHECK_DONE(pst_frames_objects(&layout, &image.mem, thread, &out, &err), &err);
	CHECK_INT(out.n, 1);
	CHECK_INT(v[0].code, 0xf7001000);
	CHECK_INT(v[0].lasti, 33);
	image_fini(&image);
}

static CU_TestInfo tests[] = {
	{ "simple chains", test_simple },
	{ "instructions", test_lasti },
	{ "owners", test_owners },
	{ "frames of the interpreter's own", test_shims },
	{ "tagged pointers", test_tags },
	{ "truncated", test_truncated },
	{ "deep", test_deep },
	{ "no end of frames that are not shown", test_endless_shims },
	{ "32 bits", test_narrow },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_frames = { "frames", NULL, NULL, NULL, NULL, tests };
