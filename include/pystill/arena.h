/* Growing scratch memory that is given back in one call.  Two lifetimes use it: one tick, and a whole
 * run (names). */
#ifndef PYSTILL_ARENA_H
#define PYSTILL_ARENA_H

#include "pystill/base.h"

struct pst_arena_block;

struct pst_arena {
	struct pst_arena_block *blocks; /* newest first */
	size_t used;                    /* bytes in use of the newest block */
};

void pst_arena_init(struct pst_arena *arena);

/* SIZE bytes, aligned for any type, not cleared; valid until the next reset or fini. */
void *pst_arena_alloc(struct pst_arena *arena, size_t size);

/* A copy of LEN bytes with a NUL behind it. */
char *pst_arena_dup(struct pst_arena *arena, const char *bytes, size_t len);

/* Forget everything that was allocated; the largest block is kept for reuse. */
void pst_arena_reset(struct pst_arena *arena);
void pst_arena_fini(struct pst_arena *arena);

#endif
