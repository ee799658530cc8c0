/* A hash table of ids, and two hash functions. */
#include "pystill/hash.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64u

void pst_hash_init(struct pst_hash *hash)
{
	memset(hash, 0, sizeof(*hash));
}

void pst_hash_fini(struct pst_hash *hash)
{
	free(hash->slots);
	free(hash->hashes);
	pst_hash_init(hash);
}

void pst_hash_clear(struct pst_hash *hash)
{
	if (hash->slots)
		memset(hash->slots, 0, (hash->mask + 1) * sizeof(*hash->slots));
	hash->used = 0;
}

uint32_t pst_hash_find(const struct pst_hash *hash, uint32_t hash_value, pst_hash_same_fn same,
	const void *ctx, const void *key)
{
	if (!hash->slots)
		return 0;
	for (size_t i = hash_value & hash->mask; hash->slots[i]; i = (i + 1) & hash->mask)
		if (hash->hashes[i] == hash_value && same(ctx, hash->slots[i], key))
			return hash->slots[i];
	return 0;
}

static void put(struct pst_hash *hash, uint32_t hash_value, uint32_t id)
{
	size_t i = hash_value & hash->mask;

	while (hash->slots[i])
		i = (i + 1) & hash->mask;
	hash->slots[i] = id;
	hash->hashes[i] = hash_value;
}

static void grow(struct pst_hash *hash)
{
	struct pst_hash old = *hash;
	size_t n = old.slots ? (old.mask + 1) * 2 : FIRST_SLOTS;

	hash->slots = pst_xcalloc(n, sizeof(*hash->slots));
	hash->hashes = pst_xcalloc(n, sizeof(*hash->hashes));
	hash->mask = n - 1;
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i])
			put(hash, old.hashes[i], old.slots[i]);
	pst_hash_fini(&old);
}

void pst_hash_add(struct pst_hash *hash, uint32_t hash_value, uint32_t id)
{
	if (!hash->slots || hash->used >= (hash->mask + 1) / 3 * 2)
		grow(hash);
	put(hash, hash_value, id);
	hash->used++;
}

/* FNV-1a: names are short. */
uint32_t pst_hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 16777619u;
	return h;
}

/* The finaliser of splitmix64. */
uint32_t pst_hash_u64(uint64_t v)
{
	v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
	v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)(v ^ (v >> 31));
}
