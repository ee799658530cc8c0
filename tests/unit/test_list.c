/* The lists of interpreters and threads, from made-up memory; the kernel's ids are those of this process. */
#define _GNU_SOURCE
#include "unit.h"

#include "objects.h"
#include "python/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define V27  0x020712f0 /* no link back */
#define V37  0x030709f0 /* one GIL, no kernel's id */
#define V312 0x030c03f0 /* a GIL for each interpreter, and the kernel's id */

/* An interpreter whose list of interpreters begins at HEAD_WORD. */
struct world {
	struct objects o;
	struct pst_target target;
	struct pst_python py;
	struct pst_view *view;
	struct pst_error err;
};

static void begin(struct world *w, uint32_t version)
{
	memset(w, 0, sizeof(*w));
	objects_init(&w->o, version);
	w->target.mem = &w->o.image.mem;
	w->target.pid = getpid();
	w->py.target = &w->target;
	w->py.layout = w->o.layout;
	w->py.roots = (struct pst_roots){ .runtime = 0x9000000, .thread_current = 0x9100000 };
	w->py.head_word = image_alloc(&w->o.image, 4096);
	w->view = pst_view_new(&w->o.image.mem);
	unit_row("%s", w->o.layout.row->name);
}

static void end(struct world *w)
{
	pst_threads_fini(&w->py);
	CHECK(!w->py.n_threads && !w->py.threads && !w->py.gils);
	pst_view_free(w->view);
	objects_fini(&w->o);
}

static int list(struct world *w)
{
	return pst_python_list(&w->py, w->view, &w->err);
}

/* The view reads whole pages: objects here are pages. */
static pst_addr_t page(struct world *w)
{
	return image_alloc(&w->o.image, 2 * 4096);
}

static void put(struct world *w, pst_addr_t base, int32_t offset, pst_addr_t value)
{
	if (offset != PST_ABSENT)
		image_put_word(&w->o.image, base + (pst_addr_t)offset, value);
}

static pst_addr_t make_interp(struct world *w, pst_addr_t next, pst_addr_t gil)
{
	const pst_addr_t interp = page(w);

	put(w, interp, w->o.layout.off.interp_next, next);
	put(w, interp, w->o.layout.off.interp_gil, gil);
	image_put_word(&w->o.image, w->py.head_word, interp);
	return interp;
}

/* The newest thread stands first in the list of INTERP. */
static pst_addr_t add_thread(struct world *w, pst_addr_t interp, pst_addr_t ident, int32_t tid)
{
	const struct pst_offsets *off = &w->o.layout.off;
	const pst_addr_t thread = page(w), head = interp + (pst_addr_t)off->interp_threads_head;
	struct pst_error err = { 0 };
	pst_addr_t next = 0;

	MUST(pst_mem_read_addr(&w->o.image.mem, head, &next, &err) == 0);
	put(w, thread, off->thread_next, next);
	put(w, thread, off->thread_interp, interp);
	put(w, thread, off->thread_thread_id, ident);
	put(w, thread, off->thread_native_thread_id, (pst_addr_t)tid);
	if (next)
		put(w, next, off->thread_prev, thread);
	image_put_word(&w->o.image, head, thread);
	return thread;
}

static void check_thread(
	struct world *w, size_t i, pst_addr_t state, pst_addr_t interp, pst_addr_t ident)
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
		struct world w;

		begin(&w, versions[v]);
		interp = make_interp(&w, 0, 0x8000000);
		a = add_thread(&w, interp, 0x11, 0);
		b = add_thread(&w, interp, 0x22, 0);
		c = add_thread(&w, interp, 0x33, 0);
		CHECK_DONE(list(&w), &w.err);
		CHECK_INT(w.py.n_threads, 3);
		CHECK_INT(w.py.n_gils, 1);
		check_thread(&w, 0, c, interp, 0x33);
		check_thread(&w, 1, b, interp, 0x22);
		check_thread(&w, 2, a, interp, 0x11);
		CHECK(!pst_python_thread(&w.py, interp));
		end(&w);
	}
}

static void test_no_threads(void)
{
	struct world w;

	begin(&w, V312);
	make_interp(&w, 0, 0x8000000);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(w.py.n_threads, 0);
	CHECK_INT(w.py.n_gils, 1);
	end(&w);
}

/* Interpreters with a GIL of their own, and one that uses another's. */
static void test_gils(void)
{
	pst_addr_t main_interp, own, shared;
	struct world w;

	begin(&w, V312);
	main_interp = make_interp(&w, 0, 0x8000000);
	own = make_interp(&w, main_interp, 0x8001000);
	shared = make_interp(&w, own, 0x8000000);
	add_thread(&w, main_interp, 1, 0);
	add_thread(&w, own, 2, 0);
	add_thread(&w, shared, 3, 0);
	CHECK_DONE(list(&w), &w.err);
	REQUIRE(w.py.n_threads == 3 && w.py.n_gils == 2);
	CHECK(w.py.threads[0]->gil == w.py.threads[2]->gil);
	CHECK(w.py.threads[1]->gil != w.py.threads[2]->gil);
	CHECK_INT(w.py.gils[w.py.threads[0]->gil].last_holder, 0x8000008);
	CHECK_INT(w.py.gils[w.py.threads[1]->gil].locked, 0x8001010);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(w.py.n_gils, 2);
	put(&w, shared, w.o.layout.off.interp_gil, 0x8002000);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(w.py.n_gils, 3);
	image_put_word(&w.o.image, w.py.head_word, main_interp);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(w.py.n_gils, 1);
	CHECK_INT(w.py.n_threads, 1);
	end(&w);
}

/* What is known of a thread stays known while it is the same one. */
static void test_again(void)
{
	struct pst_pythread *a, *b;
	pst_addr_t interp, first, second;
	struct world w;

	begin(&w, V312);
	interp = make_interp(&w, 0, 0x8000000);
	first = add_thread(&w, interp, 0x11, 0);
	second = add_thread(&w, interp, 0x22, 0);
	CHECK_DONE(list(&w), &w.err);
	a = pst_python_thread(&w.py, first);
	b = pst_python_thread(&w.py, second);
	a->checked_ns = 111;
	b->checked_ns = 222;
	CHECK_DONE(list(&w), &w.err);
	CHECK(pst_python_thread(&w.py, first) == a && pst_python_thread(&w.py, second) == b);
	add_thread(&w, interp, 0x33, 0);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(w.py.n_threads, 3);
	CHECK(w.py.threads[1] == b && w.py.threads[2] == a);
	CHECK(a->checked_ns == 111 && b->checked_ns == 222 && w.py.threads[0]->checked_ns == 0);
	end(&w);
}

/* The memory of an ended thread's state is used for a new one: another pthread, or another kernel's id. */
static void check_reused(int32_t offset, pst_addr_t value)
{
	struct pst_pythread *other;
	pst_addr_t interp, reused, stays;
	struct world w;

	begin(&w, V312);
	interp = make_interp(&w, 0, 0x8000000);
	reused = add_thread(&w, interp, 0x11, 0);
	stays = add_thread(&w, interp, 0x22, 0);
	CHECK_DONE(list(&w), &w.err);
	pst_python_thread(&w.py, reused)->checked_ns = 111;
	other = pst_python_thread(&w.py, stays);
	put(&w, reused, offset, value);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(pst_python_thread(&w.py, reused)->checked_ns, 0);
	CHECK(pst_python_thread(&w.py, stays) == other);
	end(&w);
}

static void test_reused(void)
{
	check_reused(136, 0x99);       /* thread_id */
	check_reused(144, 0x7fffffff); /* native_thread_id */
}

static void test_removed(void)
{
	struct pst_pythread *kept;
	pst_addr_t interp, first, second, third;
	struct world w;

	begin(&w, V312);
	interp = make_interp(&w, 0, 0x8000000);
	first = add_thread(&w, interp, 0x11, 0);
	second = add_thread(&w, interp, 0x22, 0);
	third = add_thread(&w, interp, 0x33, 0);
	CHECK_DONE(list(&w), &w.err);
	kept = pst_python_thread(&w.py, first);
	put(&w, third, w.o.layout.off.thread_next, first);
	put(&w, first, w.o.layout.off.thread_prev, third);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(w.py.n_threads, 2);
	CHECK(!pst_python_thread(&w.py, second));
	CHECK(pst_python_thread(&w.py, first) == kept);
	end(&w);
}

/* ---- lists that make no sense ---- */

/* Two threads; OFFSET of the older one, or of the interpreter, is overwritten. */
static void check_torn(uint32_t version, bool in_thread, int32_t offset, pst_addr_t value)
{
	pst_addr_t interp, thread;
	struct world w;

	begin(&w, version);
	interp = make_interp(&w, 0, 0x8000000);
	thread = add_thread(&w, interp, 0x11, 0);
	add_thread(&w, interp, 0x22, 0);
	CHECK_DONE(list(&w), &w.err);
	put(&w, in_thread ? thread : interp, offset, value);
	unit_row("%s, %d", w.o.layout.row->name, offset);
	CHECK_ERROR(list(&w), &w.err, PST_ERR_TORN);
	CHECK_INT(w.py.n_threads, 2); /* the last list that was one */
	end(&w);
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
		struct world w;

		begin(&w, versions[v]);
		interp = make_interp(&w, 0, 0x8000000);
		first = add_thread(&w, interp, 0x11, 0);
		second = add_thread(&w, interp, 0x22, 0);
		put(&w, first, w.o.layout.off.thread_next, second);
		CHECK_ERROR(list(&w), &w.err, PST_ERR_TORN);
		put(&w, first, w.o.layout.off.thread_next, 0);
		CHECK_DONE(list(&w), &w.err);
		put(&w, interp, w.o.layout.off.interp_next, interp);
		CHECK_ERROR(list(&w), &w.err, PST_ERR_TORN);
		end(&w);
	}
}

static void test_no_interpreter(void)
{
	struct world w;

	begin(&w, V312);
	CHECK_ERROR(list(&w), &w.err, PST_ERR_TORN);
	w.py.head_word = 0x50;
	CHECK_ERROR(list(&w), &w.err, PST_ERR_TORN);
	end(&w);
}

static void test_errors(void)
{
	size_t n = 1;
	pst_addr_t interp;
	struct world w;

	begin(&w, V312);
	interp = make_interp(&w, 0, 0x8000000);
	add_thread(&w, interp, 0x11, 0);
	for (; n < 30; n++) {
		image_fail(&w.o.image, n, PST_ERR_GONE);
		if (list(&w) == 0)
			break;
		CHECK_INT(w.err.code, PST_ERR_GONE);
	}
	CHECK(n > 3 && n < 30);
	end(&w);
}

/* Second and later lists ask for the pages in one call. */
static void test_few_calls(void)
{
	pst_addr_t interp;
	struct world w;

	begin(&w, V312);
	interp = make_interp(&w, 0, 0x8000000);
	for (pst_addr_t i = 0; i < 5; i++)
		add_thread(&w, interp, 0x11 + i, gettid());
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(pst_view_misses(w.view), 7);
	image_forget(&w.o.image);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(w.o.image.n_calls, 1);
	CHECK_INT(pst_view_misses(w.view), 0);
	end(&w);
}

/* ---- the kernel's ids ---- */

static void test_native_ids(void)
{
	pst_addr_t interp, ours, unknown;
	struct world w;

	begin(&w, V312);
	interp = make_interp(&w, 0, 0x8000000);
	ours = add_thread(&w, interp, 0x11, gettid());
	unknown = add_thread(&w, interp, 0x22, 0x7fffffff);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(pst_python_thread(&w.py, ours)->tid, gettid());
	CHECK_INT(pst_python_thread(&w.py, ours)->watch.tid, gettid());
	CHECK_INT(pst_python_thread(&w.py, unknown)->tid, 0);
	end(&w);
}

/* Versions that do not keep it: it is in the C library's struct pthread, where it fits for all threads. */
static void check_pthread(int32_t offset, bool decoy)
{
	pst_addr_t interp, a, b, thread_a, thread_b;
	struct world w;

	begin(&w, V37);
	interp = make_interp(&w, 0, 0);
	a = image_alloc(&w.o.image, 0x400);
	b = image_alloc(&w.o.image, 0x400);
	image_put_int(&w.o.image, a + (pst_addr_t)offset, gettid());
	image_put_int(&w.o.image, b + (pst_addr_t)offset, gettid());
	if (decoy) /* in one of them only, and where it usually is */
		image_put_int(&w.o.image, a + 0x2d0, gettid());
	thread_a = add_thread(&w, interp, a, 0);
	thread_b = add_thread(&w, interp, b, 0);
	unit_row("%#x", (unsigned)offset);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(pst_python_thread(&w.py, thread_a)->tid, gettid());
	CHECK_INT(pst_python_thread(&w.py, thread_b)->tid, gettid());
	CHECK_INT(w.py.tid_offset, offset);
	end(&w);
}

static void test_pthread_ids(void)
{
	check_pthread(0x2d0, false);
	check_pthread(0x68, false);
	check_pthread(0x30, false);
	check_pthread(0x3fc, false);
	check_pthread(0x44, true);
}

static void test_no_ids(void)
{
	pst_addr_t interp, thread;
	struct world w;

	begin(&w, V37);
	interp = make_interp(&w, 0, 0);
	thread = add_thread(&w, interp, image_alloc(&w.o.image, 0x400), 0);
	add_thread(&w, interp, 0x50, 0);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, 0);
	CHECK_INT(w.py.tid_offset, 0);
	end(&w);
}

/* How often was the C library's memory of the thread looked at? */
static size_t looks(struct world *w, pst_addr_t pthread)
{
	const size_t n = image_count_reads(&w->o.image, pthread + 0x2d0);

	image_forget(&w->o.image);
	return n;
}

/* An id that is not found is looked for again now and then, and when a new thread may have it. */
static void test_retry(void)
{
	pst_addr_t interp, thread, pthread;
	struct world w;

	begin(&w, V37);
	interp = make_interp(&w, 0, 0);
	pthread = image_alloc(&w.o.image, 0x400);
	thread = add_thread(&w, interp, pthread, 0);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(looks(&w, pthread), 1);
	image_put_int(&w.o.image, pthread + 0x2d0, gettid());
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(looks(&w, pthread), 0);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, 0);
	w.py.find_tids_ns = 0;
	CHECK_DONE(list(&w), &w.err);
	CHECK(looks(&w, pthread) > 0);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, gettid());
	end(&w);
}

static void test_retry_for_new(void)
{
	pst_addr_t interp, thread, pthread;
	struct world w;

	begin(&w, V37);
	interp = make_interp(&w, 0, 0);
	CHECK_DONE(list(&w), &w.err);
	pthread = image_alloc(&w.o.image, 0x400);
	image_put_int(&w.o.image, pthread + 0x2d0, gettid());
	thread = add_thread(&w, interp, pthread, 0);
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, gettid());
	image_put_int(&w.o.image, pthread + 0x2d0, 0); /* what is known is not asked again */
	image_forget(&w.o.image);
	w.py.find_tids_ns = 0;
	CHECK_DONE(list(&w), &w.err);
	CHECK_INT(looks(&w, pthread), 0);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, gettid());
	end(&w);
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
	{ "ids in the thread state", test_native_ids },
	{ "ids in the C library's memory", test_pthread_ids },
	{ "no ids", test_no_ids },
	{ "ids are looked for again", test_retry },
	{ "ids of new threads", test_retry_for_new },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_list = { "list", NULL, NULL, NULL, NULL, tests };
