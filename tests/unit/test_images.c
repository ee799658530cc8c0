/* Images of real interpreters, read again: every thread, name, frame and line as the process itself said; and with
 * damage done to them. */
#include "unit.h"

#include "saved.h"

#include "pystill/python.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAMAGES 300u /* of each image */

/* By one look at a damaged image, in calls of its memory; by all looks at it, in seconds.  More is a loop without end:
 * then the memory ends, or the program. */
#define MAX_CALLS   400000u
#define MAX_SECONDS 300u

static const char *const images[] = { "2.3.7-64", "2.5.6-64", "2.6.9-64", "2.7.18-64",
	"2.7.18-debug-64", "3.0.1-64", "3.2.6-64", "3.3.7-64", "3.5.10-64", "3.6.15-64",
	"3.6.15-debug-64", "3.7.0-64", "3.7.16-64", "3.8.18-64", "3.9.18-64", "3.10.13-64",
	"3.11.7-64", "3.12.1-64", "3.13.0-64", "3.13.5-debug-64", "3.13.15t-64", "3.14.7-64",
	"3.14.10-64", "3.14.10-debug-64", "3.15.0rc1t-64", "3.15.2-64", "3.15.2-debug-64" };

/* One look at an image. */
struct replay {
	const char *name;
	struct saved saved;
	struct pst_target target;
	struct pst_names *names;
	struct pst_python *py;
	struct pst_view *view;
	struct pst_reading reading;
	struct pst_error err;
};

static bool open_replay(struct replay *w, const char *name)
{
	memset(w, 0, sizeof(*w));
	w->name = name;
	unit_row("%s", name);
	if (!CHECK(saved_open(&w->saved, name)))
		return false;
	w->target.mem = &w->saved.mem;
	w->view = pst_view_new(&w->saved.mem);
	pst_reading_init(&w->reading);
	return true;
}

static void forget_python(struct replay *w)
{
	pst_python_detach(w->py);
	pst_names_free(w->names);
	w->py = NULL;
	w->names = NULL;
}

static void close_replay(struct replay *w)
{
	forget_python(w);
	pst_reading_fini(&w->reading);
	pst_view_free(w->view);
	saved_close(&w->saved);
}

/* A new interpreter, with the row that discovery would choose. */
static int attach(struct replay *w, bool published)
{
	struct saved *s = &w->saved;
	bool newer = false;
	const struct pst_abi *row = pst_abi_find(&s->key, &newer);

	forget_python(w);
	w->names = pst_names_new();
	w->py = pst_python_new(&w->target, w->names);
	MUST(row && !newer);
	CHECK_TEXT(row->name, s->abi);
	w->py->version = s->key.version;
	w->py->roots = s->roots;
	if (pst_abi_resolve(row, &s->mem, &s->roots, published, &w->py->layout, &w->err) < 0)
		return -1;
	w->py->head_word = pst_abi_head_word(&w->py->layout, &w->py->roots);
	return 0;
}

static int list(struct replay *w)
{
	if (pst_python_list(w->py, w->view, &w->err) < 0)
		return -1;
	pst_python_find_names(w->py);
	return 0;
}

/* The stack of one thread, leaf first and from malloc; NULL with ERR set.  As exact bytes it comes from the memory
 * itself, else by way of the view, whose reads are of pages. */
static struct pst_frame *read_stack(struct replay *w, struct pst_pythread *t, uint32_t *n)
{
	struct pst_mem *mem = w->saved.exact ? &w->saved.mem : pst_view_mem(w->view);
	struct pst_frame *frames;

	pst_view_reset(w->view);
	if (pst_python_read(w->py, t, mem, &w->reading, &w->err) < 0)
		return NULL;
	CHECK(w->reading.stack.n <= PST_MAX_FRAMES && w->reading.stack.n <= w->reading.stack.cap);
	frames = pst_xcalloc(w->reading.stack.n, sizeof(*frames));
	if (pst_python_resolve(w->py, t, &w->reading, frames, n, &w->err) < 0)
		free(pst_steal(&frames));
	return frames;
}

/* ---- what the process said ---- */

static const char *text_of(const struct replay *w, pst_name_id id)
{
	return pst_names_get(w->names, id, NULL);
}

/* Where the functions of tests/targets/image.py begin. */
static const struct {
	const char *function;
	int32_t line;
} first_lines[] = { { "leaf", 38 }, { "recursion", 43 }, { "generator", 50 }, { "drive", 55 },
	{ "__init__", 61 }, { "Thing.__init__", 61 }, { "initializer", 65 }, { "gap", 70 },
	{ "long_line", 80 } };

static void check_frame(const struct replay *w, const struct pst_frame *frame,
	const struct saved_frame *said, const char *name, size_t depth)
{
	const struct pst_func func = pst_names_func_get(w->names, frame->func);

	unit_row("%s, %s, frame %zu", w->name, name, depth);
	CHECK_TEXT(text_of(w, func.file), said->file);
	CHECK_TEXT(text_of(w, func.name), said->function);
	CHECK_INT(frame->line, said->line);
	for (size_t i = 0; i < PST_ARRAY_SIZE(first_lines); i++)
		if (strcmp(said->function, first_lines[i].function) == 0)
			CHECK_INT(func.line, first_lines[i].line);
}

static void check_stack(struct replay *w, struct pst_pythread *t, const struct saved_thread *said)
{
	uint32_t n = 0;
	cleanup_free struct pst_frame *frames = read_stack(w, t, &n);

	if (!CHECK_DONE(frames ? 0 : -1, &w->err) || !CHECK_INT(n, said->n))
		return;
	CHECK(!w->reading.stack.truncated);
	for (uint32_t i = 0; i < n; i++)
		check_frame(w, &frames[n - 1 - i], &said->frames[i], said->name, i);
}

static struct pst_pythread *find_thread(const struct replay *w, pst_addr_t ident)
{
	struct pst_pythread *found = NULL;

	for (size_t i = 0; i < w->py->n_threads; i++)
		if (w->py->threads[i]->ident == ident && CHECK(!found))
			found = w->py->threads[i];
	return found;
}

static void check_thread(struct replay *w, const struct saved_thread *said, const char *how)
{
	struct pst_pythread *t = find_thread(w, said->ident);

	unit_row("%s, %s, %s", w->name, how, said->name);
	if (!CHECK(t != NULL))
		return;
	CHECK_TEXT(text_of(w, t->name), said->name);
	CHECK(!t->attached);
	CHECK_INT(t->tid, 0); /* there is no such process */
	check_stack(w, t, said);
	check_stack(w, t, said); /* from what is known now */
}

/* ---- what all of them have in common ---- */

/* The main thread made the others, and said its name last. */
static const struct pst_pythread *main_thread(const struct replay *w)
{
	return find_thread(w, w->saved.threads[w->saved.n_threads - 1].ident);
}

/* From 3.11 on a thread state has the kernel's id, which grows from thread to thread. */
static void check_list(const struct replay *w)
{
	const struct pst_pythread *main_one = main_thread(w);
	const size_t n = w->py->n_threads;

	CHECK_INT(n, w->saved.n_threads);
	CHECK(main_one && main_one->index == n - 1);
	for (size_t i = 0; i < n; i++) {
		const struct pst_pythread *t = w->py->threads[i];

		CHECK_INT(t->index, i);
		CHECK(t->interp == w->py->threads[0]->interp && t->gil == 0);
		CHECK_INT(t->inner_tid > 0, w->saved.key.version >= PST_PY(3, 11, 0));
		CHECK(t == main_one || !t->inner_tid || t->inner_tid > main_one->inner_tid);
		for (size_t k = 0; k < i; k++)
			CHECK(!t->inner_tid || t->inner_tid != w->py->threads[k]->inner_tid);
	}
}

/* All threads rest, the main one since last; each must have held the GIL to get there.  Before 3.2 nobody counts. */
static void check_gil(struct replay *w)
{
	const bool counted = w->saved.key.version >= PST_PY(3, 2, 0);
	struct pst_gil_state g;

	CHECK_INT(w->py->n_gils, 1);
	if (!CHECK_DONE(pst_gil_read(w->py, 0, &g, &w->err), &w->err))
		return;
	CHECK_INT(g.absent, w->saved.key.flavour == PST_FREE_THREADED);
	CHECK_INT(g.holder, 0);
	if (g.absent)
		return;
	CHECK_INT(g.locked, 0);
	CHECK_INT(g.counted, counted);
	CHECK_INT(g.last_holder, counted && main_thread(w) ? main_thread(w)->state : 0);
	CHECK(!counted || g.switches >= w->saved.n_threads);
}

static void look(struct replay *w, bool published, const char *how)
{
	unit_row("%s, %s", w->name, how);
	if (!CHECK_DONE(attach(w, published), &w->err) || !CHECK_DONE(list(w), &w->err))
		return;
	CHECK_INT(w->py->layout.published, published && w->saved.key.version >= PST_PY(3, 13, 0));
	check_list(w);
	check_gil(w);
	for (size_t i = 0; i < w->saved.n_threads; i++)
		check_thread(w, &w->saved.threads[i], how);
}

static void test_said(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(images); i++) {
		struct replay w;

		if (!open_replay(&w, images[i]))
			continue;
		w.saved.exact = true;
		look(&w, true, "exact");
		look(&w, false, "exact, by the tables");
		close_replay(&w);
	}
}

/* Reads of whole pages find bytes that nobody asked for: whatever they are, nothing may change. */
static void test_pages(void)
{
	static const int fills[] = { 0xdb, 0, 0xff, -1 };

	for (size_t i = 0; i < PST_ARRAY_SIZE(images); i++) {
		struct replay w;

		if (!open_replay(&w, images[i]))
			continue;
		for (size_t k = 0; k < PST_ARRAY_SIZE(fills); k++) {
			saved_fill(&w.saved, fills[k]);
			look(&w, true, "pages");
			look(&w, false, "pages, by the tables");
		}
		close_replay(&w);
	}
}

/* No image lies there unread. */
static void test_all(void)
{
	cleanup_free char *folder = saved_folder();
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	size_t n = 0;

	REQUIRE(dir != NULL);
	while ((entry = readdir(dir)))
		n += strstr(entry->d_name, ".image") != NULL;
	closedir(dir);
	CHECK_INT(n, PST_ARRAY_SIZE(images));
}

/* ---- damage ---- */

/* Everything that there is, whatever it is.  Returns whether all of it could be read. */
static bool look_anyhow(struct replay *w)
{
	bool all = attach(w, true) == 0 && list(w) == 0;

	for (size_t i = 0; all && i < w->py->n_threads; i++) {
		struct pst_gil_state gil;
		uint32_t n = 0;
		cleanup_free struct pst_frame *frames = read_stack(w, w->py->threads[i], &n);

		CHECK(!frames || n <= w->reading.stack.n);
		for (uint32_t k = 0; frames && k < n; k++)
			CHECK(frames[k].func && frames[k].func <= pst_names_func_count(w->names));
		all = frames && pst_gil_read(w->py, w->py->threads[i]->gil, &gil, &w->err) == 0;
	}
	return all;
}

/* Never a crash, a loop, or a read of our own memory that is not there (the sanitizers tell): an error, or frames.
 * Takes the damage back, and returns whether it went unnoticed. */
static bool check_harmless(struct replay *w)
{
	bool all;

	w->err = (struct pst_error){ 0 };
	w->saved.calls = 0;
	all = look_anyhow(w);
	CHECK(all || w->err.msg[0]);
	CHECK(w->saved.calls < MAX_CALLS);
	saved_undo(&w->saved);
	return all;
}

static bool check_damage(struct replay *w, unsigned number)
{
	uint64_t state = number;

	unit_row("%s, damage %u", w->name, number);
	for (size_t n = 1 + unit_random(&state) % 3; n; n--)
		saved_damage(&w->saved, &state);
	w->saved.exact = number % 2;
	return check_harmless(w);
}

static void test_damage(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(images); i++) {
		size_t refused = 0;
		struct replay w;

		if (!open_replay(&w, images[i]))
			continue;
		w.saved.limit = MAX_CALLS;
		alarm(MAX_SECONDS);
		for (unsigned number = 1; number <= DAMAGES; number++)
			refused += !check_damage(&w, number);
		alarm(0);
		unit_row("%s", images[i]);
		CHECK(refused > DAMAGES / 8 && refused < DAMAGES);
		w.saved.calls = 0;
		look(&w, true, "mended");
		close_replay(&w);
	}
}

/* What 3.13 and later publish is as hostile as the rest: one offset at a time that leads out of its struct, or to
 * another member. */
static void check_published(struct replay *w, pst_addr_t slot)
{
	static const uint64_t values[] = { 0, 1, 200, 260, 1000, 1100, 1u << 20, (1u << 20) + 1 };

	for (size_t i = 0; i < PST_ARRAY_SIZE(values); i++) {
		unit_row("%s, %" PRIu64 " at %" PRIu64, w->name, values[i],
			slot - w->saved.roots.runtime);
		saved_put(&w->saved, slot, &values[i], sizeof(values[i]));
		check_harmless(w);
	}
}

static void test_published(void)
{
	const size_t first = sizeof(struct pst_self_description);

	for (size_t i = 0; i < PST_ARRAY_SIZE(images); i++) {
		struct replay w;

		if (!open_replay(&w, images[i]))
			continue;
		w.saved.limit = MAX_CALLS;
		alarm(MAX_SECONDS);
		if (w.saved.key.version >= PST_PY(3, 13, 0))
			for (size_t at = first; at < saved_run(&w.saved, w.saved.roots.runtime);
				at += 8)
				check_published(&w, w.saved.roots.runtime + at);
		alarm(0);
		close_replay(&w);
	}
}

static CU_TestInfo tests[] = {
	{ "as the process said", test_said },
	{ "in pages", test_pages },
	{ "all that there are", test_all },
	{ "damaged", test_damage },
	{ "damaged offsets", test_published },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_images = { "images", NULL, NULL, NULL, NULL, tests };
