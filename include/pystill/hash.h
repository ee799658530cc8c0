/* A hash table of small ids: it stores ids only, and asks its user whether an id is the one looked for.
 * Open addressing, never deletes, grows at 2/3 full. */
#ifndef PYSTILL_HASH_H
#define PYSTILL_HASH_H

#include "pystill/base.h"

struct pst_hash {
	uint32_t *slots;  /* ids; 0 is free */
	uint32_t *hashes; /* of each slot */
	size_t mask;      /* slots - 1 */
	size_t used;
};

/* Does ID stand for what KEY points at? */
typedef bool (*pst_hash_same_fn)(const void *ctx, uint32_t id, const void *key);

void pst_hash_init(struct pst_hash *hash);
void pst_hash_fini(struct pst_hash *hash);
void pst_hash_clear(struct pst_hash *hash);

/* The id stored under HASH for which SAME holds, or 0. */
uint32_t pst_hash_find(const struct pst_hash *hash, uint32_t hash_value, pst_hash_same_fn same,
	const void *ctx, const void *key);

/* Store ID (not 0, not there yet) under HASH. */
void pst_hash_add(struct pst_hash *hash, uint32_t hash_value, uint32_t id);

uint32_t pst_hash_bytes(const void *bytes, size_t len);
uint32_t pst_hash_u64(uint64_t value);

#endif
