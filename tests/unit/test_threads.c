/* Threads: whether a state is still that of the thread it was listed with, who runs Python without a GIL, and how
 * often the list was another one. */
#include "unit.h"

#include "process.h"

#define V311 0x030b02f0
#define V313 0x030d12f0
#define V315 0x030f02f0

/* ---- is it the same thread still? ---- */

static const struct {
	const char *what;
	uint32_t version;
	size_t member; /* in struct pst_offsets; overwritten */
	pst_addr_t value;
	bool same;
} checks[] = {
#define M(member) offsetof(struct pst_offsets, thread_##member)
	{ "itself", V27, M(thread_id), 0x22, true },
	{ "itself", V312, M(thread_id), 0x22, true },
	{ "another pthread", V27, M(thread_id), 0x11, false },
	{ "another pthread", V37, M(thread_id), 0x11, false },
	{ "another pthread", V315, M(thread_id), 0x11, false },
	{ "another kernel's id", V311, M(native_thread_id), 8, false },
	{ "no kernel's id yet", V312, M(native_thread_id), 0, false },
	{ "another kernel's id", V315, M(native_thread_id), 8, false },
	{ "another interpreter's", V27, M(interp), 0x5000, false },
	{ "another interpreter's", V315, M(interp), 0x5000, false },
	{ "other neighbours", V27, M(next), 0x5000, true },
	{ "other neighbours", V312, M(next), 0x5000, true },
	{ "other neighbours", V312, M(prev), 0x5000, true },
	{ "another frame", V315, M(frame), 0x5000, true },
};

static int32_t offset_at(const struct process *w, size_t member)
{
	return *(const int32_t *)((const char *)&w->o.layout.off + member);
}

static void test_check(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(checks); i++) {
		const struct pst_pythread *t;
		pst_addr_t interp, state;
		struct process w;
		int result;

		process_begin(&w, checks[i].version);
		interp = process_interp(&w, 0, 0x8000000);
		state = process_thread(&w, interp, 0x22, 0x7ffffff0);
		CHECK_DONE(process_list(&w), &w.err);
		t = pst_python_thread(&w.py, state);
		REQUIRE(t != NULL);
		CHECK_DONE(pst_thread_check(&w.py, t, &w.o.image.mem, &w.err), &w.err);
		process_put(&w, state, offset_at(&w, checks[i].member), checks[i].value);
		unit_row("%s: %s", w.o.layout.row->name, checks[i].what);
		result = pst_thread_check(&w.py, t, &w.o.image.mem, &w.err);
		if (checks[i].same)
			CHECK_DONE(result, &w.err);
		else
			CHECK_ERROR(result, &w.err, PST_ERR_TORN);
		process_end(&w);
	}
}

/* It is looked at while the thread stands, or between two looks: what reading says is told. */
static void test_check_errors(void)
{
	const struct pst_pythread *t;
	struct pst_pythread nowhere = { .state = 0x50 };
	pst_addr_t interp, state;
	struct process w;

	process_begin(&w, V312);
	interp = process_interp(&w, 0, 0x8000000);
	state = process_thread(&w, interp, 0x22, 0);
	CHECK_DONE(process_list(&w), &w.err);
	t = pst_python_thread(&w.py, state);
	image_forget(&w.o.image);
	CHECK_DONE(pst_thread_check(&w.py, t, &w.o.image.mem, &w.err), &w.err);
	CHECK_INT(w.o.image.n_calls, 1);
	CHECK_ERROR(
		pst_thread_check(&w.py, &nowhere, &w.o.image.mem, &w.err), &w.err, PST_ERR_TORN);
	image_fail(&w.o.image, 1, PST_ERR_LATE);
	CHECK_ERROR(pst_thread_check(&w.py, t, &w.o.image.mem, &w.err), &w.err, PST_ERR_LATE);
	process_end(&w);
}

/* Through the memory it is given, which may be a copy, not the target's own. */
static void test_check_memory(void)
{
	struct image copy;
	pst_addr_t interp, state;
	struct process w;

	process_begin(&w, V312);
	interp = process_interp(&w, 0, 0x8000000);
	state = process_thread(&w, interp, 0x22, 0);
	CHECK_DONE(process_list(&w), &w.err);
	image_init(&copy, 8);
	image_map(&copy, state, 4096);
	CHECK_ERROR(pst_thread_check(&w.py, pst_python_thread(&w.py, state), &copy.mem, &w.err),
		&w.err, PST_ERR_TORN);
	image_fini(&copy);
	process_end(&w);
}

/* ---- attached ---- */

static const struct {
	int32_t state;
	bool attached;
} states[] = { { 0, false }, { 1, true }, { 2, false }, { 3, false }, { 4, false }, { 5, false },
	{ -1, false }, { 0x101, false } };

/* Both when it is listed and when it is asked alone. */
static void check_attached(uint32_t version, enum pst_flavour flavour)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(states); i++) {
		pst_addr_t interp, state, other;
		struct process w;

		process_begin_flavour(&w, version, flavour);
		interp = process_interp(&w, 0, 0x8000000);
		state = process_thread(&w, interp, 0x22, 0);
		other = process_thread(&w, interp, 0x33, 0);
		unit_row("%s, state %d", w.o.layout.row->name, states[i].state);
		objects_put_int(&w.o, state, w.o.layout.off.thread_state, states[i].state);
		CHECK_DONE(process_list(&w), &w.err);
		CHECK_INT(pst_python_thread(&w.py, state)->attached, states[i].attached);
		CHECK_INT(pst_thread_is_attached(&w.py, state), states[i].attached);
		CHECK(!pst_python_thread(&w.py, other)->attached);
		objects_put_int(&w.o, state, w.o.layout.off.thread_state, 0);
		objects_put_int(&w.o, other, w.o.layout.off.thread_state, 1);
		CHECK_INT(pst_python_thread(&w.py, state)->attached, states[i].attached);
		CHECK(!pst_thread_is_attached(&w.py, state));
		CHECK_DONE(process_list(&w), &w.err); /* the list is the same, its states not */
		CHECK(!pst_python_thread(&w.py, state)->attached);
		CHECK(pst_python_thread(&w.py, other)->attached);
		process_end(&w);
	}
}

static void test_attached(void)
{
	check_attached(V313, PST_FREE_THREADED);
	check_attached(0x030e0af0, PST_FREE_THREADED);
	check_attached(V315, PST_FREE_THREADED);
	check_attached(V315, PST_RELEASE);
}

/* Versions without such a state, and states that cannot be read. */
static void test_never_attached(void)
{
	pst_addr_t interp, state;
	struct process w;

	process_begin(&w, V312);
	interp = process_interp(&w, 0, 0x8000000);
	state = process_thread(&w, interp, 0x22, 0);
	CHECK_DONE(process_list(&w), &w.err);
	for (pst_addr_t at = 0; at < 512; at += 4)
		image_put_int(&w.o.image, state + at, 1);
	CHECK(!pst_thread_is_attached(&w.py, state));
	CHECK(!pst_thread_is_attached(&w.py, state + 65)); /* absent is stored as -1 */
	CHECK(!pst_python_thread(&w.py, state)->attached);
	process_end(&w);
	process_begin_flavour(&w, V313, PST_FREE_THREADED);
	CHECK(!pst_thread_is_attached(&w.py, 0x50));
	process_end(&w);
}

/* ---- the list ---- */

static void check_indices(const struct process *w)
{
	for (size_t i = 0; i < w->py.n_threads; i++)
		CHECK_INT(w->py.threads[i]->index, i);
}

/* Indices are places in the list, and its changes are counted. */
static void test_changes(void)
{
	pst_addr_t interp, first, second;
	struct process w;

	process_begin(&w, V312);
	interp = process_interp(&w, 0, 0x8000000);
	first = process_thread(&w, interp, 0x11, 0);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.list_changes, 1);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.list_changes, 1);
	second = process_thread(&w, interp, 0x22, 0);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.list_changes, 2);
	check_indices(&w);
	CHECK_INT(pst_python_thread(&w.py, first)->index, 1);
	process_put(&w, second, w.o.layout.off.thread_thread_id, 0x99);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.list_changes, 3);
	process_put(&w, second, w.o.layout.off.thread_next, 0);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.list_changes, 4);
	check_indices(&w);
	process_put(&w, second, w.o.layout.off.thread_next, 0x50);
	CHECK_ERROR(process_list(&w), &w.err, PST_ERR_TORN);
	CHECK_INT(w.py.list_changes, 4);
	process_end(&w);
}

static CU_TestInfo tests[] = {
	{ "the same thread still", test_check },
	{ "the same thread: errors", test_check_errors },
	{ "the same thread: through which memory", test_check_memory },
	{ "attached", test_attached },
	{ "never attached", test_never_attached },
	{ "changes of the list", test_changes },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_threads = { "threads", NULL, NULL, NULL, NULL, tests };
