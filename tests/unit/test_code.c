/* Stacks with names and lines, while code objects come, go, and are replaced. */
#include "unit.h"

#include "python/internal.h"
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t versions[] = { 0x020712f0, 0x03060ff0, 0x030910f0, 0x030a05f0, 0x030b02f0,
	0x030c03f0, 0x030d12f0, 0x030e0af0, 0x030f02f0 };
#define V39  0x030910f0
#define V311 0x030b02f0
#define V313 0x030d12f0

static void test_names_and_lines(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct stage s;

		stage_begin(&s, versions[v]);
		stage_push(&s, stage_code(&s, "<module>", 1), 8, 0);
		stage_push(&s, stage_code(&s, "Class.method", 100), 0, 0);
		stage_push(&s, stage_code(&s, "leaf", 200), 2 * STAGE_STEPS - 2, 1);
		for (int round = 0; round < 3; round++) {
			stage_take(&s);
			CHECK_INT(s.n, 3);
			stage_check(&s, 0, "leaf", 200, 200 + STAGE_STEPS - 1);
			stage_check(&s, 1, "Class.method", 100, 100);
			stage_check(&s, 2, "<module>", 1, 5);
		}
		stage_end(&s);
	}
}

static void test_no_frames(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct stage s;

		stage_begin(&s, versions[v]);
		stage_take(&s);
		CHECK_INT(s.n, 0);
		stage_push(&s, stage_code(&s, "f", 1), 0, 0);
		stage_take(&s);
		CHECK_INT(s.n, 1);
		stage_pop(&s);
		stage_take(&s);
		CHECK_INT(s.n, 0);
		stage_end(&s);
	}
}

/* A frame that has not begun is on the function's first line. */
static void test_not_begun(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct stage s;

		stage_begin(&s, versions[v]);
		stage_push(
			&s, stage_code(&s, "f", 30), versions[v] < PST_PY(3, 11, 0) ? -1 : -2, 1);
		stage_take(&s);
		CHECK_INT(s.n, 1);
		stage_check(&s, 0, "f", 30, 30);
		stage_end(&s);
	}
}

/* One code on several frames is one function, and is read once. */
static void test_recursion(void)
{
	struct stage s;
	pst_addr_t f, g;

	stage_begin(&s, V311);
	f = stage_code(&s, "f", 10);
	g = stage_code(&s, "g", 50);
	for (int32_t i = 0; i < 6; i++)
		stage_push(&s, i % 3 ? f : g, 2 * i, 0);
	stage_take(&s);
	CHECK_INT(s.n, 6);
	CHECK_INT(s.reading.n_heads, 2);
	for (int32_t i = 0; i < 6; i++)
		stage_check(&s, (uint32_t)i, (5 - i) % 3 ? "f" : "g", (5 - i) % 3 ? 10 : 50,
			((5 - i) % 3 ? 10 : 50) + 5 - i);
	CHECK_INT(s.frames[0].func, s.frames[1].func);
	CHECK_INT(pst_names_func_count(s.py.names), 2);
	stage_end(&s);
}

/* ---- hidden frames ---- */

/* Before its first traceable instruction a frame is not shown, unless a generator owns it. */
static void test_hidden(void)
{
	static const struct {
		int32_t lasti;
		uint8_t owner;
		bool shown;
	} rows[] = { { -2, 0, false }, { 0, 0, false }, { 8, 0, false }, { 9, 0, false },
		{ 10, 0, true }, { 12, 0, true }, { 8, 2, false }, { -2, 1, true }, { 8, 1, true },
		{ 10, 1, true } };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
			struct code_spec spec;
			struct stage s;

			stage_begin(&s, versions[v]);
			if (s.o.layout.off.code_firsttraceable == PST_ABSENT) {
				stage_end(&s);
				continue;
			}
			spec = stage_spec(&s, "__init__", 7);
			spec.firsttraceable = 5;
			stage_push(&s, stage_code(&s, "outer", 3), 2, 0);
			stage_push(&s, objects_code(&s.o, &spec), rows[i].lasti, rows[i].owner);
			stage_push(&s, stage_code(&s, "inner", 20), 2, 0);
			unit_row("%s, at %d, owner %u", s.o.layout.row->name, rows[i].lasti,
				rows[i].owner);
			for (int round = 0; round < 2; round++) {
				stage_take(&s);
				CHECK_INT(s.n, rows[i].shown ? 3 : 2);
				stage_check(&s, 0, "inner", 20, 21);
				stage_check(&s, s.n - 1, "outer", 3, 4);
			}
			stage_end(&s);
		}
}

/* ---- code objects that are replaced ---- */

static void test_replaced_between(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct code_spec spec;
		struct stage s;
		pst_addr_t code;

		stage_begin(&s, versions[v]);
		stage_push(&s, stage_code(&s, "outer", 1), 2, 0);
		code = stage_code(&s, "old", 10);
		stage_push(&s, code, 4, 0);
		stage_take(&s);
		stage_check(&s, 0, "old", 10, 12);
		spec = stage_spec(&s, "new", 500);
		objects_code_put(&s.o, code, &spec);
		stage_take(&s);
		CHECK_INT(s.n, 2);
		stage_check(&s, 0, "new", 500, 502);
		stage_check(&s, 1, "outer", 1, 2);
		stage_end(&s);
	}
}

/* Each member that makes names and lines, alone, tells one code from another. */
#define M(member) offsetof(struct pst_offsets, member)
static const struct change {
	const char *what;
	size_t member;
	const char *file, *name;
	int32_t first, line;
} changes[] = {
	{ "nothing", 0, "f.py", "f", 10, 10 },
	{ "type", M(object_type), "f.py", "f", 10, 10 },
	{ "file", M(code_filename), "new", "f", 10, 10 },
	{ "name", M(code_name), "f.py", "f", 10, 10 },
	{ "qualname", M(code_qualname), "f.py", "new", 10, 10 },
	{ "first line", M(code_firstlineno), "f.py", "f", 11, 11 },
	{ "table", M(code_linetable), "f.py", "f", 10, 12 },
};

/* Overwrite one member of CODE; which table is read then? */
static pst_addr_t make_change(struct stage *s, pst_addr_t code, const struct change *change)
{
	static const uint8_t table[] = { 0xe0, 0, 0 }; /* two lines further down */
	const pst_addr_t table_word = code + (pst_addr_t)s->o.layout.off.code_linetable;
	const pst_addr_t values[] = { 0, objects_type(&s->o, "code", 0), objects_name(&s->o, "new"),
		objects_name(&s->o, "new"), objects_name(&s->o, "new"), 0,
		objects_bytes(&s->o, table, sizeof(table)) };
	pst_addr_t value = values[change - changes], now = 0;
	int32_t at;

	memcpy(&at, (char *)&s->o.layout.off + change->member, sizeof(at));
	if (change->member == M(code_firstlineno))
		image_put_int(&s->o.image, code + (pst_addr_t)at, change->first);
	else if (value)
		image_put_word(&s->o.image, code + (pst_addr_t)at, value);
	MUST(pst_mem_read_addr(s->target.mem, table_word, &now, &s->err) == 0);
	return now;
}

static void test_changes(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(changes); i++) {
		pst_addr_t code, table;
		struct pst_func func;
		struct stage s;

		stage_begin(&s, V311);
		code = stage_code(&s, "f", 10);
		stage_push(&s, code, 0, 0);
		stage_take(&s);
		table = make_change(&s, code, &changes[i]);
		image_forget(&s.o.image);
		unit_row("%s", changes[i].what);
		stage_take(&s);
		CHECK_INT(image_count_reads(&s.o.image, table + 16), i > 0); /* looked up anew? */
		func = pst_names_func_get(s.py.names, s.frames[0].func);
		CHECK_TEXT(pst_names_get(s.py.names, func.file, NULL), changes[i].file);
		CHECK_TEXT(pst_names_get(s.py.names, func.name, NULL), changes[i].name);
		CHECK_INT(func.line, changes[i].first);
		CHECK_INT(s.frames[0].line, changes[i].line);
		stage_end(&s);
	}
}
#undef M

/* Replaced after the stack was read, and before the code got its name. */
static void test_replaced_after(void)
{
	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct code_spec spec;
		struct stage s;
		pst_addr_t code;

		stage_begin(&s, versions[v]);
		code = stage_code(&s, "old", 10);
		stage_push(&s, code, 4, 0);
		CHECK_DONE(stage_read(&s), &s.err);
		spec = stage_spec(&s, "new", 500);
		objects_code_put(&s.o, code, &spec);
		CHECK_ERROR(stage_resolve(&s), &s.err, PST_ERR_TORN);
		CHECK_INT(s.n, 0);
		stage_take(&s);
		stage_check(&s, 0, "new", 500, 502);
		stage_end(&s);
	}
}

struct swap {
	struct stage *s;
	pst_addr_t code;
};

static void swap_now(void *ctx)
{
	struct swap *swap = ctx;
	const struct code_spec spec = stage_spec(swap->s, "new", 500);

	objects_code_put(&swap->s->o, swap->code, &spec);
}

/* Replaced while it is being named, at each read in turn: never a mixture of both. */
static void test_replaced_meanwhile(void)
{
	size_t torn = 0, n;

	for (n = 1; n < 40; n++) {
		struct stage s;
		struct swap swap = { .s = &s };
		bool ran;

		stage_begin(&s, V311);
		swap.code = stage_code(&s, "old", 10);
		stage_push(&s, swap.code, 4, 0);
		CHECK_DONE(stage_read(&s), &s.err);
		image_hook(&s.o.image, n, swap_now, &swap);
		unit_row("before read %zu", n);
		if (stage_resolve(&s) < 0) {
			CHECK_INT(s.err.code, PST_ERR_TORN);
			torn++;
		} else {
			stage_check(&s, 0, "old", 10, 12);
		}
		ran = s.o.image.n_calls >= n;
		stage_end(&s);
		if (!ran)
			break;
	}
	CHECK(n > 8 && n < 40);
	CHECK_INT(torn, n - 1);
}

/* ---- what is no code ---- */

/* BREAK does it to one of three codes. */
static void check_refused(void (*break_it)(struct stage *s, pst_addr_t code), const char *what)
{
	for (unsigned which = 0; which < 3; which++) {
		static const char *const names[] = { "a", "b", "c" };
		struct stage s;
		pst_addr_t codes[3];
		int result;

		stage_begin(&s, V313);
		for (unsigned i = 0; i < 3; i++) {
			codes[i] = stage_code(&s, names[i], 10);
			stage_push(&s, codes[i], 4, 0);
		}
		break_it(&s, codes[which]);
		unit_row("%s, %u", what, which);
		result = stage_read(&s);
		if (result == 0)
			result = stage_resolve(&s);
		CHECK_ERROR(result, &s.err, PST_ERR_TORN);
		CHECK_INT(s.n, 0);
		stage_end(&s);
	}
}

static void unmap(struct stage *s, pst_addr_t code)
{
	image_unmap(&s->o.image, code);
}

static void change_type(struct stage *s, pst_addr_t code)
{
	image_put_word(&s->o.image, code + 8, objects_type(&s->o, "codec", 0));
}

static void lose_type(struct stage *s, pst_addr_t code)
{
	image_put_word(&s->o.image, code + 8, 0x50);
}

static void lose_name(struct stage *s, pst_addr_t code)
{
	image_put_word(&s->o.image, code + 128, s->o.type_none);
}

static void lose_file(struct stage *s, pst_addr_t code)
{
	image_put_word(&s->o.image, code + 112, 0);
}

static void lose_table(struct stage *s, pst_addr_t code)
{
	image_put_word(&s->o.image, code + 136, 0x50);
}

static void swell_table(struct stage *s, pst_addr_t code)
{
	const pst_addr_t table = objects_bytes(&s->o, "", 0);

	image_put_word(&s->o.image, table + 16, UINT64_MAX - 100);
	image_put_word(&s->o.image, code + 136, table);
}

static void swell_table_a_little(struct stage *s, pst_addr_t code)
{
	const pst_addr_t table = objects_bytes(&s->o, "", 0);

	image_put_word(&s->o.image, table + 16, 1000000);
	image_put_word(&s->o.image, code + 136, table);
}

static void test_refused(void)
{
	check_refused(unmap, "not mapped");
	check_refused(change_type, "another type");
	check_refused(lose_type, "no type");
	check_refused(lose_name, "no name");
	check_refused(lose_file, "no file");
	check_refused(lose_table, "no table");
	check_refused(swell_table, "a table of no size that can be");
	check_refused(swell_table_a_little, "a table that is not there");
}

/* A code that could not be named is tried again, and does not stay half known. */
static void test_mended(void)
{
	struct stage s;
	pst_addr_t code, name = 0;

	stage_begin(&s, V311);
	code = stage_code(&s, "f", 10);
	stage_push(&s, code, 4, 0);
	MUST(pst_mem_read_addr(s.target.mem, code + 128, &name, &s.err) == 0);
	lose_name(&s, code);
	CHECK_DONE(stage_read(&s), &s.err);
	CHECK_ERROR(stage_resolve(&s), &s.err, PST_ERR_TORN);
	image_put_word(&s.o.image, code + 128, name);
	stage_take(&s);
	stage_check(&s, 0, "f", 10, 12);
	stage_end(&s);
}

static void test_empty_table(void)
{
	struct code_spec spec;
	struct stage s;

	stage_begin(&s, V311);
	spec = stage_spec(&s, "f", 10);
	spec.table_len = 0;
	stage_push(&s, objects_code(&s.o, &spec), 4, 0);
	stage_take(&s);
	CHECK_INT(s.n, 1);
	stage_check(&s, 0, "f", 10, 0);
	stage_end(&s);
}

/* Long names are cut, and are names still. */
static void test_long_name(void)
{
	cleanup_free char *name = pst_xmalloc(50001);
	struct code_spec spec;
	struct pst_func func;
	struct stage s;
	size_t len;

	memset(name, 'n', 50000);
	name[50000] = '\0';
	stage_begin(&s, V311);
	spec = stage_spec(&s, "f", 10);
	spec.qualname = name;
	stage_push(&s, objects_code(&s.o, &spec), 4, 0);
	stage_take(&s);
	REQUIRE(s.n == 1);
	func = pst_names_func_get(s.py.names, s.frames[0].func);
	CHECK(strncmp(pst_names_get(s.py.names, func.name, &len), name, 1000) == 0);
	CHECK(len > 1000 && len < 50000);
	stage_end(&s);
}

static CU_TestInfo tests[] = {
	{ "names and lines", test_names_and_lines },
	{ "no frames", test_no_frames },
	{ "not begun", test_not_begun },
	{ "recursion", test_recursion },
	{ "hidden frames", test_hidden },
	{ "replaced between two readings", test_replaced_between },
	{ "what tells two codes apart", test_changes },
	{ "replaced after the reading", test_replaced_after },
	{ "replaced while it is named", test_replaced_meanwhile },
	{ "what is no code", test_refused },
	{ "a code that is mended", test_mended },
	{ "an empty line table", test_empty_table },
	{ "a long name", test_long_name },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_code = { "code", NULL, NULL, NULL, NULL, tests };
