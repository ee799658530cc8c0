/* The pages of one snapshot.  Copies are page-aligned and keep the remote offset in the page: with a
 * local address 1-31 bytes ahead of the remote one the kernel's copy falls off its fast path. */
#define _GNU_SOURCE
#include "pystill/view.h"

#include "pystill/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS \
	16384u /* pages a snapshot may hold: 64 MB, of which only what is used is ever backed */
#define PLACES (SLOTS * 2)
#define LOG    (SLOTS * 2)
#define RUNS   512u /* runs of pages a call of the kernel */

struct pst_view {
	struct pst_mem mem; /* first: a view is a memory */
	struct pst_mem *base;
	unsigned char *pool;   /* SLOTS pages */
	pst_addr_t *page;      /* of each slot */
	uint32_t *mark_of;     /* of each slot: the section that touched it last */
	uint32_t *place_of;    /* of each slot, to empty the places again */
	uint32_t *slot_plus_1; /* PLACES places, by hash of the page; 0 is free */
	uint32_t *log;         /* slots in order of their first touch in a section */
	uint32_t used, mark;
	pst_addr_t last_page; /* the last that was read, in slot LAST_SLOT; 0: none */
	uint32_t last_slot;
	size_t logged, misses;
	int64_t deadline_ns;
};

/* Address space only: a page costs memory once it is used. */
static void *reserve(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		pst_out_of_memory();
	return p;
}

static int view_readv(
	struct pst_mem *mem, const struct pst_range *ranges, size_t n, struct pst_error *err);

static void view_close(struct pst_mem *mem)
{
	pst_view_free((struct pst_view *)mem);
}

static const struct pst_mem_ops view_ops = {
	.name = "view",
	.readv = view_readv,
	.close = view_close,
};

struct pst_view *pst_view_new(struct pst_mem *base)
{
	struct pst_view *v = pst_xcalloc(1, sizeof(*v));

	v->mem.ops = &view_ops;
	v->mem.word_bytes = base->word_bytes;
	v->base = base;
	v->pool = reserve((size_t)SLOTS * PST_PAGE_SIZE);
	v->page = pst_xcalloc(SLOTS, sizeof(*v->page));
	v->mark_of = pst_xcalloc(SLOTS, sizeof(*v->mark_of));
	v->place_of = pst_xcalloc(SLOTS, sizeof(*v->place_of));
	v->slot_plus_1 = pst_xcalloc(PLACES, sizeof(*v->slot_plus_1));
	v->log = pst_xcalloc(LOG, sizeof(*v->log));
	v->mark = 1;
	return v;
}

void pst_view_free(struct pst_view *v)
{
	if (!v)
		return;
	munmap(v->pool, (size_t)SLOTS * PST_PAGE_SIZE);
	free(v->page);
	free(v->mark_of);
	free(v->place_of);
	free(v->slot_plus_1);
	free(v->log);
	free(v);
}

void pst_view_reset(struct pst_view *v)
{
	for (uint32_t slot = 0; slot < v->used; slot++)
		v->slot_plus_1[v->place_of[slot]] = 0;
	v->used = 0;
	v->last_page = 0;
	v->misses = 0;
	v->logged = 0;
}

/* The place of PAGE, or the free one where it belongs. */
static uint32_t place(const struct pst_view *v, pst_addr_t page)
{
	uint32_t at = pst_hash_u64(page / PST_PAGE_SIZE) % PLACES;

	while (v->slot_plus_1[at] && v->page[v->slot_plus_1[at] - 1] != page)
		at = (at + 1) % PLACES;
	return at;
}

static bool have(const struct pst_view *v, pst_addr_t page)
{
	return v->slot_plus_1[place(v, page)] != 0;
}

static unsigned char *slot_bytes(const struct pst_view *v, uint32_t slot)
{
	return v->pool + (size_t)slot * PST_PAGE_SIZE;
}

/* Make known that the copy of PAGE lies in the next free slot. */
static void enter(struct pst_view *v, pst_addr_t page)
{
	const uint32_t at = place(v, page), slot = v->used++;

	v->slot_plus_1[at] = slot + 1;
	v->place_of[slot] = at;
	v->page[slot] = page;
	v->mark_of[slot] = 0;
}

/* Runs of pages on their way to the kernel; their copies go to consecutive slots. */
struct plan {
	struct pst_range runs[RUNS];
	size_t n;
	uint32_t next_slot;
};

/* Add PAGE: at the end of the last run when it follows that, else as a run of its own.  Returns false
 * when the plan is full.  A page that is there already, or twice in the list, needs no copy. */
static bool plan_page(struct plan *plan, struct pst_view *v, pst_addr_t page, size_t run_max)
{
	struct pst_range *last = plan->n ? &plan->runs[plan->n - 1] : NULL;

	if (plan->next_slot >= SLOTS || have(v, page) ||
		(last && page >= last->addr && page < last->addr + last->size))
		return true;
	if (last && last->addr + last->size == page && last->size < run_max) {
		last->size += PST_PAGE_SIZE;
	} else {
		if (plan->n == RUNS)
			return false;
		plan->runs[plan->n++] =
			(struct pst_range){ page, PST_PAGE_SIZE, slot_bytes(v, plan->next_slot) };
	}
	plan->next_slot++;
	return true;
}

static void enter_runs(struct pst_view *v, const struct plan *plan, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t at = 0; at < plan->runs[i].size; at += PST_PAGE_SIZE)
			enter(v, plan->runs[i].addr + at);
}

static size_t append(struct pst_range *all, size_t n_all, const struct pst_range *more, size_t n)
{
	for (size_t i = 0; i < n; i++)
		all[n_all++] = more[i];
	return n_all;
}

static int read_plan(struct pst_view *v, const struct pst_range *first, size_t n_first,
	const struct plan *plan, const struct pst_range *last, size_t n_last, struct pst_error *err)
{
	struct pst_range all[RUNS + 2 * PST_VIEW_WORDS];
	size_t n = append(all, 0, first, n_first);
	int got;

	n = append(all, n, plan->runs, plan->n);
	n = append(all, n, last, n_last);
	got = pst_mem_readv(v->base, all, n, err);
	if (got < 0 || (size_t)got == n)
		return got;
	if ((size_t)got < n_first || (size_t)got >= n_first + plan->n)
		return pst_error_set(err, PST_ERR_TORN, 0, "no memory at %#" PRIx64, all[got].addr);
	return got;
}

/* A run that fails is tried again page by page, and what fails alone is left out: only the order
 * matters, FIRST before all pages and LAST behind them. */
int pst_view_fetch(struct pst_view *v, const struct pst_range *first, size_t n_first,
	const struct pst_pages *pages, const struct pst_range *last, size_t n_last,
	struct pst_error *err)
{
	const size_t n_pages = pages ? pages->n : 0;
	size_t at = 0, run_max = (size_t)SLOTS * PST_PAGE_SIZE;

	for (;;) {
		struct plan plan = { .next_slot = v->used };
		size_t end = at, tail;
		int got;

		while (end < n_pages && plan_page(&plan, v, pages->v[end], run_max))
			end++;
		tail = end == n_pages ? n_last : 0;
		got = read_plan(v, first, n_first, &plan, last, tail, err);
		if (got < 0)
			return -1;
		enter_runs(
			v, &plan, (size_t)got < n_first + plan.n ? (size_t)got - n_first : plan.n);
		if ((size_t)got == n_first + plan.n + tail) {
			if (end == n_pages)
				return 0;
			at = end;
		} else {
			const struct pst_range *failed = &plan.runs[(size_t)got - n_first];

			while (pages->v[at] != failed->addr)
				at++;
			at += failed->size == PST_PAGE_SIZE;
			run_max = PST_PAGE_SIZE;
		}
		n_first = 0;
	}
}

/* The slot of PAGE, copied now if it is not there. */
static int slot_of(struct pst_view *v, pst_addr_t page, uint32_t *slot, struct pst_error *err)
{
	const uint32_t at = place(v, page);
	unsigned char *bytes = slot_bytes(v, v->used);

	if (v->slot_plus_1[at]) {
		*slot = v->slot_plus_1[at] - 1;
		return 0;
	}
	if (v->deadline_ns && pst_now_ns() > v->deadline_ns)
		return pst_error_set(err, PST_ERR_LATE, 0, "a stack that takes too long to read");
	if (v->used == SLOTS)
		return pst_error_set(
			err, PST_ERR_TORN, 0, "a snapshot of more than %u pages", SLOTS);
	if (pst_mem_read(v->base, page, bytes, PST_PAGE_SIZE, err) < 0)
		return -1;
	enter(v, page);
	v->misses++;
	*slot = v->used - 1;
	return 0;
}

static void touch(struct pst_view *v, uint32_t slot)
{
	if (v->mark_of[slot] == v->mark || v->logged == LOG)
		return;
	v->mark_of[slot] = v->mark;
	v->log[v->logged++] = slot;
}

static int view_read(struct pst_view *v, const struct pst_range *r, struct pst_error *err)
{
	size_t done = 0;

	while (done < r->size) {
		const pst_addr_t addr = r->addr + done;
		const size_t in_page = addr % PST_PAGE_SIZE;
		size_t piece = PST_PAGE_SIZE - in_page;
		uint32_t slot = 0;

		if (piece > r->size - done)
			piece = r->size - done;
		if (addr - in_page == v->last_page && v->last_page)
			slot = v->last_slot;
		else if (slot_of(v, addr - in_page, &slot, err) < 0)
			return -1;
		v->last_page = addr - in_page;
		v->last_slot = slot;
		touch(v, slot);
		memcpy((char *)r->buf + done, slot_bytes(v, slot) + in_page, piece);
		done += piece;
	}
	return 0;
}

/* Not mapped (TORN) is for the caller to name; all else is an error of its own. */
static int view_readv(
	struct pst_mem *mem, const struct pst_range *ranges, size_t n, struct pst_error *err)
{
	struct pst_error local = { .code = PST_ERR_TORN };

	for (size_t i = 0; i < n; i++) {
		if (view_read((struct pst_view *)mem, &ranges[i], &local) == 0)
			continue;
		if (local.code == PST_ERR_TORN)
			return (int)i;
		if (err)
			*err = local;
		return -1;
	}
	return (int)n;
}

void pst_view_limit(struct pst_view *v, int64_t deadline_ns)
{
	v->deadline_ns = deadline_ns;
}

struct pst_mem *pst_view_mem(struct pst_view *v)
{
	return &v->mem;
}

size_t pst_view_misses(const struct pst_view *v)
{
	return v->misses;
}

size_t pst_view_mark(struct pst_view *v)
{
	v->mark++;
	return v->logged;
}

static int by_address(const void *a, const void *b)
{
	const pst_addr_t x = *(const pst_addr_t *)a, y = *(const pst_addr_t *)b;

	return (x > y) - (x < y);
}

void pst_view_touched(const struct pst_view *v, size_t from, size_t to, struct pst_pages *pages)
{
	pages->n = 0;
	for (size_t i = from; i < to && i < v->logged; i++) {
		pages->v = pst_grow(pages->v, &pages->cap, pages->n + 1, sizeof(*pages->v));
		pages->v[pages->n++] = v->page[v->log[i]];
	}
	if (pages->n)
		qsort(pages->v, pages->n, sizeof(*pages->v), by_address);
}

void pst_pages_fini(struct pst_pages *pages)
{
	free(pages->v);
	*pages = (struct pst_pages){ 0 };
}
