/* Copies of the bytecode: in builds without the GIL each thread runs its own (3.14+). */
#include "unit.h"

#include "chain.h"
#include "stage.h"

#include <string.h>

static const uint32_t versions[] = { V314, V315 };

/* Where the copies are said to begin; they are never read. */
#define COPY(n) (0x7f0008000000 + (pst_addr_t)(n)*0x1000)

/* The code at CODE gets N copies: a size, then pointers, the first to the code's own. */
static pst_addr_t add_copies(struct objects *o, pst_addr_t code, size_t n)
{
	const pst_addr_t array = image_alloc(&o->image, 8 + n * 8);

	image_put_word(&o->image, array, n);
	for (size_t i = 0; i < n; i++)
		image_put_word(&o->image, array + 8 + i * 8, COPY(i));
	objects_put(o, code, o->layout.off.code_tlbc, array);
	return array;
}

/* The frame at FRAME runs copy INDEX, and is AT. */
static void put_place(struct objects *o, pst_addr_t frame, int32_t index, pst_addr_t at)
{
	objects_put_int(o, frame, o->layout.off.frame_tlbc_index, index);
	objects_put(o, frame, o->layout.off.frame_lasti, at);
}

/* One frame whose code has N copies. */
static pst_addr_t begin(struct chain *c, uint32_t version, size_t n)
{
	chain_begin_flavour(c, version, PST_FREE_THREADED, 1, 4);
	image_map(&c->o.image, CODE(0), 0x400);
	return add_copies(&c->o, CODE(0), n);
}

static void test_copies(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++)
		for (int32_t index = 0; index < 5; index++) {
			struct chain c;
			pst_addr_t start;

			begin(&c, versions[v], 5);
			start = index ? COPY(index)
				      : CODE(0) + (pst_addr_t)c.o.layout.off.code_bytecode;
			put_place(&c.o, chain_frame(&c, 0), index, start + 24);
			unit_row("%s, copy %d", c.o.layout.row->name, index);
			CHECK_DONE(chain_walk(&c), &c.err);
			CHECK_INT(c.out.n, 1);
			CHECK_INT(c.out.v[0].lasti, 24);
			CHECK_INT(c.out.v[0].code, CODE(0));
			chain_end(&c);
		}
}

/* The code's own bytecode is found without a look at the code. */
static void test_own(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct chain c;

		chain_begin_flavour(&c, versions[v], PST_FREE_THREADED, 3, 4);
		CHECK_DONE(chain_walk(&c), &c.err);
		CHECK_INT(c.out.n, 3);
		chain_check_plain(&c, 0, 0, 3);
		chain_end(&c);
	}
}

/* Builds with a GIL have no copies, whatever lies where the others keep the index. */
static void test_release(void)
{
	struct chain c;

	chain_begin(&c, V314, 1, 4);
	CHECK_INT(c.o.layout.off.frame_tlbc_index, PST_ABSENT);
	image_put_byte(&c.o.image, chain_frame(&c, 0) + 72, 3);
	CHECK_DONE(chain_walk(&c), &c.err);
	chain_check_plain(&c, 0, 0, 1);
	chain_end(&c);
}

static const struct {
	const char *what;
	int32_t index;
	uint64_t size; /* of the array, as it says */
	uint64_t copy; /* where copy 1 is said to begin */
	bool no_array;
} hostile[] = {
	{ "behind the last", 5, 5, COPY(1), false },
	{ "far behind the last", INT32_MAX, 5, COPY(1), false },
	{ "negative", -1, 5, COPY(1), false },
	{ "most negative", INT32_MIN, 5, COPY(1), false },
	{ "negative in an array without end", -1, UINT64_MAX, COPY(1), false },
	{ "in an array without end", 1, UINT64_MAX, COPY(1), false },
	{ "in an array that is too long", 1, (1 << 20) + 1, COPY(1), false },
	{ "behind what is mapped", 1000, 1 << 20, COPY(1), false },
	{ "of none", 1, 0, COPY(1), false },
	{ "no array", 1, 5, COPY(1), true },
	{ "in no copy", 1, 5, 0, false },
	{ "before its copy", 1, 5, COPY(2), false },
};

static void test_hostile(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(hostile); i++) {
		pst_addr_t array;
		struct chain c;

		array = begin(&c, V314, 8);
		image_put_word(&c.o.image, array, hostile[i].size);
		image_put_word(&c.o.image, array + 16, hostile[i].copy);
		image_put_word(&c.o.image, array + 48, COPY(1)); /* behind the last */
		if (hostile[i].no_array)
			objects_put(&c.o, CODE(0), c.o.layout.off.code_tlbc, 0);
		put_place(&c.o, chain_frame(&c, 0), hostile[i].index, COPY(1) + 24);
		unit_row("%s", hostile[i].what);
		CHECK_ERROR(chain_walk(&c), &c.err, PST_ERR_TORN);
		chain_end(&c);
	}
}

/* Whichever read it is that fails, its error is told. */
static void test_errors(void)
{
	struct chain c;
	size_t n = 1;

	begin(&c, V315, 5);
	put_place(&c.o, chain_frame(&c, 0), 2, COPY(2));
	for (; n < 20; n++) {
		image_fail(&c.o.image, n, PST_ERR_LATE);
		if (chain_walk(&c) == 0)
			break;
		CHECK_INT(c.err.code, PST_ERR_LATE);
	}
	CHECK(n > 5 && n < 20);
	chain_end(&c);
}

/* The line is that of the instruction, whichever copy it is in. */
static void test_lines(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++)
		for (int32_t index = 0; index < 3; index++) {
			pst_addr_t code, frame, start;
			struct stage s;

			stage_begin_flavour(&s, versions[v], PST_FREE_THREADED);
			code = stage_code(&s, "f", 10);
			frame = stage_push(&s, code, 4, 0);
			add_copies(&s.o, code, 3);
			start = index ? COPY(index)
				      : code + (pst_addr_t)s.o.layout.off.code_bytecode;
			put_place(&s.o, frame, index, start + 14);
			unit_row("%s, copy %d", s.o.layout.row->name, index);
			stage_take(&s);
			stage_check(&s, 0, "f", 10, 17);
			stage_end(&s);
		}
}

static CU_TestInfo tests[] = {
	{ "copies", test_copies },
	{ "the code's own", test_own },
	{ "builds with a GIL", test_release },
	{ "copies that cannot be", test_hostile },
	{ "errors", test_errors },
	{ "lines", test_lines },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_tlbc = { "tlbc", NULL, NULL, NULL, NULL, tests };
