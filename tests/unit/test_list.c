/* The lists of interpreters and threads, from made-up memory. */
#define _GNU_SOURCE
#include "unit.h"

#include "process.h"

#include <stdlib.h>
#include <unistd.h>

static void check_thread(
	struct process *w, size_t i, pst_addr_t state, pst_addr_t interp, pst_addr_t ident)
{
	const struct pst_pythread *t = w->py.threads[i];

	CHECK_INT(t->state, state);
	CHECK_INT(t->interp, interp);
	CHECK_INT(t->ident, ident);
	CHECK(pst_python_thread(&w->py, state) == t);
}

static void test_one_interpreter(void)
{
	static const uint32_t versions[] = { V27, V37, V312 };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		pst_addr_t interp, a, b, c;
		struct process w;

		process_begin(&w, versions[v]);
		interp = process_interp(&w, 0, 0x8000000);
		a = process_thread(&w, interp, 0x11, 0);
		b = process_thread(&w, interp, 0x22, 0);
		c = process_thread(&w, interp, 0x33, 0);
		CHECK_DONE(process_list(&w), &w.err);
		CHECK_INT(w.py.n_threads, 3);
		CHECK_INT(w.py.n_gils, 1);
		check_thread(&w, 0, c, interp, 0x33);
		check_thread(&w, 1, b, interp, 0x22);
		check_thread(&w, 2, a, interp, 0x11);
		CHECK(!pst_python_thread(&w.py, interp));
		process_end(&w);
	}
}

static void test_no_threads(void)
{
	struct process w;

	process_begin(&w, V312);
	process_interp(&w, 0, 0x8000000);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.n_threads, 0);
	CHECK_INT(w.py.n_gils, 1);
	process_end(&w);
}

/* Interpreters with a GIL of their own, and one that uses another's. */
static void test_gils(void)
{
	pst_addr_t main_interp, own, shared;
	struct process w;

	process_begin(&w, V312);
	main_interp = process_interp(&w, 0, 0x8000000);
	own = process_interp(&w, main_interp, 0x8001000);
	shared = process_interp(&w, own, 0x8000000);
	process_thread(&w, main_interp, 1, 0);
	process_thread(&w, own, 2, 0);
	process_thread(&w, shared, 3, 0);
	CHECK_DONE(process_list(&w), &w.err);
	REQUIRE(w.py.n_threads == 3 && w.py.n_gils == 2);
	CHECK(w.py.threads[0]->gil == w.py.threads[2]->gil);
	CHECK(w.py.threads[1]->gil != w.py.threads[2]->gil);
	CHECK_INT(w.py.gils[w.py.threads[0]->gil].last_holder, 0x8000008);
	CHECK_INT(w.py.gils[w.py.threads[1]->gil].locked, 0x8001010);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.n_gils, 2);
	process_put(&w, shared, w.o.layout.off.interp_gil, 0x8002000);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.n_gils, 3);
	image_put_word(&w.o.image, w.py.head_word, main_interp);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.n_gils, 1);
	CHECK_INT(w.py.n_threads, 1);
	process_end(&w);
}

/* What is known of a thread stays known while it is the same one. */
static void test_again(void)
{
	struct pst_pythread *a, *b;
	pst_addr_t interp, first, second;
	struct process w;

	process_begin(&w, V312);
	interp = process_interp(&w, 0, 0x8000000);
	first = process_thread(&w, interp, 0x11, 0);
	second = process_thread(&w, interp, 0x22, 0);
	CHECK_DONE(process_list(&w), &w.err);
	a = pst_python_thread(&w.py, first);
	b = pst_python_thread(&w.py, second);
	a->checked_ns = 111;
	b->checked_ns = 222;
	CHECK_DONE(process_list(&w), &w.err);
	CHECK(pst_python_thread(&w.py, first) == a && pst_python_thread(&w.py, second) == b);
	process_thread(&w, interp, 0x33, 0);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.n_threads, 3);
	CHECK(w.py.threads[1] == b && w.py.threads[2] == a);
	CHECK(a->checked_ns == 111 && b->checked_ns == 222 && w.py.threads[0]->checked_ns == 0);
	process_end(&w);
}

/* The memory of an ended thread's state is used for a new one: another pthread, or another kernel's id. */
static void check_reused(int32_t offset, pst_addr_t value, bool newest)
{
	struct pst_pythread *other;
	pst_addr_t interp, reused, stays;
	struct process w;

	process_begin(&w, V312);
	interp = process_interp(&w, 0, 0x8000000);
	reused = process_thread(&w, interp, 0x11, 0);
	stays = process_thread(&w, interp, 0x22, 0);
	if (newest) {
		const pst_addr_t older = reused;

		reused = stays;
		stays = older;
	}
	CHECK_DONE(process_list(&w), &w.err);
	pst_python_thread(&w.py, reused)->checked_ns = 111;
	other = pst_python_thread(&w.py, stays);
	process_put(&w, reused, offset, value);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(pst_python_thread(&w.py, reused)->checked_ns, 0);
	CHECK(pst_python_thread(&w.py, stays) == other);
	process_end(&w);
}

static void test_reused(void)
{
	for (int newest = 0; newest < 2; newest++) {
		check_reused(136, 0x99, newest);       /* thread_id */
		check_reused(144, 0x7fffffff, newest); /* native_thread_id */
	}
}

/* What a thread that ended, or that stays to the end, has of its own. */
static void give_memory(struct pst_pythread *t)
{
	t->pages.v = pst_xcalloc(1, sizeof(*t->pages.v));
	t->last.v = pst_xcalloc(1, sizeof(*t->last.v));
	t->last_frames = pst_xcalloc(1, sizeof(*t->last_frames));
}

static void test_removed(void)
{
	struct pst_pythread *kept;
	pst_addr_t interp, first, second, third;
	struct process w;

	process_begin(&w, V312);
	interp = process_interp(&w, 0, 0x8000000);
	first = process_thread(&w, interp, 0x11, 0);
	second = process_thread(&w, interp, 0x22, 0);
	third = process_thread(&w, interp, 0x33, 0);
	CHECK_DONE(process_list(&w), &w.err);
	kept = pst_python_thread(&w.py, first);
	give_memory(kept);
	give_memory(pst_python_thread(&w.py, second));
	process_put(&w, third, w.o.layout.off.thread_next, first);
	process_put(&w, first, w.o.layout.off.thread_prev, third);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.n_threads, 2);
	CHECK(!pst_python_thread(&w.py, second));
	CHECK(pst_python_thread(&w.py, first) == kept);
	process_end(&w);
}

/* ---- lists that make no sense ---- */

/* Two threads; OFFSET of the older one, or of the interpreter, is overwritten. */
static void check_torn(uint32_t version, bool in_thread, int32_t offset, pst_addr_t value)
{
	pst_addr_t interp, thread;
	struct process w;

	process_begin(&w, version);
	interp = process_interp(&w, 0, 0x8000000);
	thread = process_thread(&w, interp, 0x11, 0);
	process_thread(&w, interp, 0x22, 0);
	CHECK_DONE(process_list(&w), &w.err);
	process_put(&w, in_thread ? thread : interp, offset, value);
	unit_row("%s, %d", w.o.layout.row->name, offset);
	CHECK_ERROR(process_list(&w), &w.err, PST_ERR_TORN);
	CHECK_INT(w.py.n_threads, 2); /* the last list that was one */
	process_end(&w);
}

static void test_torn(void)
{
	check_torn(V27, true, 8, 0x5000); /* belongs to another interpreter */
	check_torn(V312, true, 16, 0x5000);
	check_torn(V312, true, 0, 0x5000); /* does not point back */
	check_torn(V312, true, 0, 0);
	check_torn(V27, true, 0, 0x50); /* the next is not mapped */
	check_torn(V312, true, 8, 0x50);
	check_torn(V27, false, 8, 0x50); /* the first is not mapped */
	check_torn(V312, false, 72, 0x50);
	check_torn(V27, false, 0, 0x50); /* nor the next interpreter */
	check_torn(V312, false, 0, 0x50);
	check_torn(V312, false, 384, 0); /* no GIL */
}

static void test_rings(void)
{
	static const uint32_t versions[] = { V27, V312 };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		pst_addr_t interp, first, second;
		struct process w;

		process_begin(&w, versions[v]);
		interp = process_interp(&w, 0, 0x8000000);
		first = process_thread(&w, interp, 0x11, 0);
		second = process_thread(&w, interp, 0x22, 0);
		process_put(&w, first, w.o.layout.off.thread_next, second);
		CHECK_ERROR(process_list(&w), &w.err, PST_ERR_TORN);
		process_put(&w, first, w.o.layout.off.thread_next, 0);
		CHECK_DONE(process_list(&w), &w.err);
		process_put(&w, interp, w.o.layout.off.interp_next, interp);
		CHECK_ERROR(process_list(&w), &w.err, PST_ERR_TORN);
		process_end(&w);
	}
}

static void test_no_interpreter(void)
{
	struct process w;

	process_begin(&w, V312);
	CHECK_ERROR(process_list(&w), &w.err, PST_ERR_TORN);
	w.py.head_word = 0x50;
	CHECK_ERROR(process_list(&w), &w.err, PST_ERR_TORN);
	process_end(&w);
}

static void test_errors(void)
{
	size_t n = 1;
	pst_addr_t interp;
	struct process w;

	process_begin(&w, V312);
	interp = process_interp(&w, 0, 0x8000000);
	process_thread(&w, interp, 0x11, 0);
	for (; n < 30; n++) {
		image_fail(&w.o.image, n, PST_ERR_GONE);
		if (process_list(&w) == 0)
			break;
		CHECK_INT(w.err.code, PST_ERR_GONE);
	}
	CHECK(n > 3 && n < 30);
	process_end(&w);
}

/* Second and later lists ask for the pages in one call. */
static void test_few_calls(void)
{
	pst_addr_t interp;
	struct process w;

	process_begin(&w, V312);
	interp = process_interp(&w, 0, 0x8000000);
	for (pst_addr_t i = 0; i < 5; i++)
		process_thread(&w, interp, 0x11 + i, gettid());
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(pst_view_misses(w.view), 7);
	image_forget(&w.o.image);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.o.image.n_calls, 1);
	CHECK_INT(pst_view_misses(w.view), 0);
	process_end(&w);
}

static CU_TestInfo tests[] = {
	{ "one interpreter", test_one_interpreter },
	{ "an interpreter without threads", test_no_threads },
	{ "GILs", test_gils },
	{ "a list is brought up to date", test_again },
	{ "memory that is used again", test_reused },
	{ "a thread that ended", test_removed },
	{ "lists that are torn", test_torn },
	{ "rings", test_rings },
	{ "no interpreter", test_no_interpreter },
	{ "errors", test_errors },
	{ "few calls", test_few_calls },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_list = { "list", NULL, NULL, NULL, NULL, tests };
