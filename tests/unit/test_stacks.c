/* One thread's stack over and over: what stayed is not looked up again, and is right all the same. */
#include "unit.h"

#include "python/internal.h"
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define V27  0x020712f0
#define V310 0x030a05f0
#define V311 0x030b02f0
#define V315 0x030f02f0

#define DEEP 20

/* A stack of DEEP functions f0 (outermost) ... f19, the nth on line 100 * n + 1 + n % 10. */
static void begin_deep(struct stage *s, uint32_t version, pst_addr_t codes[DEEP])
{
	char name[16];

	stage_begin(s, version);
	for (int32_t i = 0; i < DEEP; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		codes[i] = stage_code(s, name, 100 * i + 1);
		stage_push(s, codes[i], 2 * (i % 10), 0);
	}
}

/* Frames of the result from function FROM outwards. */
static void check_deep(const struct stage *s, uint32_t index, int32_t from)
{
	char name[16];

	for (int32_t i = from; i >= 0; i--) {
		snprintf(name, sizeof(name), "f%d", i);
		stage_check(s, index++, name, 100 * i + 1, 100 * i + 1 + i % 10);
	}
	CHECK_INT(index, s->n);
}

/* Of a stack that has not changed only the newest codes are read again, and the others' names not at all. */
static void test_unchanged(void)
{
	pst_addr_t codes[DEEP];
	struct stage s;

	begin_deep(&s, V311, codes);
	stage_take(&s);
	CHECK_INT(s.reading.n_new, DEEP);
	CHECK_INT(s.reading.n_heads, DEEP);
	check_deep(&s, 0, DEEP - 1);
	image_forget(&s.o.image);
	stage_take(&s);
	check_deep(&s, 0, DEEP - 1);
	CHECK(s.reading.n_new > 0 && s.reading.n_new <= DEEP / 2);
	for (int32_t i = 0; i < DEEP; i++) {
		unit_row("f%d", i);
		CHECK_INT(image_count_reads(&s.o.image, codes[i]),
			(uint32_t)(DEEP - 1 - i) < s.reading.n_new);
	}
	stage_end(&s);
}

/* A new leaf, or a leaf that went on, leaves the outer frames what they were. */
static void test_outer_reused(void)
{
	pst_addr_t codes[DEEP], leaf;
	struct stage s;

	begin_deep(&s, V315, codes);
	stage_take(&s);
	leaf = stage_code(&s, "leaf", 5);
	stage_push(&s, leaf, 2, 0);
	image_forget(&s.o.image);
	stage_take(&s);
	stage_check(&s, 0, "leaf", 5, 6);
	check_deep(&s, 1, DEEP - 1);
	stage_step(&s, leaf, 8);
	stage_take(&s);
	stage_check(&s, 0, "leaf", 5, 9);
	check_deep(&s, 1, DEEP - 1);
	CHECK_INT(image_count_reads(&s.o.image, codes[0]), 0);
	CHECK_INT(image_count_reads(&s.o.image, codes[DEEP / 2]), 0);
	stage_pop(&s);
	stage_take(&s);
	check_deep(&s, 0, DEEP - 1);
	stage_end(&s);
}

/* A frame in the middle went on: all inside of it is looked up anew. */
static void test_middle_changed(void)
{
	struct frame_spec spec = { .lasti = 12 };
	pst_addr_t codes[DEEP], frames[DEEP];
	struct stage s;

	begin_deep(&s, V311, codes);
	frames[0] = stage_newest(&s);
	for (size_t i = 1; i < DEEP; i++)
		MUST(pst_mem_read_addr(s.target.mem, frames[i - 1] + 48, &frames[i], &s.err) == 0);
	stage_take(&s);
	spec.previous = frames[11];
	spec.code = codes[DEEP - 1 - 10];
	objects_frame_put(&s.o, frames[10], &spec);
	stage_take(&s);
	CHECK_INT(s.n, DEEP);
	CHECK_INT(s.reading.n_new, 11);
	stage_check(&s, 10, "f9", 901, 907);
	stage_check(&s, 9, "f10", 1001, 1001);
	stage_check(&s, 11, "f8", 801, 809);
	stage_end(&s);
}

/* The codes of frames that stayed are checked now and then: a frame holds its code, so another one in its
 * place means that it is another frame. */
static void test_recheck(void)
{
	struct code_spec spec;
	pst_addr_t codes[DEEP];
	struct stage s;

	begin_deep(&s, V311, codes);
	stage_take(&s);
	spec = stage_spec(&s, "other", 7);
	objects_code_put(&s.o, codes[2], &spec);
	s.thread.checked_ns = 0;
	CHECK_DONE(stage_read(&s), &s.err);
	CHECK_ERROR(stage_resolve(&s), &s.err, PST_ERR_TORN);
	CHECK_INT(s.n, 0);
	stage_take(&s);
	CHECK_INT(s.n, DEEP);
	stage_check(&s, DEEP - 3, "other", 7, 9);
	stage_check(&s, DEEP - 2, "f1", 101, 102);
	stage_end(&s);
}

static void test_recheck_unmapped(void)
{
	pst_addr_t codes[DEEP];
	struct stage s;

	begin_deep(&s, V311, codes);
	stage_take(&s);
	image_unmap(&s.o.image, codes[2]);
	s.thread.checked_ns = 0;
	CHECK_DONE(stage_read(&s), &s.err);
	CHECK_ERROR(stage_resolve(&s), &s.err, PST_ERR_TORN);
	stage_end(&s);
}

/* After a reading that could not be resolved nothing is taken from the last one. */
static void test_after_failure(void)
{
	struct code_spec spec;
	pst_addr_t codes[DEEP];
	struct stage s;

	begin_deep(&s, V311, codes);
	stage_take(&s);
	CHECK_DONE(stage_read(&s), &s.err);
	spec = stage_spec(&s, "late", 3);
	objects_code_put(&s.o, codes[DEEP - 1], &spec);
	stage_step(&s, codes[DEEP - 1], 6);
	CHECK_DONE(stage_read(&s), &s.err);
	spec = stage_spec(&s, "later", 4);
	objects_code_put(&s.o, codes[DEEP - 1], &spec);
	CHECK_ERROR(stage_resolve(&s), &s.err, PST_ERR_TORN);
	CHECK_DONE(stage_read(&s), &s.err);
	CHECK_INT(s.reading.n_new, DEEP);
	CHECK_DONE(stage_resolve(&s), &s.err);
	stage_check(&s, 0, "later", 4, 7);
	check_deep(&s, 1, DEEP - 2);
	stage_end(&s);
}

/* What is on a stack, outermost first. */
enum { CODES = 12, MOST = 40 };
struct truth {
	struct {
		unsigned code;
		int32_t step;
	} v[MOST];
	uint32_t n;
};

/* A call, a return, or a few instructions. */
static void act(struct stage *s, const pst_addr_t *codes, struct truth *t, uint64_t *seed)
{
	const unsigned code = unit_random(seed) % CODES;
	const int32_t step = (int32_t)(unit_random(seed) % STAGE_STEPS);
	const uint32_t what = unit_random(seed) % 3;

	if (what == 0 && t->n) {
		stage_pop(s);
		t->n--;
	} else if (what == 1 && t->n) {
		stage_step(s, codes[t->v[t->n - 1].code], 2 * step);
		t->v[t->n - 1].step = step;
	} else if (t->n < MOST) {
		stage_push(s, codes[code], 2 * step, 0);
		t->v[t->n].code = code;
		t->v[t->n++].step = step;
	}
}

static bool is_truth(const struct stage *s, const struct truth *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const unsigned code = t->v[t->n - 1 - i].code;
		const int32_t first = (int32_t)(100 * code + 1);
		char name[16];

		snprintf(name, sizeof(name), "f%u", code);
		if (!stage_is(s, i, name, first, first + t->v[t->n - 1 - i].step))
			return false;
	}
	return s->n == t->n;
}

/* Any sequence of them gives what a look at the stack alone would give. */
static void check_random(uint32_t version)
{
	struct truth truth = { 0 };
	pst_addr_t codes[CODES];
	uint64_t seed = version;
	struct stage s;
	char name[16];

	stage_begin(&s, version);
	for (int32_t i = 0; i < CODES; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		codes[i] = stage_code(&s, name, 100 * i + 1);
	}
	for (int round = 0; round < 600; round++) {
		for (uint32_t n = unit_random(&seed) % 5; n > 0; n--)
			act(&s, codes, &truth, &seed);
		stage_take(&s);
		unit_row("%s, round %d", s.o.layout.row->name, round);
		CHECK(is_truth(&s, &truth));
	}
	stage_end(&s);
}

static void test_random(void)
{
	check_random(V27);
	check_random(V310);
	check_random(V311);
	check_random(V315);
}

/* Two threads keep a last stack each. */
static void test_two_threads(void)
{
	struct pst_pythread other = { 0 }, mine;
	pst_addr_t codes[DEEP];
	struct stage s;

	begin_deep(&s, V311, codes);
	stage_take(&s);
	other.state = objects_thread(&s.o, 0);
	mine = s.thread;
	s.thread = other;
	stage_push(&s, codes[3], 4, 0);
	stage_take(&s);
	CHECK_INT(s.n, 1);
	stage_check(&s, 0, "f3", 301, 303);
	other = s.thread;
	s.thread = mine;
	stage_take(&s);
	check_deep(&s, 0, DEEP - 1);
	free(other.last.v);
	free(other.last_frames);
	stage_end(&s);
}

/* Whichever read it is that fails, its error is told. */
static void check_errors(uint32_t version, enum pst_error_code code)
{
	size_t n = 1;
	int result = -1;

	for (; n < 200 && result < 0; n++) {
		struct stage s;

		stage_begin(&s, version);
		stage_push(&s, stage_code(&s, "f", 1), 0, 0);
		stage_push(&s, stage_code(&s, "g", 1), 0, 0);
		image_fail(&s.o.image, n, code);
		result = stage_read(&s);
		if (result == 0)
			result = stage_resolve(&s);
		unit_row("%s, read %zu", s.o.layout.row->name, n);
		if (result < 0)
			CHECK_INT(s.err.code, code);
		stage_end(&s);
	}
	CHECK(n > 15 && n < 200);
}

static void test_errors(void)
{
	check_errors(V27, PST_ERR_GONE);
	check_errors(V311, PST_ERR_GONE);
	check_errors(V311, PST_ERR_PERM);
	check_errors(V315, PST_ERR_LATE);
}

static CU_TestInfo tests[] = {
	{ "unchanged", test_unchanged },
	{ "outer frames are used again", test_outer_reused },
	{ "a frame in the middle changed", test_middle_changed },
	{ "outer frames are checked", test_recheck },
	{ "outer frames are checked: not mapped", test_recheck_unmapped },
	{ "after a failure", test_after_failure },
	{ "calls and returns at random", test_random },
	{ "two threads", test_two_threads },
	{ "errors", test_errors },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_stacks = { "stacks", NULL, NULL, NULL, NULL, tests };
