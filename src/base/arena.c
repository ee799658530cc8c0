/* Growing scratch memory: a list of blocks, each at least as large as the one before it. */
#include "pystill/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK 4096u

struct pst_arena_block {
	struct pst_arena_block *older;
	size_t size; /* bytes of data */
	alignas(max_align_t) unsigned char data[];
};

void pst_arena_init(struct pst_arena *arena)
{
	memset(arena, 0, sizeof(*arena));
}

static void push_block(struct pst_arena *arena, size_t least)
{
	size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
	struct pst_arena_block *b;

	if (size > 1u << 20)
		size = 1u << 20;
	if (size < least)
		size = least;
	b = pst_xmalloc(sizeof(*b) + size);
	b->older = arena->blocks;
	b->size = size;
	arena->blocks = b;
	arena->used = 0;
}

void *pst_arena_alloc(struct pst_arena *arena, size_t size)
{
	const size_t align = alignof(max_align_t);
	void *p;

	size = (size + align - 1) & ~(align - 1);
	if (!arena->blocks || arena->blocks->size - arena->used < size)
		push_block(arena, size);
	p = arena->blocks->data + arena->used;
	arena->used += size;
	return p;
}

char *pst_arena_dup(struct pst_arena *arena, const char *bytes, size_t len)
{
	char *s = pst_arena_alloc(arena, len + 1);

	memcpy(s, bytes, len);
	s[len] = '\0';
	return s;
}

static void free_older(struct pst_arena_block *b)
{
	while (b) {
		struct pst_arena_block *older = b->older;

		free(b);
		b = older;
	}
}

void pst_arena_reset(struct pst_arena *arena)
{
	if (!arena->blocks)
		return;
	free_older(arena->blocks->older);
	arena->blocks->older = NULL;
	arena->used = 0;
}

void pst_arena_fini(struct pst_arena *arena)
{
	free_older(arena->blocks);
	pst_arena_init(arena);
}
