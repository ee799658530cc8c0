/* The pages of the target that one snapshot looks at: each is copied once, on first touch or ahead of
 * it, and all later reads of the snapshot come from the copy.  The pages that a stack needed last time
 * are asked for in one vectored call, between two sets of words that must not have changed meanwhile.
 * A view knows nothing of Python; whether the target was stopped, or proved unchanged, is its
 * caller's business.  No call allocates, so all may be used while a thread is stopped. */
#ifndef PYSTILL_VIEW_H
#define PYSTILL_VIEW_H

#include "pystill/mem.h"

#define PST_PAGE_SIZE  4096u
#define PST_VIEW_WORDS 8u /* most ranges that may go before, and behind, the pages of a fetch */

/* Addresses of pages, without order or doubles. */
struct pst_pages {
	pst_addr_t *v;
	size_t n, cap;
};

struct pst_view;

/* BASE is borrowed and must outlive the view. */
struct pst_view *pst_view_new(struct pst_mem *base);
void pst_view_free(struct pst_view *view);

/* Forget all copies: the next snapshot begins. */
void pst_view_reset(struct pst_view *view);

/* Copy, in one call as far as the kernel allows: the ranges FIRST, the pages that are not there yet, the
 * ranges LAST.  Pages that cannot be read are left out.  Returns 0, or -1 with ERR set (GONE, PERM;
 * TORN when a range of FIRST or LAST is not mapped). */
int pst_view_fetch(struct pst_view *view, const struct pst_range *first, size_t n_first,
	const struct pst_pages *pages, const struct pst_range *last, size_t n_last,
	struct pst_error *err);

/* From now on a miss after DEADLINE_NS (CLOCK_MONOTONIC) fails with LATE; 0 is no limit. */
void pst_view_limit(struct pst_view *view, int64_t deadline_ns);

/* Reads through the view.  A page that is not there is copied then and counted as a miss. */
struct pst_mem *pst_view_mem(struct pst_view *view);

/* Pages that were copied by reads, and not by a fetch, since the last reset. */
size_t pst_view_misses(const struct pst_view *view);

/* Which pages did the reads between two moments touch?  pst_view_mark() begins a section and returns
 * where; pst_view_touched() sets PAGES to what was touched from FROM on, up to TO, sorted.  The latter
 * allocates: not while a thread is stopped. */
size_t pst_view_mark(struct pst_view *view);
void pst_view_touched(const struct pst_view *view, size_t from, size_t to, struct pst_pages *pages);

void pst_pages_fini(struct pst_pages *pages);

#endif
