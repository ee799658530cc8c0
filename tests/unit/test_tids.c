/* The kernel's ids of threads: those of this process. */
#define _GNU_SOURCE
#include "unit.h"

#include "process.h"

#include <stdlib.h>
#include <unistd.h>

static void test_native_ids(void)
{
	pst_addr_t interp, ours, unknown;
	struct process w;

	process_begin(&w, V312);
	interp = process_interp(&w, 0, 0x8000000);
	ours = process_thread(&w, interp, 0x11, gettid());
	unknown = process_thread(&w, interp, 0x22, 0x7fffffff);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(pst_python_thread(&w.py, ours)->tid, gettid());
	CHECK_INT(pst_python_thread(&w.py, ours)->watch.tid, gettid());
	CHECK_INT(pst_python_thread(&w.py, unknown)->tid, 0);
	process_end(&w);
}

/* Versions that do not keep it: it is in the C library's struct pthread, where it fits for all threads. */
static void check_pthread(int32_t offset, bool decoy)
{
	pst_addr_t interp, a, b, thread_a, thread_b;
	struct process w;

	process_begin(&w, V37);
	interp = process_interp(&w, 0, 0);
	a = image_alloc(&w.o.image, 0x400);
	b = image_alloc(&w.o.image, 0x400);
	image_put_int(&w.o.image, a + (pst_addr_t)offset, gettid());
	image_put_int(&w.o.image, b + (pst_addr_t)offset, gettid());
	if (decoy) /* in one of them only, and where it usually is */
		image_put_int(&w.o.image, a + 0x2d0, gettid());
	thread_a = process_thread(&w, interp, a, 0);
	thread_b = process_thread(&w, interp, b, 0);
	unit_row("%#x", (unsigned)offset);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(pst_python_thread(&w.py, thread_a)->tid, gettid());
	CHECK_INT(pst_python_thread(&w.py, thread_b)->tid, gettid());
	CHECK_INT(w.py.tid_offset, offset);
	process_end(&w);
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
	struct process w;

	process_begin(&w, V37);
	interp = process_interp(&w, 0, 0);
	thread = process_thread(&w, interp, image_alloc(&w.o.image, 0x400), 0);
	process_thread(&w, interp, 0x50, 0);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, 0);
	CHECK_INT(w.py.tid_offset, 0);
	process_end(&w);
}

/* Memory that cannot be read says nothing, for or against an offset. */
static void test_unreadable_ids(void)
{
	pst_addr_t interp, pthread, thread;
	struct process w;

	process_begin(&w, V37);
	interp = process_interp(&w, 0, 0);
	process_thread(&w, interp, 0x50, 0);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.tid_offset, 0);
	pthread = image_alloc(&w.o.image, 0x400);
	image_put_int(&w.o.image, pthread + 0x44, gettid());
	thread = process_thread(&w, interp, pthread, 0);
	process_thread(&w, interp, 0x51, 0);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(w.py.tid_offset, 0x44);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, gettid());
	process_end(&w);
}

/* How often was the C library's memory of the thread looked at? */
static size_t looks(struct process *w, pst_addr_t pthread)
{
	const size_t n = image_count_reads(&w->o.image, pthread + 0x2d0);

	image_forget(&w->o.image);
	return n;
}

/* An id that is not found is looked for again now and then, and when a new thread may have it. */
static void test_retry(void)
{
	pst_addr_t interp, thread, pthread;
	struct process w;

	process_begin(&w, V37);
	interp = process_interp(&w, 0, 0);
	pthread = image_alloc(&w.o.image, 0x400);
	thread = process_thread(&w, interp, pthread, 0);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(looks(&w, pthread), 1);
	image_put_int(&w.o.image, pthread + 0x2d0, gettid());
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(looks(&w, pthread), 0);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, 0);
	w.py.find_tids_ns = 0;
	CHECK_DONE(process_list(&w), &w.err);
	CHECK(looks(&w, pthread) > 0);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, gettid());
	process_end(&w);
}

static void test_retry_for_new(void)
{
	pst_addr_t interp, thread, pthread;
	struct process w;

	process_begin(&w, V37);
	interp = process_interp(&w, 0, 0);
	CHECK_DONE(process_list(&w), &w.err);
	pthread = image_alloc(&w.o.image, 0x400);
	image_put_int(&w.o.image, pthread + 0x2d0, gettid());
	thread = process_thread(&w, interp, pthread, 0);
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, gettid());
	image_put_int(&w.o.image, pthread + 0x2d0, 0); /* what is known is not asked again */
	image_forget(&w.o.image);
	w.py.find_tids_ns = 0;
	CHECK_DONE(process_list(&w), &w.err);
	CHECK_INT(looks(&w, pthread), 0);
	CHECK_INT(pst_python_thread(&w.py, thread)->tid, gettid());
	process_end(&w);
}

static CU_TestInfo tests[] = {
	{ "ids in the thread state", test_native_ids },
	{ "ids in the C library's memory", test_pthread_ids },
	{ "no ids", test_no_ids },
	{ "ids that cannot be read", test_unreadable_ids },
	{ "ids are looked for again", test_retry },
	{ "ids of new threads", test_retry_for_new },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_tids = { "tids", NULL, NULL, NULL, NULL, tests };
