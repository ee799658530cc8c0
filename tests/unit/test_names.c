/* Interned names and functions, and what they are made of: the arena and the hash table. */
#include "unit.h"

#include "pystill/arena.h"
#include "pystill/hash.h"
#include "pystill/names.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

static void test_strings(void)
{
	struct pst_names *names = pst_names_new();
	const pst_name_id a = pst_names_string(names, "alpha", 5),
			  b = pst_names_string(names, "beta", 4),
			  zero = pst_names_string(names, "a\0b", 3),
			  empty = pst_names_string(names, "", 0);
	size_t len = 99;

	CHECK_INT(a, 1);
	CHECK_INT(b, 2);
	CHECK_INT(zero, 3);
	CHECK_INT(empty, 4);
	CHECK_INT(pst_names_string(names, "alphabet", 5), a);
	CHECK_INT(pst_names_string(names, "a\0b", 3), zero);
	CHECK_INT(pst_names_string(names, "", 0), empty);
	CHECK_INT(pst_names_string(names, "a\0c", 3), 5);
	CHECK_INT(pst_names_string(names, "a", 1), 6);
	CHECK_INT(pst_names_count(names), 6);
	CHECK_TEXT(pst_names_get(names, a, &len), "alpha");
	CHECK_INT(len, 5);
	CHECK_BYTES(pst_names_get(names, zero, &len), 4, "a\0b", 4);
	CHECK_INT(len, 3);
	CHECK_TEXT(pst_names_get(names, b, NULL), "beta");
	pst_names_free(names);
	pst_names_free(NULL);
}

static void test_no_string(void)
{
	struct pst_names *names = pst_names_new();
	size_t len = 99;

	CHECK_TEXT(pst_names_get(names, 0, &len), "");
	CHECK_INT(len, 0);
	CHECK_TEXT(pst_names_get(names, 1, NULL), "");
	pst_names_string(names, "x", 1);
	CHECK_TEXT(pst_names_get(names, 2, &len), "");
	CHECK_INT(len, 0);
	pst_names_free(names);
}

/* Names whose hashes are equal. */
static void test_collisions(void)
{
	static const char *const words[] = { "declinate", "macallums", "costarring", "liquid" };
	struct pst_names *names = pst_names_new();

	CHECK_INT(pst_hash_bytes(words[0], 9), pst_hash_bytes(words[1], 9));
	CHECK_INT(pst_hash_bytes(words[2], 10), pst_hash_bytes(words[3], 6));
	for (size_t i = 0; i < 2 * PST_ARRAY_SIZE(words); i++)
		CHECK_INT(pst_names_string(names, words[i % 4], strlen(words[i % 4])), i % 4 + 1);
	pst_names_free(names);
}

/* Names stay where they are while the tables grow. */
static void test_many(void)
{
	enum { N = 20000 };
	struct pst_names *names = pst_names_new();
	const char *first = NULL;
	size_t wrong = 0;
	char text[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < N; i++) {
			const int len = snprintf(text, sizeof(text), "name-%d", i);
			const pst_name_id id = pst_names_string(names, text, (size_t)len);

			wrong += id != (pst_name_id)i + 1 ||
				strcmp(pst_names_get(names, id, NULL), text) != 0;
		}
		if (!first)
			first = pst_names_get(names, 1, NULL);
	}
	CHECK_INT(wrong, 0);
	CHECK_INT(pst_names_count(names), N);
	CHECK(first == pst_names_get(names, 1, NULL));
	pst_names_free(names);
}

static void test_funcs(void)
{
	static const struct pst_func funcs[] = { { 1, 2, 3 }, { 2, 1, 3 }, { 1, 2, 4 }, { 1, 1, 3 },
		{ 2, 2, 3 }, { 0, 0, 0 }, { 1, 2, -3 } };
	struct pst_names *names = pst_names_new();

	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(funcs); i++) {
			struct pst_func got;

			unit_row("round %d, %zu", round, i);
			CHECK_INT(pst_names_func(names, &funcs[i]), i + 1);
			got = pst_names_func_get(names, (pst_func_id)i + 1);
			CHECK_BYTES(&got, sizeof(got), &funcs[i], sizeof(got));
		}
	CHECK_INT(pst_names_func_count(names), PST_ARRAY_SIZE(funcs));
	CHECK_INT(pst_names_count(names), 0);
	CHECK_INT(pst_names_func_get(names, 0).name, 0);
	CHECK_INT(pst_names_func_get(names, 100).file, 0);
	pst_names_free(names);
}

static void test_many_funcs(void)
{
	struct pst_names *names = pst_names_new();
	size_t wrong = 0;

	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 10000; i++) {
			const struct pst_func func = { i / 100, i % 100, (int32_t)i / 7 };

			wrong += pst_names_func(names, &func) != i + 1;
		}
	CHECK_INT(wrong, 0);
	pst_names_free(names);
}

/* ---- arena ---- */

static void test_arena(void)
{
	enum { N = 3000 };
	struct pst_arena arena;
	unsigned char *v[N];
	size_t wrong = 0;

	pst_arena_init(&arena);
	for (size_t i = 0; i < N; i++) {
		const size_t size = i % 97 * (i % 10 ? 1 : 400);

		v[i] = pst_arena_alloc(&arena, size);
		wrong += (uintptr_t)v[i] % alignof(max_align_t) != 0;
		memset(v[i], (int)(i % 251), size);
	}
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < i % 97 * (i % 10 ? 1 : 400); k++)
			wrong += v[i][k] != i % 251;
	CHECK_INT(wrong, 0);
	pst_arena_fini(&arena);
	CHECK(!arena.blocks && !arena.used);
}

static void test_arena_reset(void)
{
	struct pst_arena arena;
	char *big, *text;

	pst_arena_init(&arena);
	pst_arena_reset(&arena);
	pst_arena_alloc(&arena, 10);
	big = pst_arena_alloc(&arena, 5u << 20);
	memset(big, 1, 5u << 20);
	pst_arena_reset(&arena);
	CHECK(pst_arena_alloc(&arena, 5u << 20) == big);
	pst_arena_reset(&arena);
	text = pst_arena_dup(&arena, "abc\0def", 6);
	CHECK_BYTES(text, 7, "abc\0de", 7);
	CHECK(text == big);
	pst_arena_fini(&arena);
	pst_arena_fini(&arena);
}

/* ---- hash ---- */

/* Ids stand for themselves. */
static bool same_id(const void *ctx, uint32_t id, const void *key)
{
	(void)ctx;
	return id == *(const uint32_t *)key;
}

static uint32_t find(const struct pst_hash *hash, uint32_t value, uint32_t id)
{
	return pst_hash_find(hash, value, same_id, NULL, &id);
}

/* VALUE_OF gives the hash of an id: how well it spreads must not matter. */
static void check_hash(uint32_t (*value_of)(uint32_t id), uint32_t n)
{
	struct pst_hash hash;
	size_t wrong = 0;

	pst_hash_init(&hash);
	for (int round = 0; round < 2; round++) {
		wrong += find(&hash, value_of(1), 1) != 0;
		for (uint32_t id = 1; id <= n; id++) {
			pst_hash_add(&hash, value_of(id), id);
			wrong += find(&hash, value_of(id), id) != id;
			wrong += find(&hash, value_of(id + 1), id + 1) != 0;
		}
		for (uint32_t id = 1; id <= n; id++)
			wrong += find(&hash, value_of(id), id) != id;
		CHECK_INT(wrong, 0);
		CHECK(hash.used * 3 <= (hash.mask + 1) * 2 + 3);
		pst_hash_clear(&hash);
		CHECK_INT(hash.used, 0);
	}
	pst_hash_fini(&hash);
}

static uint32_t all_equal(uint32_t id)
{
	(void)id;
	return 0xffffffff;
}

static uint32_t equal_low_bits(uint32_t id)
{
	return id << 20;
}

static uint32_t well_spread(uint32_t id)
{
	return pst_hash_u64(id);
}

static void test_hash(void)
{
	struct pst_hash empty;

	check_hash(all_equal, 200);
	check_hash(equal_low_bits, 300);
	check_hash(well_spread, 5000);
	pst_hash_init(&empty);
	pst_hash_clear(&empty);
	CHECK_INT(find(&empty, 0, 1), 0);
	pst_hash_fini(&empty);
}

/* An id of another hash is not even asked for. */
static void test_hash_compares_hashes(void)
{
	struct pst_hash hash;

	pst_hash_init(&hash);
	pst_hash_add(&hash, 1, 7);
	CHECK_INT(find(&hash, 1 + 1024, 7), 0);
	CHECK_INT(find(&hash, 1, 7), 7);
	pst_hash_fini(&hash);
}

static void test_hash_values(void)
{
	uint32_t low_bits = 0;

	CHECK_INT(pst_hash_bytes("", 0), 0x811c9dc5);
	CHECK_INT(pst_hash_bytes("a", 1), 0xe40c292c);
	CHECK_INT(pst_hash_bytes("foobar", 6), 0xbf9cf968);
	CHECK(pst_hash_bytes("\xff", 1) != pst_hash_bytes("\x7f", 1));
	for (uint64_t i = 0; i < 1000; i++)
		low_bits |= 1u << (pst_hash_u64(i << 32) & 31);
	CHECK_INT(low_bits, 0xffffffff);
}

static CU_TestInfo tests[] = {
	{ "strings", test_strings },
	{ "ids without string", test_no_string },
	{ "strings of one hash", test_collisions },
	{ "many strings", test_many },
	{ "functions", test_funcs },
	{ "many functions", test_many_funcs },
	{ "arena", test_arena },
	{ "arena: reset keeps the largest block", test_arena_reset },
	{ "hash table", test_hash },
	{ "hash table: hashes are compared", test_hash_compares_hashes },
	{ "hash functions", test_hash_values },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_names = { "names", NULL, NULL, NULL, NULL, tests };
