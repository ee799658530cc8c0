/* What the words of a GIL say, and what two looks at them prove. */
#include "unit.h"

#include "image.h"
#include "pystill/python.h"

#include <string.h>

#define STATE 0x1000 /* a thread state */
#define OTHER 0x2000

/* An interpreter with one GIL, as far as these functions look at it. */
struct world {
	struct image image;
	struct pst_target target;
	struct pst_python py;
	struct pst_gil_words words;
};

static void begin(struct world *w, unsigned word_bytes)
{
	memset(w, 0, sizeof(*w));
	image_init(&w->image, word_bytes);
	w->target.mem = &w->image.mem;
	w->py.target = &w->target;
	w->py.gils = &w->words;
	w->py.n_gils = 1;
}

static void end(struct world *w)
{
	image_fini(&w->image);
}

/* ---- ranges ---- */

static const struct {
	const char *what;
	unsigned word_bytes;
	struct pst_gil_words words;
	size_t n;
	struct {
		pst_addr_t addr;
		size_t size;
	} ranges[PST_GIL_RANGES];
} range_rows[] = {
	{ "in a row", 8, { 0, 0x100, 0x108, 0x110, 0 }, 1, { { 0x100, 24 } } },
	{ "apart", 8, { 0, 0x100, 0x208, 0x110, 0 }, 3,
		{ { 0x100, 8 }, { 0x208, 4 }, { 0x110, 8 } } },
	{ "two in a row", 8, { 0, 0x100, 0x108, 0x118, 0 }, 3,
		{ { 0x100, 8 }, { 0x108, 4 }, { 0x118, 8 } } },
	{ "closer than words", 8, { 0, 0x100, 0x104, 0x108, 0 }, 3,
		{ { 0x100, 8 }, { 0x104, 4 }, { 0x108, 8 } } },
	{ "descending", 8, { 0, 0x110, 0x108, 0x100, 0 }, 3,
		{ { 0x110, 8 }, { 0x108, 4 }, { 0x100, 8 } } },
	{ "current as well", 8, { 0x90, 0x100, 0x108, 0x110, 0 }, 4,
		{ { 0x90, 8 }, { 0x100, 8 }, { 0x108, 4 }, { 0x110, 8 } } },
	{ "current alone", 8, { 0x90, 0, 0, 0, 0 }, 1, { { 0x90, 8 } } },
	{ "enabled", 8, { 0, 0x100, 0x108, 0x110, 0xf0 }, 4,
		{ { 0x100, 8 }, { 0x108, 4 }, { 0x110, 8 }, { 0xf0, 4 } } },
	{ "all five", 8, { 0x90, 0x100, 0x108, 0x110, 0xf0 }, 5,
		{ { 0x90, 8 }, { 0x100, 8 }, { 0x108, 4 }, { 0x110, 8 }, { 0xf0, 4 } } },
	{ "32 bits", 4, { 0, 0x100, 0x104, 0x108, 0 }, 3,
		{ { 0x100, 4 }, { 0x104, 4 }, { 0x108, 4 } } },
	{ "32 bits, current", 4, { 0x90, 0, 0, 0, 0 }, 1, { { 0x90, 4 } } },
};

static void test_ranges(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(range_rows); i++) {
		struct pst_range ranges[PST_GIL_RANGES] = { { 0 } };
		struct pst_gil_raw raw;
		struct world w;

		begin(&w, range_rows[i].word_bytes);
		w.words = range_rows[i].words;
		unit_row("%s", range_rows[i].what);
		CHECK_INT(pst_gil_ranges(&w.py, 0, &raw, ranges), range_rows[i].n);
		for (size_t k = 0; k < range_rows[i].n; k++) {
			CHECK_INT(ranges[k].addr, range_rows[i].ranges[k].addr);
			CHECK_INT(ranges[k].size, range_rows[i].ranges[k].size);
			CHECK((char *)ranges[k].buf >= (char *)&raw &&
				(char *)ranges[k].buf + ranges[k].size <= (char *)(&raw + 1));
		}
		end(&w);
	}
}

/* ---- words ---- */

/* Put the words to memory at the addresses of W->words and read them back. */
static struct pst_gil_state read_back(
	struct world *w, pst_addr_t current, pst_addr_t last, int32_t locked, uint64_t switches)
{
	struct pst_gil_state state = { 0 };
	struct pst_error err = { 0 };

	if (w->words.current)
		image_put_word(&w->image, w->words.current, current);
	if (w->words.last_holder) {
		image_put_word(&w->image, w->words.last_holder, last);
		image_put_int(&w->image, w->words.locked, locked);
		image_put_word(&w->image, w->words.switches, switches);
	}
	CHECK_DONE(pst_gil_read(&w->py, 0, &state, &err), &err);
	return state;
}

static void check_state(struct pst_gil_state s, pst_addr_t holder, pst_addr_t last,
	uint64_t switches, int32_t locked, bool counted)
{
	CHECK_INT(s.holder, holder);
	CHECK_INT(s.last_holder, last);
	CHECK_INT(s.switches, switches);
	CHECK_INT(s.locked, locked);
	CHECK_INT(s.counted, counted);
	CHECK(!s.absent);
}

/* 3.7+: locked and last_holder say who; in a row and apart. */
static void check_counted(unsigned word_bytes, int32_t gap)
{
	struct world w;
	pst_addr_t at;

	begin(&w, word_bytes);
	at = image_alloc(&w.image, 200);
	w.words =
		(struct pst_gil_words){ 0, at, at + (pst_addr_t)gap, at + 2 * (pst_addr_t)gap, 0 };
	unit_row("%u bytes, %d apart", word_bytes, gap);
	check_state(read_back(&w, 0, STATE, 1, 77), STATE, STATE, 77, 1, true);
	check_state(read_back(&w, 0, STATE, 0, 78), 0, STATE, 78, 0, true);
	check_state(read_back(&w, 0, 0, 0, 0), 0, 0, 0, 0, true);
	check_state(read_back(&w, 0, STATE, -1, 0), 0, STATE, 0, -1, false);
	check_state(read_back(&w, 0, OTHER, 1, 0xffffffff), OTHER, OTHER, 0xffffffff, 1, true);
	end(&w);
}

static void test_counted(void)
{
	check_counted(8, 8);
	check_counted(8, 16);
	check_counted(8, 64);
	check_counted(4, 4);
	check_counted(4, 8);
}

/* _PyThreadState_Current names the holder, whatever the others say. */
static void test_current(void)
{
	struct world w;
	pst_addr_t at;

	begin(&w, 8);
	at = image_alloc(&w.image, 32);
	w.words = (struct pst_gil_words){ at, 0, 0, 0, 0 };
	check_state(read_back(&w, STATE, 0, 0, 0), STATE, 0, 0, 0, false);
	check_state(read_back(&w, 0, 0, 0, 0), 0, 0, 0, 0, false);
	w.words = (struct pst_gil_words){ at, at + 8, at + 16, at + 24, 0 };
	check_state(read_back(&w, 0, STATE, 1, 5), 0, STATE, 5, 1, true);
	check_state(read_back(&w, OTHER, STATE, 1, 5), OTHER, STATE, 5, 1, true);
	check_state(read_back(&w, OTHER, STATE, 0, 5), OTHER, STATE, 5, 0, true);
	check_state(read_back(&w, OTHER, STATE, -1, 0), OTHER, STATE, 0, -1, false);
	end(&w);
}

/* Free-threaded builds: where it is not enabled there is none, and what the other words say is nothing. */
static void test_enabled(void)
{
	static const struct {
		int32_t enabled, locked;
		bool absent;
		pst_addr_t holder;
	} rows[] = { { 0, 0, true, 0 }, { 0, 1, true, 0 }, { 1, 1, false, STATE },
		{ 1, 0, false, 0 }, { INT32_MAX, 1, false, STATE }, { -1, 1, false, STATE } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct pst_gil_state s;
		struct world w;
		pst_addr_t at;

		begin(&w, 8);
		at = image_alloc(&w.image, 40);
		w.words = (struct pst_gil_words){ 0, at + 16, at + 24, at + 32, at };
		unit_row("enabled %d, locked %d", rows[i].enabled, rows[i].locked);
		image_put_u64(&w.image, at, 0xffffffffull << 32);
		image_put_int(&w.image, at, rows[i].enabled);
		s = read_back(&w, 0, STATE, rows[i].locked, 5);
		CHECK_INT(s.absent, rows[i].absent);
		CHECK_INT(s.holder, rows[i].holder);
		CHECK_INT(s.counted, !rows[i].absent);
		end(&w);
	}
}

/* Of several GILs the one that is asked for. */
static void test_second(void)
{
	struct pst_gil_words words[2];
	struct pst_gil_state state = { 0 };
	struct pst_error err = { 0 };
	struct world w;
	pst_addr_t at;

	begin(&w, 8);
	at = image_alloc(&w.image, 48);
	words[0] = (struct pst_gil_words){ 0, at, at + 8, at + 16, 0 };
	words[1] = (struct pst_gil_words){ 0, at + 24, at + 32, at + 40, 0 };
	w.py.gils = words;
	w.py.n_gils = 2;
	image_put_word(&w.image, at + 24, OTHER);
	image_put_int(&w.image, at + 32, 1);
	CHECK_DONE(pst_gil_read(&w.py, 1, &state, &err), &err);
	CHECK_INT(state.holder, OTHER);
	CHECK_DONE(pst_gil_read(&w.py, 0, &state, &err), &err);
	CHECK_INT(state.holder, 0);
	end(&w);
}

static void test_one_call(void)
{
	struct pst_gil_state state;
	struct pst_error err = { 0 };
	struct world w;
	pst_addr_t at;

	begin(&w, 8);
	at = image_alloc(&w.image, 64);
	w.words = (struct pst_gil_words){ at, at + 8, at + 16, at + 24, 0 };
	CHECK_DONE(pst_gil_read(&w.py, 0, &state, &err), &err);
	CHECK_INT(w.image.n_calls, 1);
	w.words.current = 0x50;
	CHECK_ERROR(pst_gil_read(&w.py, 0, &state, &err), &err, PST_ERR_TORN);
	w.words.current = at;
	w.words.switches = 0x50;
	CHECK_ERROR(pst_gil_read(&w.py, 0, &state, &err), &err, PST_ERR_TORN);
	image_fail(&w.image, 1, PST_ERR_GONE);
	CHECK_ERROR(pst_gil_read(&w.py, 0, &state, &err), &err, PST_ERR_GONE);
	end(&w);
}

/* ---- proof ---- */

#define G(holder, last, switches, counted)                            \
	{                                                             \
		false, holder, last, switches, (holder) != 0, counted \
	}

/* STATE stood still between the two? */
static const struct {
	const char *what;
	struct pst_gil_state before, after;
	bool proves;
} proofs[] = {
	{ "another held it all the time", G(OTHER, OTHER, 5, true), G(OTHER, OTHER, 5, true),
		true },
	{ "another let it go", G(OTHER, OTHER, 5, true), G(0, OTHER, 5, true), true },
	{ "another took it again", G(0, OTHER, 5, true), G(OTHER, OTHER, 5, true), true },
	{ "free all the time", G(0, OTHER, 5, true), G(0, OTHER, 5, true), true },
	{ "nobody ever had it", G(0, 0, 0, true), G(0, 0, 0, true), true },
	{ "it is counted from 0 on too", G(OTHER, OTHER, 0, true), G(OTHER, OTHER, 0, true), true },
	{ "itself held it", G(STATE, STATE, 5, true), G(STATE, STATE, 5, true), false },
	{ "itself was the last", G(0, STATE, 5, true), G(0, STATE, 5, true), false },
	{ "itself let it go", G(STATE, STATE, 5, true), G(0, STATE, 5, true), false },
	{ "itself took it", G(0, OTHER, 5, true), G(STATE, STATE, 6, true), false },
	{ "itself took it, the last holder is stale", G(0, OTHER, 5, true),
		G(STATE, OTHER, 5, true), false },
	{ "itself held it, the last holder is stale", G(STATE, OTHER, 5, true),
		G(OTHER, OTHER, 5, true), false },
	{ "it went around and came back", G(OTHER, OTHER, 5, true), G(OTHER, OTHER, 7, true),
		false },
	{ "it went back in count", G(OTHER, OTHER, 5, true), G(OTHER, OTHER, 4, true), false },
	{ "another last holder", G(OTHER, OTHER, 5, true), G(0, 0x3000, 5, true), false },
	{ "not counted before", G(OTHER, OTHER, 5, false), G(OTHER, OTHER, 5, true), false },
	{ "not counted after", G(OTHER, OTHER, 5, true), G(OTHER, OTHER, 5, false), false },
	{ "not counted at all", G(OTHER, 0, 0, false), G(OTHER, 0, 0, false), false },
};

static void test_proofs(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(proofs); i++) {
		unit_row("%s", proofs[i].what);
		CHECK_INT(pst_gil_proves(&proofs[i].before, &proofs[i].after, STATE),
			proofs[i].proves);
	}
}

static CU_TestInfo tests[] = {
	{ "ranges", test_ranges },
	{ "counted", test_counted },
	{ "current", test_current },
	{ "enabled", test_enabled },
	{ "several GILs", test_second },
	{ "one call", test_one_call },
	{ "proofs", test_proofs },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_python = { "python", NULL, NULL, NULL, NULL, tests };
