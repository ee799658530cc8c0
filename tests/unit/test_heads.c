/* The heads of code objects, which are copied together with the stack. */
#include "unit.h"

#include "python/internal.h"
#include "stage.h"

#include <stdio.h>
#include <string.h>

#define V310 0x030a05f0
#define V311 0x030b02f0
#define V313 0x030d12f0

/* More codes than heads are copied with the stack: the rest is named too. */
static void test_many_codes(void)
{
	enum { N = PST_MAX_HEADS + 50 };
	struct stage s;
	char name[16];

	stage_begin(&s, V310);
	for (int32_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		stage_push(&s, stage_code(&s, name, 10 * i + 1), 2 * (i % 10), 0);
	}
	for (int round = 0; round < 2; round++) {
		stage_take(&s);
		CHECK_INT(s.n, N);
		CHECK(s.reading.n_heads <= PST_MAX_HEADS);
		for (int32_t i = 0; i < N && s.n == N; i += 7) {
			snprintf(name, sizeof(name), "f%d", i);
			stage_check(
				&s, (uint32_t)(N - 1 - i), name, 10 * i + 1, 10 * i + 1 + i % 10);
		}
	}
	stage_end(&s);
}

/* N frames, each with a code of its own; the first is the outermost. */
static void push_codes(struct stage *s, pst_addr_t *codes, int32_t n)
{
	for (int32_t i = 0; i < n; i++) {
		codes[i] = stage_code(s, "f", 10 * i + 1);
		stage_push(s, codes[i], 0, 0);
	}
}

/* One of the codes that had no room is not mapped, or no code. */
static void test_many_codes_torn(void)
{
	enum { N = PST_MAX_HEADS + 5 };
	pst_addr_t codes[N];
	struct stage s;

	stage_begin(&s, V310);
	push_codes(&s, codes, N);
	image_unmap(&s.o.image, codes[1]);
	CHECK_DONE(stage_read(&s), &s.err);
	CHECK_ERROR(stage_resolve(&s), &s.err, PST_ERR_TORN);
	stage_end(&s);
}

/* A code beyond the heads that are copied with the stack, replaced: the check finds it, and the next
 * reading does not know it by its old name. */
static void test_many_codes_recheck(void)
{
	enum { N = PST_MAX_HEADS + 5 };
	pst_addr_t codes[N];
	struct code_spec spec;
	struct stage s;

	stage_begin(&s, V310);
	push_codes(&s, codes, N);
	stage_take(&s);
	spec = stage_spec(&s, "other", 7);
	objects_code_put(&s.o, codes[1], &spec);
	s.thread.checked_ns = 0;
	CHECK_DONE(stage_read(&s), &s.err);
	CHECK_ERROR(stage_resolve(&s), &s.err, PST_ERR_TORN);
	stage_take(&s);
	stage_check(&s, N - 2, "other", 7, 7);
	stage_check(&s, N - 1, "f", 1, 1);
	stage_end(&s);
}

/* Several heads that are not mapped hide no other. */
static void test_heads_not_mapped(void)
{
	enum { N = 200 };
	pst_addr_t codes[N];
	struct stage s;

	stage_begin(&s, V310);
	push_codes(&s, codes, N);
	image_unmap(&s.o.image, codes[N - 1]);
	image_unmap(&s.o.image, codes[N - 2]);
	image_unmap(&s.o.image, codes[5]);
	image_unmap(&s.o.image, codes[0]);
	CHECK_DONE(stage_read(&s), &s.err);
	REQUIRE(s.reading.n_heads == N);
	for (int32_t i = 0; i < N; i++) {
		const struct pst_code_head *head = &s.reading.heads[i];
		const int32_t which = N - 1 - i;

		CHECK_INT(head->addr, codes[which]);
		CHECK_INT(head->there, which != 0 && which != 5 && which < N - 2);
	}
	stage_end(&s);
}

/* A code object's members lie in its head, wherever a hostile process says that they are. */
static void test_head_size(void)
{
	static const struct {
		size_t member;
		int32_t at;
	} rows[] = {
		{ offsetof(struct pst_offsets, code_filename), 1000 },
		{ offsetof(struct pst_offsets, code_name), 249 },
		{ offsetof(struct pst_offsets, code_qualname), 5000 },
		{ offsetof(struct pst_offsets, code_linetable), 1 << 20 },
		{ offsetof(struct pst_offsets, code_firstlineno), 300 },
		{ offsetof(struct pst_offsets, code_firsttraceable), 300 },
	};

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct stage s;

		stage_begin(&s, V313);
		stage_push(&s, stage_code(&s, "f", 10), 4, 0);
		memcpy((char *)&s.py.layout.off + rows[i].member, &rows[i].at, sizeof(rows[i].at));
		unit_row("%d", rows[i].at);
		CHECK_ERROR(stage_read(&s), &s.err, PST_ERR_UNSUPPORTED);
		stage_end(&s);
	}
}

/* As long as there is room for, and not a byte more. */
static void test_head_room(void)
{
	struct stage s;

	stage_begin(&s, V313);
	stage_push(&s, stage_code(&s, "f", 10), 4, 0);
	s.py.layout.off.code_name = 248;
	CHECK_DONE(stage_read(&s), &s.err);
	s.py.layout.off.code_name = 249;
	CHECK_ERROR(stage_read(&s), &s.err, PST_ERR_UNSUPPORTED);
	stage_end(&s);
}

/* ---- how much is kept ---- */

/* A code whose line table has SIZE bytes. */
static pst_addr_t big_code(struct stage *s, const char *name, size_t size)
{
	cleanup_free uint8_t *table = pst_xcalloc(size, 1);
	struct code_spec spec = stage_spec(s, name, 10);

	spec.table = table;
	spec.table_len = size;
	return objects_code(&s->o, &spec);
}

static pst_addr_t table_of(struct stage *s, pst_addr_t code)
{
	pst_addr_t table = 0;

	MUST(pst_mem_read_addr(s->target.mem, code + 136, &table, &s->err) == 0);
	return table;
}

/* Is the table of the newest frame's code read again when nothing has changed? */
static bool is_forgotten(struct stage *s, pst_addr_t code)
{
	image_forget(&s->o.image);
	stage_take(s);
	return image_count_reads(&s->o.image, table_of(s, code) + 16) > 0;
}

/* Line tables are kept, but not without end. */
static void test_tables_forgotten(void)
{
	pst_addr_t codes[3];
	struct stage s;

	stage_begin(&s, V313);
	for (int i = 0; i < 3; i++) {
		codes[i] = big_code(&s, "f", 12u << 20);
		stage_push(&s, codes[i], 0, 0);
		stage_take(&s);
		CHECK_INT(s.n, i + 1);
		if (i < 2)
			CHECK(!is_forgotten(&s, codes[i]));
	}
	CHECK(is_forgotten(&s, codes[2]));
	stage_check(&s, 0, "f", 10, 10);
	stage_end(&s);
}

/* A code that is replaced again and again takes no more room than one. */
static void test_tables_replaced(void)
{
	cleanup_free uint8_t *table = pst_xcalloc(1 << 20, 1);
	struct code_spec spec;
	pst_addr_t code;
	struct stage s;

	stage_begin(&s, V313);
	code = big_code(&s, "f", 1 << 20);
	stage_push(&s, code, 0, 0);
	spec = stage_spec(&s, "f", 10);
	spec.table = table;
	spec.table_len = 1 << 20;
	for (int i = 0; i < 40; i++) {
		objects_code_put(&s.o, code, &spec);
		stage_take(&s);
		unit_row("%d", i);
		CHECK(!is_forgotten(&s, code));
	}
	stage_end(&s);
}

/* More codes than are kept, one after the other: each is right. */
static void test_codes_forgotten(void)
{
	enum { N = 70000, SIZE = 256 };
	pst_addr_t first, codes;
	unsigned char head[188];
	size_t wrong = 0;
	struct stage s;

	stage_begin(&s, V313);
	first = stage_code(&s, "f", 10);
	codes = image_alloc(&s.o.image, (size_t)N * SIZE);
	MUST(pst_mem_read(s.target.mem, first, head, sizeof(head), &s.err) == 0);
	stage_push(&s, first, 4, 0);
	for (size_t i = 0; i < N; i++) {
		image_put(&s.o.image, codes + i * SIZE, head, sizeof(head));
		stage_step(&s, codes + i * SIZE, 4);
		image_forget(&s.o.image);
		wrong += stage_read(&s) < 0 || stage_resolve(&s) < 0 || s.n != 1 ||
			!stage_is(&s, 0, "f", 10, 12);
	}
	CHECK_INT(wrong, 0);
	stage_end(&s);
}

/* The type is read from the head too. */
static void test_head_holds_type(void)
{
	struct stage s;

	stage_begin(&s, V313);
	CHECK_INT(pst_code_head_size(&s.py.layout), 188);
	s.py.layout.off.object_type = 200;
	CHECK(pst_code_head_size(&s.py.layout) >= 208);
	stage_end(&s);
}

static void test_object_is(void)
{
	struct pst_error err = { 0 };
	struct objects o;
	bool is = false;

	objects_init(&o, V311);
	CHECK_DONE(pst_object_is(&o.layout, &o.image.mem, objects_plain(&o, o.type_code, 16),
			   "code", &is, &err),
		&err);
	CHECK(is);
	CHECK_DONE(pst_object_is(&o.layout, &o.image.mem, objects_plain(&o, o.type_none, 16),
			   "code", &is, &err),
		&err);
	CHECK(!is);
	CHECK_DONE(pst_object_is(&o.layout, &o.image.mem,
			   objects_plain(&o, objects_type(&o, "codec", 0), 16), "code", &is, &err),
		&err);
	CHECK(!is);
	CHECK_ERROR(pst_object_is(&o.layout, &o.image.mem, 0x50, "code", &is, &err), &err,
		PST_ERR_TORN);
	objects_fini(&o);
}

static CU_TestInfo tests[] = {
	{ "more codes than heads", test_many_codes },
	{ "more codes than heads: torn", test_many_codes_torn },
	{ "more codes than heads: replaced", test_many_codes_recheck },
	{ "heads that are not mapped", test_heads_not_mapped },
	{ "heads that cannot be", test_head_size },
	{ "heads of all the room", test_head_room },
	{ "line tables are forgotten", test_tables_forgotten },
	{ "line tables of codes that are replaced", test_tables_replaced },
	{ "codes are forgotten", test_codes_forgotten },
	{ "a head holds the type", test_head_holds_type },
	{ "the type of an object", test_object_is },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_heads = { "heads", NULL, NULL, NULL, NULL, tests };
