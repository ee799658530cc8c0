/* The memory map: what the kernel writes, what it never would, and search. */
#include "unit.h"

#include "pystill/maps.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void parse(struct pst_maps *maps, const char *text)
{
	pst_maps_parse(maps, pst_xstrdup(text));
}

static const char real[] =
	"55d0c8a00000-55d0c8a5e000 r--p 00000000 fd:01 1835 /usr/bin/python3.11\n"
	"55d0c8a5e000-55d0c8d00000 r-xp 0005e000 fd:01 1835 /usr/bin/python3.11\n"
	"55d0c8f3b000-55d0c9060000 rw-p 00000000 00:00 0 \n"
	"55d0ca000000-55d0ca121000 rw-p 00000000 00:00 0                          [heap]\n"
	"7f0000000000-7f0000021000 rw-s 00000000 00:05 77   /dev/shm/x\n"
	"7f1000000000-7f1000001000 ---p 00000000 00:00 0\n"
	"7f2000000000-7f2000001000 r-xp 00001000 103:0a 42                  /tmp/a b  c.so (deleted)\n"
	"7f3000000000-7f3000001000 r--p 00000000 08:01 9                    /tmp/two\\012lines (x)\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0            [vsyscall]\n";

static void test_real(void)
{
	static const struct pst_map rows[] = {
		{ 0x55d0c8a00000, 0x55d0c8a5e000, 0, 0, 1835, PST_MAP_READ, "/usr/bin/python3.11" },
		{ 0x55d0c8a5e000, 0x55d0c8d00000, 0x5e000, 0, 1835, PST_MAP_READ | PST_MAP_EXEC,
			"/usr/bin/python3.11" },
		{ 0x55d0c8f3b000, 0x55d0c9060000, 0, 0, 0, PST_MAP_READ | PST_MAP_WRITE, "" },
		{ 0x55d0ca000000, 0x55d0ca121000, 0, 0, 0, PST_MAP_READ | PST_MAP_WRITE, "[heap]" },
		{ 0x7f0000000000, 0x7f0000021000, 0, 0, 77, PST_MAP_READ | PST_MAP_WRITE,
			"/dev/shm/x" },
		{ 0x7f1000000000, 0x7f1000001000, 0, 0, 0, 0, "" },
		{ 0x7f2000000000, 0x7f2000001000, 0x1000, 0, 42,
			PST_MAP_READ | PST_MAP_EXEC | PST_MAP_DELETED, "/tmp/a b  c.so" },
		{ 0x7f3000000000, 0x7f3000001000, 0, 0, 9, PST_MAP_READ, "/tmp/two\\012lines (x)" },
		{ 0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, PST_MAP_EXEC, "[vsyscall]" },
	};
	struct pst_maps maps;

	parse(&maps, real);
	REQUIRE(maps.n == PST_ARRAY_SIZE(rows));
	for (size_t i = 0; i < maps.n; i++) {
		const struct pst_map *m = &maps.v[i];

		unit_row("%zu", i);
		CHECK(m->start == rows[i].start && m->end == rows[i].end);
		CHECK_INT(m->offset, rows[i].offset);
		CHECK_INT(m->inode, rows[i].inode);
		CHECK_INT(m->flags, rows[i].flags);
		CHECK_TEXT(m->path, rows[i].path);
	}
	CHECK(maps.v[0].dev == makedev(0xfd, 1));
	CHECK(maps.v[6].dev == makedev(0x103, 0xa));
	pst_maps_fini(&maps);
}

static void test_deleted(void)
{
	static const struct {
		const char *path, *wanted;
		bool deleted;
	} rows[] = {
		{ "/a (deleted)", "/a", true },
		{ "/a (deleted) (deleted)", "/a (deleted)", true },
		{ "/a (deleted)x", "/a (deleted)x", false },
		{ "/a(deleted)", "/a(deleted)", false },
		{ "(deleted)", "(deleted)", false },
		{ "/SYSV00000000 (deleted)", "/SYSV00000000", true },
		{ "/a (deleted) ", "/a (deleted) ", false },
	};

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct pst_maps maps;

		pst_maps_parse(
			&maps, pst_xasprintf("1000-2000 r-xp 0 8:1 5    %s\n", rows[i].path));
		unit_row("%s", rows[i].path);
		REQUIRE(maps.n == 1);
		CHECK_TEXT(maps.v[0].path, rows[i].wanted);
		CHECK_INT(!!(maps.v[0].flags & PST_MAP_DELETED), rows[i].deleted);
		pst_maps_fini(&maps);
	}
}

/* Each stands between two good lines, which must be there. */
static void test_garbage(void)
{
	static const char *const rows[] = { "", "garbage", "3000", "3000-", "3000-4000",
		"3000-4000 ", "3000-4000 r-x", "3000-4000 r-xp", "3000-4000 r-xp ",
		"3000-4000 r-xp 0", "3000-4000 r-xp 0 8", "3000-4000 r-xp 0 8:1",
		"3000-4000 r-xp 0 8:1 ", "3000-4000 r-xp 0 8:1 x", "3000-4000 r-xp zz 8:1 5",
		"3000-4000 r-xp 0 8-1 5", "4000-3000 r-xp 0 8:1 5", "3000-3000 r-xp 0 8:1 5",
		"-3000 r-xp 0 8:1 5", "3000 4000 r-xp 0 8:1 5", "3000-4000-r-xp 0 8:1 5 /x",
		"zzzz-4000 r-xp 0 8:1 5 /x" };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct pst_maps maps;

		pst_maps_parse(&maps,
			pst_xasprintf("1000-2000 r-xp 0 8:1 5 /a\n%s\n5000-6000 r-xp 0 8:1 5 /b\n",
				rows[i]));
		unit_row("%s", rows[i]);
		CHECK_INT(maps.n, 2);
		if (maps.n == 2) {
			CHECK_TEXT(maps.v[0].path, "/a");
			CHECK_TEXT(maps.v[1].path, "/b");
		}
		pst_maps_fini(&maps);
	}
}

/* Cut a real text anywhere: whole lines are there, and at most a part of the last one. */
static void test_cut(void)
{
	const size_t len = strlen(real);

	for (size_t cut = 0; cut <= len; cut++) {
		char *text = pst_xstrdup(real);
		struct pst_maps maps;
		size_t whole = 0;

		text[cut] = '\0';
		for (const char *p = text; *p; p++)
			whole += *p == '\n';
		pst_maps_parse(&maps, text);
		unit_row("%zu bytes", cut);
		CHECK(maps.n == whole || maps.n == whole + 1);
		pst_maps_fini(&maps);
	}
}

static void test_order(void)
{
	struct pst_maps maps;

	parse(&maps,
		"2000-4000 r-xp 0 8:1 5 /a\n"
		"3000-5000 r-xp 0 8:1 5 /overlaps\n"
		"3fff-6000 r-xp 0 8:1 5 /overlaps too\n"
		"1000-2000 r-xp 0 8:1 5 /before\n"
		"4000-5000 r-xp 0 8:1 5 /b\n"
		"2000-4000 r-xp 0 8:1 5 /again\n");
	REQUIRE(maps.n == 2);
	CHECK_TEXT(maps.v[0].path, "/a");
	CHECK_TEXT(maps.v[1].path, "/b");
	pst_maps_fini(&maps);
}

static void test_empty(void)
{
	struct pst_maps maps;

	parse(&maps, "");
	CHECK_INT(maps.n, 0);
	CHECK(pst_maps_find(&maps, 0) == NULL);
	CHECK(pst_maps_find(&maps, 0x1000) == NULL);
	pst_maps_fini(&maps);
	parse(&maps, "\n\n\n");
	CHECK_INT(maps.n, 0);
	pst_maps_fini(&maps);
}

static void test_find(void)
{
	static const struct {
		pst_addr_t addr;
		int index; /* -1: none */
	} rows[] = { { 0, -1 }, { 0xfff, -1 }, { 0x1000, 0 }, { 0x1fff, 0 }, { 0x2000, 1 },
		{ 0x2fff, 1 }, { 0x3000, -1 }, { 0x4fff, -1 }, { 0x5000, 2 }, { 0x8fff, 2 },
		{ 0x9000, -1 }, { 0xa000, 3 }, { 0xafff, 3 }, { 0xb000, 4 }, { 0xbfff, 4 },
		{ 0xc000, -1 }, { UINT64_MAX, -1 } };
	struct pst_maps maps;

	parse(&maps,
		"1000-2000 r-xp 0 8:1 5 /a\n2000-3000 r-xp 0 8:1 5 /b\n5000-9000 r-xp 0 8:1 5 /c\n"
		"a000-b000 r-xp 0 8:1 5 /d\nb000-c000 r-xp 0 8:1 5 /e\n");
	REQUIRE(maps.n == 5);
	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		const struct pst_map *found = pst_maps_find(&maps, rows[i].addr);

		unit_row("%#" PRIx64, rows[i].addr);
		CHECK_INT(found ? found - maps.v : -1, rows[i].index);
	}
	pst_maps_fini(&maps);
}

static void test_many(void)
{
	enum { N = 3000 };
	cleanup_free char *text = pst_xcalloc(N, 64);
	struct pst_maps maps;
	size_t wrong = 0;
	char *at = text;

	for (int i = 0; i < N; i++)
		at += snprintf(at, 64, "%x-%x r--p 0 8:1 %d /f\n", 0x10000 * (i + 1),
			0x10000 * (i + 1) + 0x1000, i + 1);
	pst_maps_parse(&maps, pst_steal(&text));
	CHECK_INT(maps.n, N);
	for (size_t i = 0; i < maps.n; i++)
		wrong += pst_maps_find(&maps, 0x10000 * (i + 1) + 0xfff) != &maps.v[i] ||
			pst_maps_find(&maps, 0x10000 * (i + 1) + 0x1000) != NULL;
	CHECK_INT(wrong, 0);
	pst_maps_fini(&maps);
}

static void test_same_file(void)
{
	const struct pst_map a = { .dev = 1, .inode = 5, .path = "/a" },
			     other_place = { .start = 9, .dev = 1, .inode = 5, .path = "/moved" },
			     other_device = { .dev = 2, .inode = 5, .path = "/a" },
			     other_inode = { .dev = 1, .inode = 6, .path = "/a" },
			     anonymous = { .path = "" };

	CHECK(pst_map_same_file(&a, &a));
	CHECK(pst_map_same_file(&a, &other_place));
	CHECK(!pst_map_same_file(&a, &other_device));
	CHECK(!pst_map_same_file(&a, &other_inode));
	CHECK(!pst_map_same_file(&anonymous, &anonymous));
}

static void test_own(void)
{
	struct pst_error err = { 0 };
	const struct pst_map *code, *stack;
	struct pst_maps maps;

	REQUIRE(pst_maps_load(&maps, getpid(), &err) == 0);
	code = pst_maps_find(&maps, (pst_addr_t)(uintptr_t)&test_own);
	stack = pst_maps_find(&maps, (pst_addr_t)(uintptr_t)&maps);
	REQUIRE(code && stack);
	CHECK(code->flags & PST_MAP_EXEC);
	CHECK(!(code->flags & PST_MAP_WRITE) && code->path[0] == '/' && code->inode);
	CHECK(stack->flags & PST_MAP_WRITE);
	pst_maps_fini(&maps);
	CHECK_ERROR(pst_maps_load(&maps, INT_MAX, &err), &err, PST_ERR_GONE);
}

static CU_TestInfo tests[] = {
	{ "a real map", test_real },
	{ "deleted files", test_deleted },
	{ "garbage lines", test_garbage },
	{ "a text that is cut off", test_cut },
	{ "overlapping and unordered lines", test_order },
	{ "empty maps", test_empty },
	{ "find", test_find },
	{ "find among many", test_many },
	{ "same file", test_same_file },
	{ "our own map", test_own },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_maps = { "maps", NULL, NULL, NULL, NULL, tests };
