/* The lists of interpreters, threads and GILs, and what the GIL's words say. */
#define _GNU_SOURCE
#include "internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INTERPS     4096u
#define MAX_THREADS     100000u
#define MAX_STATE_BYTES 1024
#define TID_RETRY_NS    (100 * PST_NSEC_PER_MSEC)
#define PTHREAD_BYTES   0x400 /* of struct pthread: the id lies in its first part in glibc and musl */

/* ---- the GIL ---- */

static void add_range(struct pst_range *ranges, size_t *n, pst_addr_t addr, size_t size, void *buf)
{
	if (addr)
		ranges[(*n)++] = (struct pst_range){ addr, size, buf };
}

size_t pst_gil_ranges(
	const struct pst_python *py, size_t gil, struct pst_gil_raw *raw, struct pst_range *ranges)
{
	const struct pst_gil_words *w = &py->gils[gil];
	const unsigned word = py->target->mem->word_bytes;
	size_t n = 0;

	memset(raw, 0, sizeof(*raw));
	/* Mostly they lie in a row, as struct pst_gil_raw has them. */
	if (!w->current && !w->enabled && w->locked == w->last_holder + 8 &&
		w->switches == w->locked + 8) {
		add_range(ranges, &n, w->last_holder, 24, raw);
		return n;
	}
	add_range(ranges, &n, w->current, word, raw->current);
	add_range(ranges, &n, w->last_holder, word, raw->last_holder);
	add_range(ranges, &n, w->locked, sizeof(int32_t), raw->locked);
	add_range(ranges, &n, w->switches, word, raw->switches);
	add_range(ranges, &n, w->enabled, sizeof(int32_t), raw->enabled);
	return n;
}

struct pst_gil_state pst_gil_decode(
	const struct pst_python *py, size_t gil, const struct pst_gil_raw *raw)
{
	const struct pst_gil_words *w = &py->gils[gil];
	const struct pst_mem *mem = py->target->mem;
	struct pst_gil_state g = {
		.last_holder = pst_mem_word_at(mem, raw->last_holder),
		.switches = pst_mem_word_at(mem, raw->switches),
	};

	int32_t enabled;

	memcpy(&g.locked, raw->locked, sizeof(g.locked));
	memcpy(&enabled, raw->enabled, sizeof(enabled));
	g.absent = w->enabled && !enabled;
	if (g.absent)
		return g;
	g.counted = w->switches && g.locked >= 0;
	if (w->current)
		g.holder = pst_mem_word_at(mem, raw->current);
	else
		g.holder = g.locked > 0 ? g.last_holder : 0;
	return g;
}

int pst_gil_read(
	const struct pst_python *py, size_t gil, struct pst_gil_state *out, struct pst_error *err)
{
	struct pst_range ranges[PST_GIL_RANGES];
	struct pst_gil_raw raw;
	const size_t n = pst_gil_ranges(py, gil, &raw, ranges);
	const int got = pst_mem_readv(py->target->mem, ranges, n, err);

	if (got < 0)
		return -1;
	if ((size_t)got < n)
		return pst_error_set(err, PST_ERR_TORN, 0, "no GIL at %#" PRIx64, ranges[got].addr);
	*out = pst_gil_decode(py, gil, &raw);
	return 0;
}

/* A thread's frames change only while it is the last holder, and each change of the last holder is counted
 * (take_gil() in Python/ceval_gil.c): it cannot have become it and ceased to be it unseen. */
bool pst_gil_proves(
	const struct pst_gil_state *before, const struct pst_gil_state *after, pst_addr_t state)
{
	return before->counted && after->counted && before->switches == after->switches &&
		before->last_holder == after->last_holder && before->last_holder != state &&
		before->holder != state && after->holder != state;
}

/* PyThreadState.state: 0 detached, 1 attached, 2 suspended, 3 shutting down, 4 and 5 detached or suspended and
 * waiting (Include/internal/pycore_pystate.h, 3.13+). */
#define STATE_ATTACHED 1

bool pst_thread_is_attached(const struct pst_python *py, pst_addr_t state)
{
	int32_t value = 0;

	return py->layout.off.thread_state != PST_ABSENT &&
		pst_mem_read_i32(py->target->mem, state + (pst_addr_t)py->layout.off.thread_state,
			&value, &(struct pst_error){ 0 }) == 0 &&
		value == STATE_ATTACHED;
}

static int add_gil(struct pst_python *py, struct pst_mem *mem, pst_addr_t interp, size_t *index,
	struct pst_error *err)
{
	struct pst_gil_words words;

	if (py->layout.gil(&py->layout, &py->roots, mem, interp, &words, err) < 0)
		return -1;
	for (*index = 0; *index < py->n_gils; (*index)++)
		if (memcmp(&py->gils[*index], &words, sizeof(words)) == 0)
			return 0;
	py->gils = pst_grow(py->gils, &py->cap_gils, py->n_gils + 1, sizeof(*py->gils));
	py->gils[py->n_gils++] = words;
	return 0;
}

/* ---- the kernel's thread ids ---- */

struct tid_pair {
	pid_t outer, inner; /* in our pid namespace, in the target's own */
};

/* All threads of the target under both ids, from malloc. */
static size_t list_tids(const struct pst_target *target, struct tid_pair **out)
{
	cleanup_free pid_t *tids = NULL;
	const int n = pst_procfs_tids(target->pid, &tids, NULL);
	size_t found = 0;

	*out = pst_xcalloc(n > 0 ? (size_t)n : 1, sizeof(**out));
	for (int i = 0; i < n; i++) {
		struct pst_status st;

		if (pst_procfs_status(target->pid, tids[i], &st, NULL) < 0)
			continue;
		(*out)[found++] = (struct tid_pair){ tids[i],
			st.n_ns_pid ? st.ns_pid[st.n_ns_pid - 1] : tids[i] };
	}
	return found;
}

static pid_t outer_tid(const struct tid_pair *pairs, size_t n, int32_t inner)
{
	for (size_t i = 0; i < n; i++)
		if (pairs[i].inner == inner)
			return pairs[i].outer;
	return 0;
}

/* Where in struct pthread is the kernel's id?  At the one offset that holds the id of a thread of this
 * process in all threads.  The usual one of glibc is tried first. */
static int32_t find_tid_offset(
	const struct pst_python *py, const struct tid_pair *pairs, size_t n_pairs)
{
	static const int32_t usual[] = { 0x2d0, 0x68, 0xd0 };
	unsigned char fits[PTHREAD_BYTES / 4];
	size_t readable = 0;

	memset(fits, 1, sizeof(fits));
	for (size_t i = 0; i < py->n_threads; i++) {
		int32_t ids[PTHREAD_BYTES / 4];

		if (pst_mem_read(py->target->mem, py->threads[i]->ident, ids, sizeof(ids),
			    &(struct pst_error){ 0 }) < 0)
			continue;
		readable++;
		for (size_t k = 0; k < PST_ARRAY_SIZE(ids); k++)
			fits[k] &= ids[k] > 0 && outer_tid(pairs, n_pairs, ids[k]);
	}
	for (size_t i = 0; readable && i < PST_ARRAY_SIZE(usual); i++)
		if (fits[usual[i] / 4])
			return usual[i];
	for (size_t k = 0; readable && k < PST_ARRAY_SIZE(fits); k++)
		if (fits[k])
			return (int32_t)(k * 4);
	return 0;
}

static void find_tid(
	struct pst_python *py, struct pst_pythread *t, const struct tid_pair *pairs, size_t n_pairs)
{
	int32_t id = 0;

	t->tid = t->inner_tid ? outer_tid(pairs, n_pairs, t->inner_tid) : 0;
	if (!t->tid && !py->tid_offset)
		py->tid_offset = find_tid_offset(py, pairs, n_pairs);
	if (!t->tid && py->tid_offset &&
		pst_mem_read_i32(py->target->mem, t->ident + (pst_addr_t)py->tid_offset, &id,
			&(struct pst_error){ 0 }) == 0)
		t->tid = outer_tid(pairs, n_pairs, id);
	if (t->tid)
		pst_watch_open(&t->watch, py->target->pid, t->tid);
}

/* Threads whose id is not to be found are looked for again now and then, not at every sample. */
static void find_tids(struct pst_python *py, bool new_threads)
{
	cleanup_free struct tid_pair *pairs = NULL;
	const int64_t now_ns = pst_now_ns();
	size_t n_pairs = 0;

	if (!new_threads && now_ns < py->find_tids_ns)
		return;
	py->find_tids_ns = now_ns + TID_RETRY_NS;
	for (size_t i = 0; i < py->n_threads; i++) {
		if (py->threads[i]->tid)
			continue;
		if (!pairs)
			n_pairs = list_tids(py->target, &pairs);
		find_tid(py, py->threads[i], pairs, n_pairs);
	}
}

/* ---- the list of threads ---- */

/* A thread state as it was listed. */
struct listed {
	pst_addr_t state, interp, ident, next, prev, owner;
	int32_t inner_tid, run_state;
	size_t gil;
};

struct listing {
	struct listed *v;
	size_t n, cap;
};

static int32_t state_bytes(const struct pst_offsets *o, unsigned word)
{
	const int32_t ends[] = { o->thread_prev, o->thread_next, o->thread_interp,
		o->thread_thread_id, o->thread_native_thread_id, o->thread_state };
	int32_t end = 0;

	for (size_t i = 0; i < PST_ARRAY_SIZE(ends); i++)
		if (ends[i] + (int32_t)word > end)
			end = ends[i] + (int32_t)word;
	return end;
}

static int read_state(const struct pst_python *py, struct pst_mem *mem, pst_addr_t state,
	struct listed *out, struct pst_error *err)
{
	const struct pst_offsets *o = &py->layout.off;
	const int32_t size = state_bytes(o, mem->word_bytes);
	unsigned char b[MAX_STATE_BYTES];

	if (size > MAX_STATE_BYTES)
		return pst_error_set(
			err, PST_ERR_UNSUPPORTED, 0, "thread states of %d bytes", size);
	if (pst_mem_read(mem, state, b, (size_t)size, err) < 0)
		return -1;
	*out = (struct listed){ .state = state };
	out->next = pst_mem_word_at(mem, b + o->thread_next);
	out->owner = pst_mem_word_at(mem, b + o->thread_interp);
	out->ident = pst_mem_word_at(mem, b + o->thread_thread_id);
	if (o->thread_prev != PST_ABSENT)
		out->prev = pst_mem_word_at(mem, b + o->thread_prev);
	if (o->thread_native_thread_id != PST_ABSENT)
		out->inner_tid = (int32_t)pst_mem_word_at(mem, b + o->thread_native_thread_id);
	if (o->thread_state != PST_ABSENT)
		memcpy(&out->run_state, b + o->thread_state, sizeof(out->run_state));
	return 0;
}

/* A new thread state has the ids of the thread that made it until its own thread begins to run (thread_run() in
 * Modules/_threadmodule.c): what is known of the one is then no proof for the other. */
int pst_thread_check(const struct pst_python *py, const struct pst_pythread *t, struct pst_mem *mem,
	struct pst_error *err)
{
	struct listed now;

	if (read_state(py, mem, t->state, &now, err) < 0)
		return -1;
	if (now.ident == t->ident && now.inner_tid == t->inner_tid && now.owner == t->interp)
		return 0;
	return pst_error_set(
		err, PST_ERR_TORN, 0, "the thread at %#" PRIx64 " is another one now", t->state);
}

bool pst_thread_is_another(const struct pst_python *py, const struct pst_pythread *t)
{
	struct pst_error err = { 0 };

	return pst_thread_check(py, t, py->target->mem, &err) < 0 && err.code == PST_ERR_TORN;
}

static int list_states(const struct pst_python *py, struct pst_mem *mem, pst_addr_t interp,
	size_t gil, struct listing *l, struct pst_error *err)
{
	const struct pst_offsets *o = &py->layout.off;
	pst_addr_t state, previous = 0;

	if (pst_mem_read_addr(mem, interp + (pst_addr_t)o->interp_threads_head, &state, err) < 0)
		return -1;
	while (state) {
		struct listed t;

		if (read_state(py, mem, state, &t, err) < 0)
			return -1;
		if (t.owner != interp || (o->thread_prev != PST_ABSENT && t.prev != previous) ||
			l->n == MAX_THREADS)
			return pst_error_set(err, PST_ERR_TORN, 0,
				"the list of threads changed at %#" PRIx64, state);
		t.interp = interp;
		t.gil = gil;
		l->v = pst_grow(l->v, &l->cap, l->n + 1, sizeof(*l->v));
		l->v[l->n++] = t;
		previous = state;
		state = t.next;
	}
	return 0;
}

static int list_interps(
	struct pst_python *py, struct pst_mem *mem, struct listing *l, struct pst_error *err)
{
	pst_addr_t interp;

	if (pst_mem_read_addr(mem, py->head_word, &interp, err) < 0)
		return -1;
	if (!interp)
		return pst_error_set(err, PST_ERR_TORN, 0, "Python has ended in the process");
	for (size_t n = 0; interp; n++) {
		size_t gil;

		if (n == MAX_INTERPS)
			return pst_error_set(
				err, PST_ERR_TORN, 0, "the list of interpreters is a ring");
		if (add_gil(py, mem, interp, &gil, err) < 0 ||
			list_states(py, mem, interp, gil, l, err) < 0 ||
			pst_mem_read_addr(mem, interp + (pst_addr_t)py->layout.off.interp_next,
				&interp, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_listed(const struct pst_pythread *t, const struct listed *l)
{
	return t->state == l->state && t->interp == l->interp && t->ident == l->ident &&
		t->inner_tid == l->inner_tid && t->gil == l->gil;
}

static bool same_list(const struct pst_python *py, const struct listing *l)
{
	if (py->n_threads != l->n)
		return false;
	for (size_t i = 0; i < l->n; i++)
		if (!is_listed(py->threads[i], &l->v[i]))
			return false;
	return true;
}

static void free_thread(struct pst_pythread *t)
{
	if (!t)
		return;
	if (t->tid)
		pst_watch_close(&t->watch);
	pst_pages_fini(&t->pages);
	free(t->last.v);
	free(t->last_frames);
	free(t);
}

static struct pst_pythread *new_thread(const struct listed *l)
{
	struct pst_pythread *t = pst_xcalloc(1, sizeof(*t));

	t->state = l->state;
	t->interp = l->interp;
	t->ident = l->ident;
	t->inner_tid = l->inner_tid;
	t->gil = l->gil;
	return t;
}

static int by_state(const void *a, const void *b)
{
	const pst_addr_t x = (*(struct pst_pythread *const *)a)->state,
			 y = (*(struct pst_pythread *const *)b)->state;

	return (x > y) - (x < y);
}

/* Take the new list over: threads that were known keep what is known of them. */
static void merge_list(struct pst_python *py, const struct listing *l)
{
	struct pst_pythread **old = py->threads;
	const size_t n_old = py->n_threads;
	cleanup_free bool *taken = pst_xcalloc(n_old, sizeof(*taken));

	if (n_old)
		qsort(old, n_old, sizeof(*old), by_state);
	py->threads = pst_xcalloc(l->n, sizeof(*py->threads));
	py->n_threads = l->n;
	for (size_t i = 0; i < l->n; i++) {
		const struct pst_pythread key = { .state = l->v[i].state }, *const at_key = &key;
		struct pst_pythread **at =
			n_old ? bsearch(&at_key, old, n_old, sizeof(*old), by_state) : NULL;

		if (at && is_listed(*at, &l->v[i]) && !taken[at - old]) {
			py->threads[i] = *at;
			taken[at - old] = true;
		} else {
			py->threads[i] = new_thread(&l->v[i]);
		}
		py->threads[i]->index = i;
	}
	for (size_t i = 0; i < n_old; i++)
		if (!taken[i])
			free_thread(old[i]);
	free(old);
}

/* GILs are only ever added while nothing changes: forget those that no interpreter uses any more. */
static void forget_gils(struct pst_python *py)
{
	py->n_gils = 0;
}

int pst_python_list(struct pst_python *py, struct pst_view *view, struct pst_error *err)
{
	struct pst_mem *mem = pst_view_mem(view);
	struct listing l = { 0 };
	bool changed;
	size_t from;

	pst_view_reset(view);
	pst_view_limit(view, 0);
	if (pst_view_fetch(view, NULL, 0, &py->list_pages, NULL, 0, err) < 0)
		return -1;
	from = pst_view_mark(view);
	forget_gils(py);
	if (list_interps(py, mem, &l, err) < 0) {
		free(l.v);
		return -1;
	}
	if (pst_view_misses(view))
		pst_view_touched(view, from, pst_view_mark(view), &py->list_pages);
	changed = !same_list(py, &l);
	if (changed)
		merge_list(py, &l);
	py->list_changes += changed;
	for (size_t i = 0; i < l.n; i++)
		py->threads[i]->attached = l.v[i].run_state == STATE_ATTACHED;
	find_tids(py, changed);
	free(l.v);
	return 0;
}

struct pst_pythread *pst_python_thread(const struct pst_python *py, pst_addr_t state)
{
	for (size_t i = 0; i < py->n_threads; i++)
		if (py->threads[i]->state == state)
			return py->threads[i];
	return NULL;
}

void pst_threads_fini(struct pst_python *py)
{
	for (size_t i = 0; i < py->n_threads; i++)
		free_thread(py->threads[i]);
	free(py->threads);
	free(py->gils);
	pst_pages_fini(&py->list_pages);
	py->threads = NULL;
	py->gils = NULL;
	py->n_threads = py->cap_threads = py->n_gils = py->cap_gils = 0;
}
