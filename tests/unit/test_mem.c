/* Plain reads on top of a memory, and the memory of a process: our own. */
#include "unit.h"

#include "image.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void test_numbers(void)
{
	struct pst_error err = { 0 };
	struct image image;
	pst_addr_t at, word = 0;
	uint64_t u64 = 0;
	int32_t i32 = 0;

	image_init(&image, 8);
	at = image_alloc(&image, 16);
	image_put_u64(&image, at, 0x1122334455667788);
	image_put_int(&image, at + 12, -5);
	CHECK_DONE(pst_mem_read_addr(&image.mem, at, &word, &err), &err);
	CHECK(word == 0x1122334455667788);
	CHECK_DONE(pst_mem_read_u64(&image.mem, at, &u64, &err), &err);
	CHECK(u64 == 0x1122334455667788);
	CHECK_DONE(pst_mem_read_i32(&image.mem, at + 12, &i32, &err), &err);
	CHECK_INT(i32, -5);
	image_fini(&image);
}

static void test_narrow(void)
{
	struct pst_error err = { 0 };
	struct image image;
	pst_addr_t at, word = 0;

	image_init(&image, 4);
	at = image_alloc(&image, 8);
	image_put_u64(&image, at, 0x11223344fedcba98);
	CHECK_DONE(pst_mem_read_addr(&image.mem, at, &word, &err), &err);
	CHECK(word == 0xfedcba98);
	CHECK(pst_mem_word_at(&image.mem, "\1\0\0\x80\xff\xff\xff\xff") == 0x80000001);
	CHECK_DONE(pst_mem_read_addr(&image.mem, at + 4, &word, &err), &err);
	image.mem.word_bytes = 8;
	CHECK(pst_mem_word_at(&image.mem, "\1\0\0\x80\xff\xff\xff\xff") == 0xffffffff80000001);
	CHECK_ERROR(pst_mem_read_addr(&image.mem, at + 4, &word, &err), &err, PST_ERR_TORN);
	image_fini(&image);
}

/* Errors of the memory go through as they are; not mapped is TORN. */
static void test_errors(void)
{
	static const enum pst_error_code codes[] = { PST_ERR_GONE, PST_ERR_PERM, PST_ERR_LATE };
	struct pst_error err = { 0 };
	struct image image;
	pst_addr_t word;
	uint64_t u64;
	int32_t i32;
	char text[8];

	image_init(&image, 8);
	CHECK_ERROR(pst_mem_read(&image.mem, 64, text, 1, &err), &err, PST_ERR_TORN);
	CHECK(strstr(err.msg, "0x40") != NULL);
	for (size_t i = 0; i < PST_ARRAY_SIZE(codes); i++) {
		unit_row("code %d", (int)codes[i]);
		image_fail(&image, 1, codes[i]);
		CHECK_ERROR(pst_mem_read(&image.mem, 64, text, 1, &err), &err, codes[i]);
		CHECK_ERROR(pst_mem_read_addr(&image.mem, 64, &word, &err), &err, codes[i]);
		CHECK_ERROR(pst_mem_read_u64(&image.mem, 64, &u64, &err), &err, codes[i]);
		CHECK_ERROR(pst_mem_read_i32(&image.mem, 64, &i32, &err), &err, codes[i]);
		CHECK_ERROR(pst_mem_read_cstr(&image.mem, 64, text, 8, &err), &err, codes[i]);
	}
	image_fini(&image);
}

/* A string of LEN bytes that ends at a multiple of 64, where the mapping ends too. */
static void check_string(size_t len, size_t cap)
{
	cleanup_free char *buf = pst_xmalloc(cap), *text = pst_xcalloc(len + 1, 1);
	const size_t size = (len + 1 + 63) / 64 * 64;
	struct pst_error err = { 0 };
	struct image image;
	pst_addr_t at;

	unit_row("%zu bytes into %zu", len, cap);
	memset(text, 'a', len);
	image_init(&image, 8);
	at = image_alloc(&image, size) + size - len - 1;
	image_put(&image, at, text, len + 1);
	CHECK_DONE(pst_mem_read_cstr(&image.mem, at, buf, cap, &err), &err);
	text[len < cap - 1 ? len : cap - 1] = '\0';
	CHECK_TEXT(buf, text);
	image_fini(&image);
}

static void test_strings(void)
{
	static const size_t caps[] = { 1, 2, 32, 63, 64, 65, 100, 130, 1000 };

	for (size_t len = 0; len < 210; len++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(caps); i++)
			check_string(len, caps[i]);
}

static void test_string_without_end(void)
{
	struct pst_error err = { 0 };
	struct image image;
	pst_addr_t at;
	char buf[256];

	image_init(&image, 8);
	at = image_alloc(&image, 64);
	for (size_t i = 0; i < 64; i++)
		image_put_byte(&image, at + i, 'b');
	CHECK_ERROR(pst_mem_read_cstr(&image.mem, at, buf, sizeof(buf), &err), &err, PST_ERR_TORN);
	CHECK_DONE(pst_mem_read_cstr(&image.mem, at, buf, 65, &err), &err);
	CHECK_INT(strlen(buf), 64);
	image_fini(&image);
}

/* ---- a process ---- */

/* Some sandboxes forbid the call, even on oneself. */
static struct pst_mem *open_self(void)
{
	struct pst_error err = { 0 };
	struct pst_mem *mem = pst_mem_open(getpid(), &err);
	int word = 5, copy = 0;

	REQUIRE(mem != NULL);
	CHECK_INT(mem->word_bytes, 8);
	if (pst_mem_read(mem, (pst_addr_t)(uintptr_t)&word, &copy, sizeof(copy), &err) < 0) {
		CU_PASS("not allowed here");
		pst_mem_close(mem);
		return NULL;
	}
	CHECK_INT(copy, 5);
	return mem;
}

#define PAGE 4096u

/* Three pages, the middle one not readable. */
static char *map_pages(void)
{
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(p != MAP_FAILED);
	memset(p, 'm', 3 * PAGE);
	REQUIRE(munmap(p + PAGE, PAGE) == 0);
	return p;
}

static void test_process(void)
{
	struct pst_mem *mem = open_self();
	char *pages, buf[3 * PAGE];
	struct pst_error err = { 0 };
	pst_addr_t at;

	if (!mem)
		return;
	pages = map_pages();
	at = (pst_addr_t)(uintptr_t)pages;
	for (size_t hole = 0; hole < 4; hole++) {
		struct pst_range ranges[3] = { { at, 8, buf }, { at + PAGE - 8, 8, buf + 8 },
			{ at + 2 * PAGE, PAGE, buf + 16 } };

		if (hole < 3)
			ranges[hole].addr = at + 2 * PAGE - 4; /* half of it is there */
		CHECK_INT(pst_mem_readv(mem, ranges, 3, &err), hole);
	}
	CHECK_INT(buf[0], 'm');
	CHECK_INT(buf[16 + PAGE - 1], 'm');
	CHECK_ERROR(pst_mem_read(mem, at + PAGE - 4, buf, 8, &err), &err, PST_ERR_TORN);
	munmap(pages, PAGE);
	munmap(pages + 2 * PAGE, PAGE);
	pst_mem_close(mem);
}

/* More ranges than the kernel takes in one call, with a hole behind the first batch. */
static void test_many_ranges(void)
{
	enum { N = 2500, HOLE = 2100 };
	struct pst_mem *mem = open_self();
	struct pst_error err = { 0 };
	cleanup_free struct pst_range *ranges = pst_xcalloc(N, sizeof(*ranges));
	cleanup_free int *source = pst_xcalloc(N, sizeof(int)), *copy = pst_xcalloc(N, sizeof(int));
	size_t wrong = 0;

	if (!mem)
		return;
	for (int i = 0; i < N; i++) {
		source[i] = i * 7;
		ranges[i] = (struct pst_range){ (pst_addr_t)(uintptr_t)&source[i], sizeof(int),
			&copy[i] };
	}
	CHECK_INT(pst_mem_readv(mem, ranges, N, &err), N);
	for (int i = 0; i < N; i++)
		wrong += copy[i] != i * 7;
	CHECK_INT(wrong, 0);
	ranges[HOLE].addr = 8;
	CHECK_INT(pst_mem_readv(mem, ranges, N, &err), HOLE);
	CHECK_INT(pst_mem_readv(mem, ranges, 1024, &err), 1024);
	CHECK_INT(pst_mem_readv(mem, ranges, 0, &err), 0);
	pst_mem_close(mem);
}

static void test_no_process(void)
{
	struct pst_error err = { 0 };
	struct pst_mem *mem = pst_mem_open(INT_MAX, &err);
	char byte;

	REQUIRE(mem != NULL);
	CHECK_ERROR(pst_mem_read(mem, 8, &byte, 1, &err), &err, PST_ERR_GONE);
	CHECK(strstr(err.msg, "2147483647") != NULL);
	pst_mem_close(mem);
	pst_mem_close(NULL);
}

static CU_TestInfo tests[] = {
	{ "numbers", test_numbers },
	{ "words of 4 bytes", test_narrow },
	{ "errors", test_errors },
	{ "strings", test_strings },
	{ "a string without end", test_string_without_end },
	{ "a process, and holes in it", test_process },
	{ "more ranges than a call takes", test_many_ranges },
	{ "no such process", test_no_process },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_mem = { "mem", NULL, NULL, NULL, NULL, tests };
