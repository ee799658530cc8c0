/* Versions as numbers and as text, and the self-description. */
#include "unit.h"

#include "pystill/abi.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	uint32_t version;
	const char *text;
} versions[] = {
	{ 0x020712f0, "2.7.18" },
	{ 0x030600f0, "3.6.0" },
	{ 0x03060ff0, "3.6.15" },
	{ 0x030700a1, "3.7.0a1" },
	{ 0x030700b5, "3.7.0b5" },
	{ 0x030902f0, "3.9.2" },
	{ 0x030b10f0, "3.11.16" },
	{ 0x030f00c1, "3.15.0rc1" },
	{ 0x030f00cf, "3.15.0rc15" },
	{ 0x031000f0, "3.16.0" },
};

static void test_text(void)
{
	char buf[24];

	for (size_t i = 0; i < PST_ARRAY_SIZE(versions); i++) {
		pst_abi_version_text(versions[i].version, buf);
		CHECK_TEXT(buf, versions[i].text);
	}
	pst_abi_version_text(0xffffffff, buf);
	CHECK_TEXT(buf, "255.255.255");
	pst_abi_version_text(0xffffffaf, buf);
	CHECK_TEXT(buf, "255.255.255a15");
	pst_abi_version_text(0, buf);
	CHECK_TEXT(buf, "0.0.0");
}

/* There and back: what is behind the version in Py_GetVersion() does not matter. */
static void test_parse(void)
{
	static const char *const behind[] = { "", " ", "+", "+ (main, Mar 13 2023)", " (default)" };

	for (size_t i = 0; i < PST_ARRAY_SIZE(versions); i++)
		for (size_t k = 0; k < PST_ARRAY_SIZE(behind); k++) {
			cleanup_free char *text =
				pst_xasprintf("%s%s", versions[i].text, behind[k]);

			unit_row("'%s'", text);
			CHECK_INT(pst_abi_version_parse(text), versions[i].version);
		}
}

static void test_parse_nothing(void)
{
	static const char *const rows[] = { "", "3", "3.", "3.9", "3.9.", "3.9 ", "3.9.x", "x",
		"4.0.0 ", "1.5.2 ", "0.9.9 ", "30.1.1 ", "33.1.1 ", "3.100.1 ", "3.9.100 ", "3..1 ",
		".9.1 ", "3.9.1.2 ", "3.9.-1 ", "-3.9.1 ", " 3.9.1 ", "3.9. 1 ", "3,9,1 ", "3.9.1;",
		"3.9.1-2 ", "3.-9.1 ", "v3.9.1 " };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		unit_row("'%s'", rows[i]);
		CHECK_INT(pst_abi_version_parse(rows[i]), 0);
	}
}

/* ---- search ---- */

/* What Py_GetVersion() says of builds that people use. */
static const struct {
	uint32_t version;
	const char *text;
} real[] = {
	{ 0x020712f0, "2.7.18 (default, Jul 14 2021, 08:11:37) \n[GCC 10.2.1 20210110]" },
	{ 0x020707f0, "2.7.7+ (default, Jun  5 2014, 10:40:10) \n[GCC 4.8.2]" },
	{ 0x030608f0,
		"3.6.8 (default, Nov 16 2020, 16:55:22) \n[GCC 4.8.5 20150623 (Red Hat 4.8.5-44)]" },
	{ 0x03060ff0, "3.6.15 (default, Nov 18 2023, 07:12:05) \n[GCC 12.2.0]" },
	{ 0x030703f0, "3.7.3 (default, Jan 22 2021, 20:04:44) \n[GCC 8.3.0]" },
	{ 0x030805f0, "3.8.5 (default, Sep  4 2020, 07:30:14) \n[GCC 7.3.0]" },
	{ 0x030902f0, "3.9.2 (default, Feb 28 2021, 17:03:44) \n[GCC 10.2.1 20210110]" },
	{ 0x030a0cf0, "3.10.12 (main, Nov 20 2023, 15:14:05) [GCC 11.4.0]" },
	{ 0x030b02f0, "3.11.2+ (main, Mar 13 2023, 12:18:29) [GCC 12.2.0]" },
	{ 0x030c03f0, "3.12.3 (main, Apr 15 2024, 18:25:56) [Clang 17.0.6 ]" },
	{ 0x030d00b1, "3.13.0b1 (tags/v3.13.0b1:2268289a47, May  9 2024) [GCC 13.2.0]" },
	{ 0x030901f0, "3.9.1 (a) [b]" },
	{ 0x030f00c1, "3.15.0rc1 (main, Aug  1 2026, 10:00:00) [GCC 15.1.0]" },
	{ 0x030706f0,
		"3.7.6 | packaged by conda-forge | (default, Jun  1 2020, 18:57:50) \n[GCC 7.5.0]" },
	{ 0x030a06f0,
		"3.10.6 | packaged by conda-forge | (main, Aug 22 2022, 20:35:26) [GCC 10.4.0]" },
};

static uint32_t search(const char *bytes, size_t len)
{
	char *exact = pst_xmalloc(len); /* so that a read behind it is seen */
	uint32_t version;

	if (len)
		memcpy(exact, bytes, len);
	version = pst_abi_version_search(exact, len);
	free(exact);
	return version;
}

/* In the midst of other data, at the beginning, at the end with and without its NUL. */
static void test_search(void)
{
	static const char before[] = "3.2.0\0003.14159\0 2.5 (\0[GCC]\xff\0";

	for (size_t i = 0; i < PST_ARRAY_SIZE(real); i++) {
		const size_t len = strlen(real[i].text);
		char data[600];

		memset(data, 'x', sizeof(data));
		memcpy(data, before, sizeof(before));
		memcpy(data + sizeof(before), real[i].text, len + 1);
		unit_row("%s", real[i].text);
		CHECK_INT(search(data, sizeof(data)), real[i].version);
		CHECK_INT(search(data, sizeof(before) + len + 1), real[i].version);
		CHECK_INT(search(data, sizeof(before) + len), real[i].version);
		CHECK_INT(search(real[i].text, len), real[i].version);
	}
}

/* Cut off at any length there is no version, until the compiler's bracket closes. */
static void test_search_cut(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(real); i++) {
		const size_t end = (size_t)(strrchr(real[i].text, ']') - real[i].text);

		for (size_t len = 0; len <= end; len++) {
			unit_row("%zu of %s", len, real[i].text);
			CHECK_INT(search(real[i].text, len), 0);
		}
	}
}

static void test_search_decoys(void)
{
	static const char *const rows[] = {
		"3.2.0",
		"3.2.0 ",
		"3.2.0 (",
		"3.2.0 (no end [GCC",
		"3.2.0 (main) GCC 12",
		"3.2.0 (main) (GCC 12)",
		"3.2.0 (main)",
		"3.2.0 (main)[",
		"3.2.0 (main) \n\n[GCC]",
		"3.2.0(main) [GCC]",
		"3.2.0 x(main) [GCC 12.2.0]",
		"3.2.0 main (x) [GCC 12.2.0]",
		"3.2.0 main) [GCC 12.2.0]",
		"3.2 (main) [GCC 12.2.0]",
		"3.x.0 (main) [GCC 12.2.0]",
		"zlib 1.3.1 (release) [x]",
		"4.3.1 (main) [GCC 12.2.0]",
		/* the end of a longer number */
		"13.9.2 (main, Mar 1 2024) [GCC 12.2.0]",
		"1.3.9.2 (main, Mar 1 2024) [GCC 12.2.0]",
	};

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		unit_row("%s", rows[i]);
		CHECK_INT(search(rows[i], strlen(rows[i])), 0);
		CHECK_INT(search(rows[i], strlen(rows[i]) + 1), 0);
	}
}

/* What lies behind the NUL does not complete it, and a decoy does not hide what follows. */
static void test_search_apart(void)
{
	static const char apart[] = "3.2.0\0 (main) [GCC 12.2.0]",
			  later[] = "3.2.0 (\0\0003.2.0 (main\0003.9.1 (main) [GCC 12.2.0]";

	CHECK_INT(search(apart, sizeof(apart)), 0);
	CHECK_INT(search(later, sizeof(later)), 0x030901f0);
}

/* The longest that Py_GetVersion() makes: "%.80s (%.80s) %.80s". */
static void test_search_long(void)
{
	char build[81], compiler[81];
	cleanup_free char *text = NULL;

	memset(build, 'b', 80);
	memset(compiler, 'c', 80);
	build[80] = compiler[80] = '\0';
	compiler[0] = '[';
	compiler[79] = ']';
	text = pst_xasprintf("3.11.4 (%s) %s", build, compiler);
	CHECK_INT(search(text, strlen(text) + 1), 0x030b04f0);
}

static void test_search_nothing(void)
{
	static const char no_end[] = "3.2.0 (";
	cleanup_free char *data = pst_xmalloc(5000);

	CHECK_INT(pst_abi_version_search("", 0), 0);
	CHECK_INT(search("3", 1), 0);
	memset(data, '3', 5000);
	CHECK_INT(search(data, 5000), 0);
	for (size_t i = 0; i + sizeof(no_end) <= 5000; i += sizeof(no_end) - 1)
		memcpy(data + i, no_end, sizeof(no_end) - 1);
	CHECK_INT(search(data, 5000), 0);
}

/* ---- self-description ---- */

static void test_self_description(void)
{
	static const struct {
		struct pst_self_description d;
		bool ok;
	} rows[] = {
		{ { "xdebugpy", 0x030d00f0, 0 }, true },
		{ { "xdebugpy", 0x030f02f0, 1 }, true },
		{ { "xdebugpy", 0x030e00f0, 2 }, false },
		{ { "xdebugpy", 0x030e00f0, UINT64_MAX }, false },
		{ { "xdebugpz", 0x030e00f0, 0 }, false },
		{ { "Xdebugpy", 0x030e00f0, 0 }, false },
		{ { "xdebugp", 0x030e00f0, 0 }, false },
		{ { "xdebugpy", 0, 0 }, false },
		{ { "xdebugpy", 0x020e00f0, 0 }, false },
		{ { "xdebugpy", 0x040000f0, 0 }, false },
		{ { "xdebugpy", 0x1030e00f0, 0 }, false },
		{ { "xdebugpy", 0x030e00f000000000, 0 }, false },
	};

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		unit_row("%zu", i);
		CHECK_INT(pst_self_description_ok(&rows[i].d), rows[i].ok);
	}
}

static CU_TestInfo tests[] = {
	{ "text", test_text },
	{ "parse", test_parse },
	{ "parse what is no version", test_parse_nothing },
	{ "search", test_search },
	{ "search: cut off", test_search_cut },
	{ "search: decoys", test_search_decoys },
	{ "search: pieces", test_search_apart },
	{ "search: as long as can be", test_search_long },
	{ "search: nothing there", test_search_nothing },
	{ "self-description", test_self_description },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_version = { "version", NULL, NULL, NULL, NULL, tests };
