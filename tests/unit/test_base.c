/* Allocation and cleanup helpers. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void test_grow(void)
{
	int *v = NULL;
	size_t cap = 0, moves = 0;

	for (size_t i = 0; i < 10000; i++) {
		const size_t before = cap;

		v = pst_grow(v, &cap, i + 1, sizeof(*v));
		moves += cap != before;
		v[i] = (int)i;
	}
	CHECK(cap >= 10000);
	CHECK(moves < 30);
	for (size_t i = 0; i < 10000; i++)
		if (v[i] != (int)i) {
			CHECK_INT(v[i], i);
			break;
		}
	pst_cleanup_free(&v);
}

static void test_grow_far(void)
{
	cleanup_free char *v = NULL;
	size_t cap = 0;
	char *same;

	v = pst_grow(v, &cap, 100000, 1);
	CHECK(cap >= 100000);
	memset(v, 1, 100000);
	same = v;
	v = pst_grow(v, &cap, 5, 1);
	CHECK(v == same);
}

static void test_nothing(void)
{
	cleanup_free void *a = pst_xmalloc(0), *b = pst_xcalloc(0, 8), *c = pst_xcalloc(8, 0);
	cleanup_free void *d = pst_xreallocarray(NULL, 0, 8);

	CHECK(a && b && c && d);
}

static void test_strings(void)
{
	cleanup_free char *a = pst_xstrdup("abc"), *b = pst_xasprintf("%s-%d", "n", 12);
	cleanup_free uint64_t *zeros = pst_xcalloc(3, sizeof(*zeros));

	CHECK_TEXT(a, "abc");
	CHECK_TEXT(b, "n-12");
	CHECK(zeros[0] == 0 && zeros[1] == 0 && zeros[2] == 0);
}

static void test_steal(void)
{
	cleanup_free char *a = pst_xstrdup("abc");
	char *b = pst_steal(&a);

	CHECK(a == NULL);
	CHECK_TEXT(b, "abc");
	pst_cleanup_free(&b);
}

static int open_and_leave(void)
{
	cleanup_close int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	cleanup_close int none = -1;

	CHECK(fd >= 0 && none < 0);
	return fd;
}

static void test_close(void)
{
	CHECK_INT(fcntl(open_and_leave(), F_GETFD), -1);
}

static void test_clock(void)
{
	const int64_t before_ns = pst_now_ns();
	int64_t after_ns;

	usleep(2000);
	after_ns = pst_now_ns();
	CHECK(after_ns - before_ns >= 2 * PST_NSEC_PER_MSEC);
	CHECK(after_ns - before_ns < 60 * PST_NSEC_PER_SEC);
}

static CU_TestInfo tests[] = {
	{ "grow by half as much again", test_grow },
	{ "grow far at once, and not at all", test_grow_far },
	{ "nothing is something", test_nothing },
	{ "strings and zeros", test_strings },
	{ "steal", test_steal },
	{ "descriptors close themselves", test_close },
	{ "the clock", test_clock },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_base = { "base", NULL, NULL, NULL, NULL, tests };
