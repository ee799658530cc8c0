/* Reading one stack while the target runs, and what proves that it stood still: rest, or the GIL. */
#include "internal.h"

#define TWICE_TRIES 3

bool pst_error_is_fatal(const struct pst_error *err)
{
	return err->code == PST_ERR_GONE || err->code == PST_ERR_PERM ||
		err->code == PST_ERR_UNSUPPORTED;
}

struct verdict pst_verdict_of(const struct pst_error *err)
{
	return verdict_failed(err->code == PST_ERR_LATE ? PST_FAIL_HELD : PST_FAIL_TORN);
}

void pst_reader_init(struct reader *reader, struct pst_python *py)
{
	reader->py = py;
	reader->view = pst_view_new(py->target->mem);
	pst_reading_init(&reader->second);
}

void pst_reader_fini(struct reader *reader)
{
	pst_view_free(reader->view);
	pst_reading_fini(&reader->second);
}

int pst_reader_read(
	struct reader *reader, struct pst_pythread *t, struct pst_reading *r, struct pst_error *err)
{
	pst_view_reset(reader->view);
	if (pst_view_fetch(reader->view, NULL, 0, &t->pages, NULL, 0, err) < 0)
		return -1;
	return pst_python_read(reader->py, t, pst_view_mem(reader->view), r, err);
}

/* Learn when pages were missing, or when the stack has become so shallow that most are not needed. */
static void learn_pages(struct reader *reader, struct pst_pythread *t, size_t from)
{
	const size_t to = pst_view_mark(reader->view);

	if (pst_view_misses(reader->view) || (to - from) * 2 < t->pages.n)
		pst_view_touched(reader->view, from, to, &t->pages);
}

int pst_reader_look(
	struct reader *reader, struct pst_pythread *t, struct pst_reading *r, struct pst_error *err)
{
	int result;

	pst_view_limit(reader->view, 0);
	result = pst_reader_read(reader, t, r, err);
	learn_pages(reader, t, 0);
	return result;
}

bool pst_reader_resting(struct reader *reader, struct pst_pythread *t, struct pst_reading *r,
	uint64_t runs, struct pst_error *err)
{
	return pst_reader_look(reader, t, r, err) == 0 && pst_watch_rested(&t->watch, runs);
}

bool pst_reader_preempted(
	struct reader *reader, struct pst_pythread *t, struct pst_reading *r, struct pst_error *err)
{
	uint64_t runs;

	return t->tid && pst_watch_preempted(&t->watch, &runs) &&
		pst_reader_resting(reader, t, r, runs, err);
}

bool pst_reader_aside(struct reader *reader, struct pst_pythread *t, struct pst_reading *r,
	const struct pst_gil_state *g, struct pst_error *err)
{
	struct pst_gil_state after;

	return pst_reader_look(reader, t, r, err) == 0 &&
		pst_gil_read(reader->py, t->gil, &after, err) == 0 &&
		pst_gil_proves(g, &after, t->state);
}

static bool same_stack(const struct pst_raw_stack *a, const struct pst_raw_stack *b)
{
	if (a->n != b->n || a->truncated != b->truncated)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->v[i].frame != b->v[i].frame || a->v[i].code != b->v[i].code ||
			a->v[i].lasti != b->v[i].lasti)
			return false;
	return true;
}

struct verdict pst_reader_twice(struct reader *reader, struct pst_pythread *t,
	struct pst_reading *r, bool moving, struct pst_error *err)
{
	const struct verdict unproved = { .proof = PST_UNPROVED };
	bool sensible = false;

	for (int i = 0; i < TWICE_TRIES; i++) {
		sensible = pst_reader_look(reader, t, r, err) == 0;
		if (!sensible && pst_error_is_fatal(err))
			return pst_verdict_of(err);
		if (sensible && pst_reader_look(reader, t, &reader->second, err) == 0 &&
			same_stack(&r->stack, &reader->second.stack))
			return unproved;
	}
	if (sensible && moving)
		return unproved;
	if (!sensible && pst_thread_is_another(reader->py, t))
		return verdict_gone();
	return verdict_failed(sensible ? PST_FAIL_MOVED : PST_FAIL_TORN);
}
