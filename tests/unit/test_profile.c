/* The call tree, and the shares of functions. */
#include "unit.h"

#include "pystill/profile.h"

#include <stdlib.h>
#include <string.h>

/* A stack written outermost first; a frame's line is ten times its function. */
static pst_node_id add(struct pst_profile *p, pst_node_id root, const char *funcs, uint64_t weight)
{
	const size_t n = strlen(funcs);
	struct pst_frame frames[64];
	const struct pst_stack stack = { frames, (uint32_t)n, false };

	for (size_t i = 0; i < n; i++) {
		const pst_func_id func = (pst_func_id)(funcs[n - 1 - i] - 'a' + 1);

		frames[i] = (struct pst_frame){ func, (int32_t)func * 10 };
	}
	return pst_profile_add(p, root, &stack, weight);
}

static void test_tree(void)
{
	struct pst_profile *p = pst_profile_new();
	const pst_node_id abc = add(p, 0, "abc", 1), abd = add(p, 0, "abd", 2),
			  ab = add(p, 0, "ab", 4), b = add(p, 0, "b", 8);

	CHECK_INT(pst_profile_count(p), 5);
	CHECK_INT(add(p, 0, "abc", 16), abc);
	CHECK_INT(pst_profile_count(p), 5);
	CHECK_INT(pst_profile_node(p, abc)->self, 17);
	CHECK_INT(pst_profile_node(p, abd)->self, 2);
	CHECK_INT(pst_profile_node(p, ab)->self, 4);
	CHECK_INT(pst_profile_node(p, b)->self, 8);
	CHECK_INT(pst_profile_node(p, abc)->parent, ab);
	CHECK_INT(pst_profile_node(p, abd)->parent, ab);
	CHECK_INT(pst_profile_node(p, b)->parent, 0);
	CHECK_INT(pst_profile_node(p, abc)->frame.func, 3);
	CHECK_INT(pst_profile_node(p, abc)->frame.line, 30);
	CHECK_INT(pst_profile_node(p, pst_profile_node(p, ab)->parent)->self, 0);
	CHECK(pst_profile_node(p, 0) == NULL);
	CHECK(pst_profile_node(p, 6) == NULL);
	for (pst_node_id id = 1; id <= 5; id++)
		CHECK(pst_profile_node(p, id)->parent < id);
	pst_profile_free(p);
	pst_profile_free(NULL);
}

/* Parent, function and line make a node. */
static void test_child(void)
{
	struct pst_profile *p = pst_profile_new();
	const pst_node_id a = pst_profile_child(p, 0, (struct pst_frame){ 1, 10 }),
			  line = pst_profile_child(p, 0, (struct pst_frame){ 1, 11 }),
			  negative = pst_profile_child(p, 0, (struct pst_frame){ 1, -10 }),
			  func = pst_profile_child(p, 0, (struct pst_frame){ 2, 10 }),
			  parent = pst_profile_child(p, a, (struct pst_frame){ 1, 10 });

	CHECK_INT(a, 1);
	CHECK_INT(line, 2);
	CHECK_INT(negative, 3);
	CHECK_INT(func, 4);
	CHECK_INT(parent, 5);
	CHECK_INT(pst_profile_child(p, 0, (struct pst_frame){ 1, 10 }), a);
	CHECK_INT(pst_profile_child(p, a, (struct pst_frame){ 1, 10 }), parent);
	pst_profile_free(p);
}

static void test_empty_stack(void)
{
	struct pst_profile *p = pst_profile_new();
	const pst_node_id root = pst_profile_child(p, 0, (struct pst_frame){ 0, 1 });

	CHECK_INT(add(p, 0, "", 5), 0);
	CHECK_INT(add(p, root, "", 3), root);
	CHECK_INT(pst_profile_node(p, root)->self, 3);
	CHECK_INT(pst_profile_count(p), 1);
	pst_profile_free(p);
}

static void test_many(void)
{
	enum { N = 20000 };
	struct pst_profile *p = pst_profile_new();
	size_t wrong = 0;

	for (int round = 0; round < 2; round++)
		for (pst_node_id i = 0; i < N; i++)
			wrong +=
				pst_profile_child(p, i / 3,
					(struct pst_frame){ i % 3 + 1, (int32_t)(i % 7) }) != i + 1;
	CHECK_INT(wrong, 0);
	CHECK_INT(pst_profile_count(p), N);
	pst_profile_free(p);
}

/* ---- shares ---- */

struct wanted_row {
	char func;
	uint64_t self, total;
};

static void check_top(
	struct pst_profile *p, const struct wanted_row *wanted, size_t n, uint64_t all)
{
	cleanup_free struct pst_row *rows = NULL;
	uint64_t sum = 999;
	const size_t got = pst_profile_top(p, &rows, &sum);

	CHECK_INT(got, n);
	CHECK_INT(sum, all);
	for (size_t i = 0; i < n && i < got; i++) {
		CHECK_INT(rows[i].func, wanted[i].func - 'a' + 1);
		CHECK_INT(rows[i].self, wanted[i].self);
		CHECK_INT(rows[i].total, wanted[i].total);
	}
	pst_profile_free(p);
}

static void test_top(void)
{
	static const struct wanted_row wanted[] = { { 'c', 7, 7 }, { 'b', 3, 9 }, { 'd', 1, 1 },
		{ 'a', 0, 10 } };
	struct pst_profile *p = pst_profile_new();

	add(p, 0, "abc", 5);
	add(p, 0, "ab", 3);
	add(p, 0, "abd", 1);
	add(p, 0, "ac", 1);
	add(p, 0, "c", 1);
	check_top(p, wanted, 4, 11);
}

/* A function counts once in a stack, however often it is there, and at whatever distance. */
static void test_recursion(void)
{
	static const struct wanted_row wanted[] = { { 'a', 15, 15 }, { 'b', 0, 12 } };
	struct pst_profile *p = pst_profile_new();

	add(p, 0, "a", 1);
	add(p, 0, "aa", 2);
	add(p, 0, "aba", 4);
	add(p, 0, "baba", 8);
	check_top(p, wanted, 2, 15);
}

/* Lines of one function are one row; its rows under several roots as well. */
static void test_lines_and_roots(void)
{
	static const struct wanted_row wanted[] = { { 'a', 7, 9 }, { 'b', 2, 2 } };
	struct pst_profile *p = pst_profile_new();
	const struct pst_frame line_5 = { 1, 5 }, line_6 = { 1, 6 };
	const struct pst_stack first = { &line_5, 1, false }, second = { &line_6, 1, false };
	const pst_node_id r1 = pst_profile_child(p, 0, (struct pst_frame){ 0, 1 }),
			  r2 = pst_profile_child(p, 0, (struct pst_frame){ 0, 2 });

	pst_profile_add(p, r1, &first, 1);
	pst_profile_add(p, r1, &second, 2);
	pst_profile_add(p, r2, &first, 4);
	add(p, r2, "ab", 2);
	check_top(p, wanted, 2, 9);
}

/* Most self weight first, then most total weight, then the older function. */
static void test_order(void)
{
	static const struct wanted_row wanted[] = { { 'e', 4, 4 }, { 'd', 2, 6 }, { 'b', 2, 2 },
		{ 'c', 2, 2 }, { 'a', 0, 10 } };
	struct pst_profile *p = pst_profile_new();

	add(p, 0, "ade", 4);
	add(p, 0, "ad", 2);
	add(p, 0, "ac", 2);
	add(p, 0, "ab", 2);
	check_top(p, wanted, 5, 10);
}

/* Weights beyond 32 bits. */
static void test_heavy(void)
{
	static const struct wanted_row wanted[] = { { 'b', 3ull << 40, 3ull << 40 },
		{ 'a', 1ull << 40, 4ull << 40 } };
	struct pst_profile *p = pst_profile_new();

	add(p, 0, "ab", 3ull << 40);
	add(p, 0, "a", 1ull << 40);
	check_top(p, wanted, 2, 4ull << 40);
}

static void test_nothing(void)
{
	check_top(pst_profile_new(), NULL, 0, 0);
}

static CU_TestInfo tests[] = {
	{ "tree", test_tree },
	{ "what makes a node", test_child },
	{ "a stack without frames", test_empty_stack },
	{ "many nodes", test_many },
	{ "self and total", test_top },
	{ "recursion counts once", test_recursion },
	{ "lines and roots", test_lines_and_roots },
	{ "order", test_order },
	{ "heavy", test_heavy },
	{ "nothing", test_nothing },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_profile = { "profile", NULL, NULL, NULL, NULL, tests };
