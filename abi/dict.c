/* Dicts and instance attributes, era by era.  The target may be changing them: every count is bounded, and what
 * is missed is missed. */
#include "pystill/abi.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ENTRIES   (1u << 20)
#define BLOCK         256u /* entries a read */
#define MAX_WORDS     3u   /* of an entry: hash, key, value */

#define MANAGED_DICT  (1u << 4) /* Py_TPFLAGS_MANAGED_DICT, 3.11+ */
#define INLINE_VALUES (1u << 2) /* Py_TPFLAGS_INLINE_VALUES, 3.13+ */

/* A row of entries in memory: WORDS words each, the key at word KEY and the value behind it, or in split tables
 * by the same index in VALUES. */
struct entries {
	pst_addr_t at;
	uint64_t n;
	unsigned words, key;
	pst_addr_t values; /* 0: in the entries */
};

static int no_dict(pst_addr_t addr, struct pst_error *err)
{
	return pst_error_set(err, PST_ERR_TORN, 0, "no dict at %#" PRIx64, addr);
}

/* Visit N entries from number FIRST on, which lie in one piece. */
static int visit_block(const struct entries *e, struct pst_mem *mem, uint64_t first, uint64_t n,
	pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	unsigned char bytes[BLOCK * MAX_WORDS * 8], values[BLOCK * 8];
	const unsigned word = mem->word_bytes, size = e->words * word;

	if (pst_mem_read(mem, e->at + first * size, bytes, n * size, err) < 0 ||
		(e->values &&
			pst_mem_read(mem, e->values + first * word, values, n * word, err) < 0))
		return -1;
	for (uint64_t i = 0; i < n; i++) {
		const unsigned char *entry = bytes + i * size;
		const pst_addr_t key = pst_mem_word_at(mem, entry + e->key * word);
		const pst_addr_t value = pst_mem_word_at(
			mem, e->values ? values + i * word : entry + (e->key + 1) * word);

		if (key && value && visit(ctx, key, value))
			return 1;
	}
	return 0;
}

static int visit_entries(const struct entries *e, struct pst_mem *mem, pst_entry_fn visit,
	void *ctx, struct pst_error *err)
{
	int result = 0;

	if (e->n > MAX_ENTRIES)
		return no_dict(e->at, err);
	for (uint64_t first = 0; first < e->n && result == 0; first += BLOCK) {
		const uint64_t left = e->n - first;

		result = visit_block(e, mem, first, left < BLOCK ? left : BLOCK, visit, ctx, err);
	}
	return result;
}

static int read_word(struct pst_mem *mem, pst_addr_t addr, int32_t offset, pst_addr_t *out,
	struct pst_error *err)
{
	return pst_mem_read_addr(mem, addr + (pst_addr_t)offset, out, err);
}

static int read_byte(
	struct pst_mem *mem, pst_addr_t addr, int32_t offset, uint8_t *out, struct pst_error *err)
{
	return pst_mem_read(mem, addr + (pst_addr_t)offset, out, 1, err);
}

/* ---- dicts ---- */

int pst_dict_table(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	struct entries e = { .words = 3, .key = 1 };
	uint64_t mask = 0;

	if (pst_mem_read(mem, addr + (pst_addr_t)layout->off.dict_mask, &mask,
		    pst_size_bytes(layout, mem), err) < 0 ||
		read_word(mem, addr, layout->off.dict_table, &e.at, err) < 0)
		return -1;
	if (mask >= MAX_ENTRIES)
		return no_dict(addr, err);
	e.n = mask + 1;
	return visit_entries(&e, mem, visit, ctx, err);
}

/* The keys and values that a dict points to. */
static int read_parts(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_addr_t *keys, pst_addr_t *values, struct pst_error *err)
{
	if (read_word(mem, addr, layout->off.dict_keys, keys, err) < 0 ||
		read_word(mem, addr, layout->off.dict_values, values, err) < 0)
		return -1;
	if (*values && layout->off.values_first != PST_ABSENT)
		*values += (pst_addr_t)layout->off.values_first;
	return *keys ? 0 : no_dict(addr, err);
}

/* dk_entries is the hash table itself. */
int pst_dict_hashed(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	struct entries e = { .words = 3, .key = 1 };
	pst_addr_t keys;

	if (read_parts(layout, mem, addr, &keys, &e.values, err) < 0 ||
		read_word(mem, keys, layout->off.keys_size, &e.n, err) < 0)
		return -1;
	e.at = keys + (pst_addr_t)layout->off.keys_entries;
	return visit_entries(&e, mem, visit, ctx, err);
}

/* Entries in order of insertion behind a table of indices, whose width depends on its size
 * (DK_IXSIZE() in Objects/dictobject.c). */
int pst_dict_compact(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	struct entries e = { .words = 3, .key = 1 };
	pst_addr_t keys, size;
	unsigned index_bytes;

	if (read_parts(layout, mem, addr, &keys, &e.values, err) < 0 ||
		read_word(mem, keys, layout->off.keys_size, &size, err) < 0 ||
		read_word(mem, keys, layout->off.keys_nentries, &e.n, err) < 0)
		return -1;
	if (size > 2 * MAX_ENTRIES)
		return no_dict(addr, err);
	index_bytes = size <= 0xff ? 1 : size <= 0xffff ? 2 : 4;
	e.at = keys + (pst_addr_t)layout->off.keys_entries + size * index_bytes;
	return visit_entries(&e, mem, visit, ctx, err);
}

/* The entries of a keys object of 3.11+: with hashes (kind 0) or without. */
static int plan_kinds(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t keys,
	struct entries *e, struct pst_error *err)
{
	uint8_t kind, log2_index_bytes;

	if (read_byte(mem, keys, layout->off.keys_kind, &kind, err) < 0 ||
		read_byte(mem, keys, layout->off.keys_log2_index_bytes, &log2_index_bytes, err) <
			0 ||
		read_word(mem, keys, layout->off.keys_nentries, &e->n, err) < 0)
		return -1;
	if (kind > 2 || log2_index_bytes > 24)
		return no_dict(keys, err);
	e->words = kind == 0 ? 3 : 2;
	e->key = kind == 0 ? 1 : 0;
	e->at = keys + (pst_addr_t)layout->off.keys_entries + (1ull << log2_index_bytes);
	return 0;
}

int pst_dict_kinds(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	struct entries e = { 0 };
	pst_addr_t keys;

	if (read_parts(layout, mem, addr, &keys, &e.values, err) < 0 ||
		plan_kinds(layout, mem, keys, &e, err) < 0)
		return -1;
	return visit_entries(&e, mem, visit, ctx, err);
}

/* ---- attributes ---- */

/* What an instance's type says of the place of its attributes. */
struct type {
	pst_addr_t addr, flags;
	int64_t dictoffset, basicsize;
};

/* A signed number of 4 or 8 bytes. */
static int read_signed(
	struct pst_mem *mem, pst_addr_t addr, unsigned bytes, int64_t *out, struct pst_error *err)
{
	int32_t narrow;

	if (bytes == sizeof(*out))
		return pst_mem_read(mem, addr, out, sizeof(*out), err);
	if (pst_mem_read_i32(mem, addr, &narrow, err) < 0)
		return -1;
	*out = narrow;
	return 0;
}

static int read_type(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t object,
	struct type *t, struct pst_error *err)
{
	const struct pst_offsets *o = &layout->off;

	*t = (struct type){ 0 };
	if (read_word(mem, object, o->object_type, &t->addr, err) < 0 ||
		read_signed(mem, t->addr + (pst_addr_t)o->type_dictoffset, mem->word_bytes,
			&t->dictoffset, err) < 0 ||
		read_signed(mem, t->addr + (pst_addr_t)o->type_basicsize,
			pst_size_bytes(layout, mem), &t->basicsize, err) < 0)
		return -1;
	if (o->type_flags == PST_ABSENT)
		return 0;
	return read_word(mem, t->addr, o->type_flags, &t->flags, err);
}

static int visit_dict_at(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t at,
	pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	pst_addr_t dict;

	if (pst_mem_read_addr(mem, at, &dict, err) < 0)
		return -1;
	return dict ? layout->dict(layout, mem, dict, visit, ctx, err) : 0;
}

static int visit_dictoffset(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	const struct type *t, pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	if (t->dictoffset <= 0 || t->dictoffset > 1 << 16)
		return 0;
	return visit_dict_at(layout, mem, addr + (pst_addr_t)t->dictoffset, visit, ctx, err);
}

int pst_attr_dictoffset(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	struct type t;

	if (read_type(layout, mem, addr, &t, err) < 0)
		return -1;
	return visit_dictoffset(layout, mem, addr, &t, visit, ctx, err);
}

/* Attributes whose names are the keys that the type keeps for all its instances. */
static int visit_values(const struct pst_layout *layout, struct pst_mem *mem, const struct type *t,
	pst_addr_t values, pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	struct entries e = { 0 };
	pst_addr_t keys;

	if (read_word(mem, t->addr, layout->off.type_cached_keys, &keys, err) < 0)
		return -1;
	if (!keys)
		return 0;
	if (plan_kinds(layout, mem, keys, &e, err) < 0)
		return -1;
	e.values = values + (pst_addr_t)layout->off.values_first;
	return visit_entries(&e, mem, visit, ctx, err);
}

/* 3.11: the values' pointer four words before the object, the dict's three. */
int pst_attr_managed_values(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	const unsigned word = mem->word_bytes;
	pst_addr_t values;
	struct type t;

	if (read_type(layout, mem, addr, &t, err) < 0)
		return -1;
	if (!(t.flags & MANAGED_DICT))
		return visit_dictoffset(layout, mem, addr, &t, visit, ctx, err);
	if (pst_mem_read_addr(mem, addr - 4 * word, &values, err) < 0)
		return -1;
	if (values)
		return visit_values(layout, mem, &t, values, visit, ctx, err);
	return visit_dict_at(layout, mem, addr - 3 * word, visit, ctx, err);
}

/* 3.12: one word for both; its low bit means values, whose pointer is one more. */
int pst_attr_managed_either(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	const unsigned word = mem->word_bytes;
	pst_addr_t either;
	struct type t;

	if (read_type(layout, mem, addr, &t, err) < 0)
		return -1;
	if (!(t.flags & MANAGED_DICT))
		return visit_dictoffset(layout, mem, addr, &t, visit, ctx, err);
	if (pst_mem_read_addr(mem, addr - 3 * word, &either, err) < 0)
		return -1;
	if (either & 1)
		return visit_values(layout, mem, &t, either + 1, visit, ctx, err);
	return either ? layout->dict(layout, mem, either, visit, ctx, err) : 0;
}

/* 3.13: the dict's pointer three words before the object (one, where no gc head lies there), or valid values
 * behind it. */
int pst_attr_inline_values(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_entry_fn visit, void *ctx, struct pst_error *err)
{
	const unsigned words = layout->off.gil_enabled == PST_ABSENT ? 3 : 1;
	pst_addr_t dict, values;
	struct type t;
	uint8_t valid;

	if (read_type(layout, mem, addr, &t, err) < 0)
		return -1;
	if (!(t.flags & MANAGED_DICT))
		return visit_dictoffset(layout, mem, addr, &t, visit, ctx, err);
	if (pst_mem_read_addr(mem, addr - words * mem->word_bytes, &dict, err) < 0)
		return -1;
	if (dict)
		return layout->dict(layout, mem, dict, visit, ctx, err);
	if (!(t.flags & INLINE_VALUES) || t.basicsize <= 0 || t.basicsize > 1 << 20)
		return 0;
	values = addr + (pst_addr_t)t.basicsize;
	if (read_byte(mem, values, layout->off.values_valid, &valid, err) < 0)
		return -1;
	return valid ? visit_values(layout, mem, &t, values, visit, ctx, err) : 0;
}
