/* The pages of a snapshot: copied once, fetched in order, counted. */
#include "unit.h"

#include "image.h"
#include "pystill/view.h"

#include <stdlib.h>
#include <string.h>

#define P    ((pst_addr_t)PST_PAGE_SIZE)
#define BASE ((pst_addr_t)0x7f0000000000)

/* Pages 0, 1, 2 and 4, 5, 7 from BASE on; all bytes of page n are n + 1.  3 and 6 are not mapped. */
struct world {
	struct image image;
	struct pst_view *view;
};

static void fill(struct image *image, pst_addr_t addr, size_t size, int byte)
{
	cleanup_free char *bytes = pst_xmalloc(size);

	memset(bytes, byte, size);
	image_put(image, addr, bytes, size);
}

static void begin(struct world *w)
{
	image_init(&w->image, 8);
	image_map(&w->image, BASE, 3 * P);
	image_map(&w->image, BASE + 4 * P, 2 * P);
	image_map(&w->image, BASE + 7 * P, P);
	for (unsigned n = 0; n < 8; n++)
		if (n != 3 && n != 6)
			fill(&w->image, BASE + n * P, P, (int)n + 1);
	w->view = pst_view_new(&w->image.mem);
}

static void end(struct world *w)
{
	pst_view_free(w->view);
	image_fini(&w->image);
}

static int byte_at(struct world *w, pst_addr_t addr)
{
	struct pst_error err = { 0 };
	unsigned char byte = 0;

	return pst_mem_read(pst_view_mem(w->view), addr, &byte, 1, &err) < 0 ? -1 : byte;
}

/* Fetch pages BASE + v[i] pages. */
static int fetch(struct world *w, const unsigned *v, size_t n, struct pst_error *err)
{
	cleanup_free pst_addr_t *pages = pst_xcalloc(n, sizeof(*pages));
	const struct pst_pages p = { pages, n, n };

	for (size_t i = 0; i < n; i++)
		pages[i] = BASE + v[i] * P;
	return pst_view_fetch(w->view, NULL, 0, &p, NULL, 0, err);
}
#define FETCH(w, err, ...)                            \
	fetch((w), (const unsigned[]){ __VA_ARGS__ }, \
		PST_ARRAY_SIZE(((const unsigned[]){ __VA_ARGS__ })), (err))

static void test_copied_once(void)
{
	struct world w;

	begin(&w);
	CHECK_INT(byte_at(&w, BASE + 5), 1);
	CHECK_INT(w.image.n_calls, 1);
	CHECK(w.image.ranges[0].addr == BASE && w.image.ranges[0].size == P);
	fill(&w.image, BASE, 3 * P, 99);
	CHECK_INT(byte_at(&w, BASE), 1);
	CHECK_INT(byte_at(&w, BASE + P - 1), 1);
	CHECK_INT(w.image.n_calls, 1);
	CHECK_INT(pst_view_misses(w.view), 1);
	CHECK_INT(byte_at(&w, BASE + P), 99);
	CHECK_INT(pst_view_misses(w.view), 2);
	pst_view_reset(w.view);
	CHECK_INT(pst_view_misses(w.view), 0);
	CHECK_INT(byte_at(&w, BASE), 99);
	CHECK_INT(w.image.n_calls, 3);
	end(&w);
	pst_view_free(NULL);
}

static void test_word_bytes(void)
{
	struct image image;
	struct pst_view *view;

	image_init(&image, 4);
	view = pst_view_new(&image.mem);
	CHECK_INT(pst_view_mem(view)->word_bytes, 4);
	pst_mem_close(pst_view_mem(view)); /* frees the view */
	image_fini(&image);
}

/* First the words before, then the pages in runs, then the words behind, all in one call. */
static void test_one_call(void)
{
	char first[2][4], last[3];
	const struct pst_range before[] = { { BASE + 7 * P, 4, first[0] },
		{ BASE + 7 * P + 8, 4, first[1] } };
	const struct pst_range after[] = { { BASE + 7 * P + 16, 3, last } };
	pst_addr_t v[] = { BASE + 4 * P, BASE + 5 * P, BASE, BASE + P };
	const struct pst_pages pages = { v, 4, 4 };
	struct pst_error err = { 0 };
	struct world w;

	begin(&w);
	CHECK_DONE(pst_view_fetch(w.view, before, 2, &pages, after, 1, &err), &err);
	REQUIRE(w.image.n_calls == 1 && w.image.calls[0].n == 5);
	CHECK(w.image.ranges[0].addr == before[0].addr && w.image.ranges[1].addr == before[1].addr);
	CHECK(w.image.ranges[2].addr == BASE + 4 * P && w.image.ranges[2].size == 2 * P);
	CHECK(w.image.ranges[3].addr == BASE && w.image.ranges[3].size == 2 * P);
	CHECK(w.image.ranges[4].addr == after[0].addr);
	CHECK_BYTES(first, 8, "\10\10\10\10\10\10\10\10", 8);
	CHECK_BYTES(last, 3, "\10\10\10", 3);
	for (unsigned n = 0; n < 6; n += n == 1 ? 3 : 1)
		CHECK_INT(byte_at(&w, BASE + n * P + 77), n + 1);
	CHECK_INT(w.image.n_calls, 1);
	CHECK_INT(pst_view_misses(w.view), 0);
	end(&w);
}

/* Pages that are there already, or twice in the list, are not asked for again. */
static void test_known_pages(void)
{
	struct pst_error err = { 0 };
	struct world w;

	begin(&w);
	CHECK_INT(byte_at(&w, BASE + P), 2);
	CHECK_DONE(FETCH(&w, &err, 0, 1, 2, 2, 4), &err);
	CHECK_INT(image_count_reads(&w.image, BASE + P), 1);
	CHECK_INT(image_count_reads(&w.image, BASE), 1);
	CHECK_INT(image_count_reads(&w.image, BASE + 2 * P), 1);
	CHECK_INT(byte_at(&w, BASE + 2 * P), 3);
	image_forget(&w.image);
	CHECK_DONE(FETCH(&w, &err, 0, 1, 2, 4), &err);
	CHECK_INT(w.image.n_ranges, 0);
	CHECK_INT(byte_at(&w, BASE + 4 * P), 5);
	CHECK_INT(pst_view_misses(w.view), 1);
	end(&w);
}

/* Which of the eight pages are there after a fetch of V? */
static void check_holes(const unsigned *v, size_t n, const char *there)
{
	char first, last;
	const struct pst_range before = { BASE + 1, 1, &first }, after = { BASE + 2, 1, &last };
	pst_addr_t addrs[16];
	const struct pst_pages pages = { addrs, n, n };
	struct pst_error err = { 0 };
	const struct pst_range *end_range;
	struct world w;

	begin(&w);
	for (size_t i = 0; i < n; i++)
		addrs[i] = BASE + v[i] * P;
	CHECK_DONE(pst_view_fetch(w.view, &before, 1, &pages, &after, 1, &err), &err);
	CHECK(w.image.ranges[0].addr == before.addr);
	end_range = &w.image.ranges[w.image.n_ranges - 1];
	CHECK(end_range->addr == after.addr && end_range->size == 1);
	for (size_t i = 1; i < w.image.n_ranges; i++)
		CHECK(w.image.ranges[i].addr != before.addr || w.image.ranges[i].size != 1);
	for (unsigned k = 0; k < 8; k++) {
		image_forget(&w.image);
		unit_row("page %u of %s", k, there);
		CHECK_INT(byte_at(&w, BASE + k * P + 9), k == 3 || k == 6 ? -1 : (int)k + 1);
		CHECK_INT(w.image.n_calls == 0, there[k] == '1');
	}
	end(&w);
}
#define HOLES(there, ...)                              \
	check_holes((const unsigned[]){ __VA_ARGS__ }, \
		PST_ARRAY_SIZE(((const unsigned[]){ __VA_ARGS__ })), (there))

/* A page that is not mapped is left out wherever it stands; all others are there. */
static void test_holes(void)
{
	HOLES("11101101", 0, 1, 2, 3, 4, 5, 6, 7);
	HOLES("00101000", 2, 3, 4);
	HOLES("00001000", 3, 4);
	HOLES("00101000", 4, 3, 2);
	HOLES("00100000", 2, 3);
	HOLES("00000000", 3);
	HOLES("00000000", 6, 3);
	HOLES("10000001", 0, 3, 6, 7);
	HOLES("11100000", 3, 0, 1, 2);
	HOLES("11101101", 7, 6, 5, 4, 3, 2, 1, 0);
	HOLES("01101100", 1, 2, 3, 5, 6, 4, 3);
}

static void test_words_not_mapped(void)
{
	char byte;
	const struct pst_range good = { BASE, 1, &byte }, bad = { BASE + 3 * P, 1, &byte };
	const struct pst_range mixed[] = { good, bad };
	pst_addr_t v[] = { BASE + 4 * P, BASE + 6 * P };
	const struct pst_pages pages = { v, 1, 1 }, holes = { v, 2, 2 };
	struct pst_error err = { 0 };
	struct world w;

	begin(&w);
	CHECK_ERROR(pst_view_fetch(w.view, &bad, 1, &pages, &good, 1, &err), &err, PST_ERR_TORN);
	CHECK_ERROR(pst_view_fetch(w.view, mixed, 2, &pages, &good, 1, &err), &err, PST_ERR_TORN);
	CHECK_ERROR(pst_view_fetch(w.view, &good, 1, &pages, &bad, 1, &err), &err, PST_ERR_TORN);
	CHECK_ERROR(pst_view_fetch(w.view, &good, 1, &holes, mixed, 2, &err), &err, PST_ERR_TORN);
	CHECK_ERROR(pst_view_fetch(w.view, &good, 1, NULL, &bad, 1, &err), &err, PST_ERR_TORN);
	CHECK_DONE(pst_view_fetch(w.view, &good, 1, NULL, &good, 1, &err), &err);
	end(&w);
}

static void test_nothing_to_fetch(void)
{
	const struct pst_pages none = { 0 };
	struct pst_error err = { 0 };
	struct world w;

	begin(&w);
	CHECK_DONE(pst_view_fetch(w.view, NULL, 0, NULL, NULL, 0, &err), &err);
	CHECK_DONE(pst_view_fetch(w.view, NULL, 0, &none, NULL, 0, &err), &err);
	CHECK_INT(w.image.n_ranges, 0);
	end(&w);
}

static void test_errors(void)
{
	static const enum pst_error_code codes[] = { PST_ERR_GONE, PST_ERR_PERM };
	struct pst_error err = { 0 };
	char byte;
	struct world w;

	begin(&w);
	for (size_t i = 0; i < PST_ARRAY_SIZE(codes); i++) {
		image_fail(&w.image, 1, codes[i]);
		CHECK_ERROR(FETCH(&w, &err, 0), &err, codes[i]);
		image_fail(&w.image, 2, codes[i]);
		CHECK_ERROR(FETCH(&w, &err, 2, 3, 4), &err, codes[i]);
		image_fail(&w.image, 1, codes[i]);
		pst_view_reset(w.view);
		CHECK_ERROR(
			pst_mem_read(pst_view_mem(w.view), BASE, &byte, 1, &err), &err, codes[i]);
	}
	end(&w);
}

static void test_crossing(void)
{
	struct pst_error err = { 0 };
	unsigned char big[3 * 4096];
	pst_addr_t word = 0;
	struct world w;

	begin(&w);
	CHECK_DONE(pst_mem_read_addr(pst_view_mem(w.view), BASE + P - 3, &word, &err), &err);
	CHECK(word == 0x0202020202010101);
	CHECK_INT(pst_view_misses(w.view), 2);
	CHECK_DONE(pst_mem_read(pst_view_mem(w.view), BASE, big, 3 * P, &err), &err);
	CHECK(big[0] == 1 && big[P - 1] == 1 && big[P] == 2 && big[2 * P] == 3 &&
		big[3 * P - 1] == 3);
	CHECK_INT(pst_view_misses(w.view), 3);
	CHECK_ERROR(pst_mem_read_addr(pst_view_mem(w.view), BASE + 3 * P - 7, &word, &err), &err,
		PST_ERR_TORN);
	CHECK_DONE(pst_mem_read_addr(pst_view_mem(w.view), BASE + 3 * P - 8, &word, &err), &err);
	end(&w);
}

/* As every memory: how many ranges could be read. */
static void test_readv(void)
{
	char bytes[3];
	const struct pst_range ranges[] = { { BASE, 1, bytes }, { BASE + 7 * P, 1, bytes + 1 },
		{ BASE + 3 * P, 1, bytes + 2 }, { BASE, 1, bytes } };
	struct pst_error err = { 0 };
	struct world w;

	begin(&w);
	CHECK_INT(pst_mem_readv(pst_view_mem(w.view), ranges, 4, &err), 2);
	CHECK_INT(pst_mem_readv(pst_view_mem(w.view), ranges, 2, &err), 2);
	CHECK_INT(pst_mem_readv(pst_view_mem(w.view), ranges, 0, &err), 0);
	CHECK_BYTES(bytes, 2, "\1\10", 2);
	end(&w);
}

static void check_touched(struct world *w, size_t from, size_t to, const unsigned *wanted, size_t n)
{
	struct pst_pages pages = { 0 };

	pst_view_touched(w->view, from, to, &pages);
	CHECK_INT(pages.n, n);
	for (size_t i = 0; i < n && i < pages.n; i++)
		CHECK_INT((pages.v[i] - BASE) / P, wanted[i]);
	pst_pages_fini(&pages);
	CHECK(!pages.v && !pages.n);
}
#define TOUCHED(w, from, to, ...)                                           \
	check_touched((w), (from), (to), (const unsigned[]){ __VA_ARGS__ }, \
		PST_ARRAY_SIZE(((const unsigned[]){ __VA_ARGS__ })))

static void test_sections(void)
{
	struct pst_error err = { 0 };
	size_t a, b, c, d;
	struct world w;

	begin(&w);
	CHECK_DONE(FETCH(&w, &err, 0, 1, 2, 3, 4, 5), &err);
	a = pst_view_mark(w.view);
	byte_at(&w, BASE + 7 * P);
	byte_at(&w, BASE + 4 * P);
	byte_at(&w, BASE + 7 * P + 1);
	byte_at(&w, BASE + 3 * P);
	byte_at(&w, BASE);
	b = pst_view_mark(w.view);
	byte_at(&w, BASE + 4 * P);
	byte_at(&w, BASE + 5 * P);
	c = pst_view_mark(w.view);
	d = pst_view_mark(w.view);
	TOUCHED(&w, a, b, 0, 4, 7);
	TOUCHED(&w, b, c, 4, 5);
	check_touched(&w, c, d, NULL, 0);
	TOUCHED(&w, a, c, 0, 4, 4, 5, 7);
	TOUCHED(&w, b, 1000, 4, 5);
	pst_view_reset(w.view);
	check_touched(&w, a, c, NULL, 0);
	end(&w);
}

/* The list is set anew, not added to. */
static void test_touched_again(void)
{
	struct pst_pages pages = { 0 };
	size_t from;
	struct world w;

	begin(&w);
	from = pst_view_mark(w.view);
	byte_at(&w, BASE + P);
	pst_view_touched(w.view, from, from + 1, &pages);
	CHECK_INT(pages.n, 1);
	pst_view_touched(w.view, from, from + 1, &pages);
	CHECK_INT(pages.n, 1);
	pst_view_touched(w.view, from, from, &pages);
	CHECK_INT(pages.n, 0);
	pst_view_reset(w.view);
	byte_at(&w, BASE + 2 * P); /* in the same section, after the copies were forgotten */
	pst_view_touched(w.view, 0, 1000, &pages);
	CHECK_INT(pages.n, 1);
	CHECK(pages.n && pages.v[0] == BASE + 2 * P);
	pst_pages_fini(&pages);
	end(&w);
}

static void test_limit(void)
{
	struct pst_error err = { 0 };
	struct pst_mem *mem;
	char byte;
	struct world w;

	begin(&w);
	mem = pst_view_mem(w.view);
	CHECK_INT(byte_at(&w, BASE), 1);
	pst_view_limit(w.view, 1); /* long ago */
	CHECK_DONE(pst_mem_read(mem, BASE, &byte, 1, &err), &err);
	CHECK_ERROR(pst_mem_read(mem, BASE + P, &byte, 1, &err), &err, PST_ERR_LATE);
	CHECK_INT(w.image.n_calls, 1);
	pst_view_limit(w.view, pst_now_ns() + 1000 * PST_NSEC_PER_SEC);
	CHECK_DONE(pst_mem_read(mem, BASE + P, &byte, 1, &err), &err);
	pst_view_limit(w.view, 0);
	CHECK_DONE(pst_mem_read(mem, BASE + 2 * P, &byte, 1, &err), &err);
	end(&w);
}

/* ---- more than fits ---- */

/* A memory that is everywhere: each page begins with its number. */
static int endless_readv(
	struct pst_mem *mem, const struct pst_range *ranges, size_t n, struct pst_error *err)
{
	(void)mem, (void)err;
	for (size_t i = 0; i < n; i++)
		for (size_t at = 0; at < ranges[i].size; at += PST_PAGE_SIZE) {
			const uint64_t page = (ranges[i].addr + at) / P;

			memcpy((char *)ranges[i].buf + at, &page, sizeof(page));
		}
	return (int)n;
}

static const struct pst_mem_ops endless_ops = { .name = "endless", .readv = endless_readv };

static bool is_page(struct pst_view *view, pst_addr_t page)
{
	struct pst_error err = { 0 };
	uint64_t number = 0;

	return pst_mem_read_u64(pst_view_mem(view), page * P, &number, &err) == 0 && number == page;
}

static void test_full_by_reads(void)
{
	struct pst_mem mem = { &endless_ops, 8 };
	struct pst_view *view = pst_view_new(&mem);
	struct pst_error err = { 0 };
	uint64_t number;
	size_t n = 0;

	while (n < 100000 && is_page(view, n * 3))
		n++;
	CHECK(n >= 10000 && n < 100000);
	CHECK_INT(pst_view_misses(view), n);
	CHECK_ERROR(pst_mem_read_u64(pst_view_mem(view), 1 * P, &number, &err), &err, PST_ERR_TORN);
	CHECK(is_page(view, 0) && is_page(view, n / 2 * 3) && is_page(view, (n - 1) * 3));
	pst_view_reset(view);
	CHECK(is_page(view, 1));
	CHECK_INT(pst_view_misses(view), 1);
	pst_view_free(view);
}

/* A list of N pages, STEP apart, from malloc. */
static struct pst_pages list(size_t n, pst_addr_t step)
{
	struct pst_pages pages = { pst_xcalloc(n, sizeof(pst_addr_t)), n, n };

	for (size_t i = 0; i < n; i++)
		pages.v[i] = (i * step + 5) * P;
	return pages;
}

/* Many runs take several calls, many pages more than fit: what fits is there, and nothing is mixed up. */
static void test_full_by_fetch(void)
{
	static const struct {
		size_t n;
		pst_addr_t step;
	} rows[] = { { 511, 2 }, { 512, 2 }, { 513, 2 }, { 3000, 2 }, { 3000, 1 }, { 40000, 1 },
		{ 40000, 7 } };
	struct pst_mem mem = { &endless_ops, 8 };
	struct pst_view *view = pst_view_new(&mem);

	for (size_t r = 0; r < PST_ARRAY_SIZE(rows); r++) {
		struct pst_pages pages = list(rows[r].n, rows[r].step);
		struct pst_error err = { 0 };
		size_t wrong = 0;

		unit_row("%zu pages", rows[r].n);
		pst_view_reset(view);
		CHECK_DONE(pst_view_fetch(view, NULL, 0, &pages, NULL, 0, &err), &err);
		for (size_t i = 0; i < rows[r].n && i < 10000; i++)
			wrong += !is_page(view, i * rows[r].step + 5);
		CHECK_INT(wrong, 0);
		CHECK_INT(pst_view_misses(view), 0);
		pst_pages_fini(&pages);
	}
	pst_view_free(view);
}

static CU_TestInfo tests[] = {
	{ "pages are copied once", test_copied_once },
	{ "it is a memory like its base", test_word_bytes },
	{ "fetch: one call, in order", test_one_call },
	{ "fetch: pages that are known", test_known_pages },
	{ "fetch: holes", test_holes },
	{ "fetch: words that are not mapped", test_words_not_mapped },
	{ "fetch: nothing", test_nothing_to_fetch },
	{ "errors", test_errors },
	{ "reads across pages", test_crossing },
	{ "reads of several ranges", test_readv },
	{ "sections", test_sections },
	{ "touched pages again", test_touched_again },
	{ "a limit in time", test_limit },
	{ "full by reads", test_full_by_reads },
	{ "full by a fetch", test_full_by_fetch },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_view = { "view", NULL, NULL, NULL, NULL, tests };
