/* Interned strings and functions. */
#include "pystill/names.h"

#include "pystill/arena.h"
#include "pystill/hash.h"

#include <stdlib.h>
#include <string.h>

struct bytes {
	const char *p;
	size_t len;
};

struct pst_names {
	struct pst_arena arena;
	struct pst_hash by_bytes, by_func;
	struct bytes *strings; /* strings[id - 1] */
	struct pst_func *funcs;
	size_t n_strings, cap_strings, n_funcs, cap_funcs;
};

struct pst_names *pst_names_new(void)
{
	struct pst_names *names = pst_xcalloc(1, sizeof(*names));

	pst_arena_init(&names->arena);
	return names;
}

void pst_names_free(struct pst_names *names)
{
	if (!names)
		return;
	pst_arena_fini(&names->arena);
	pst_hash_fini(&names->by_bytes);
	pst_hash_fini(&names->by_func);
	free(names->strings);
	free(names->funcs);
	free(names);
}

static bool same_bytes(const void *ctx, uint32_t id, const void *key)
{
	const struct bytes *a = &((const struct pst_names *)ctx)->strings[id - 1], *b = key;

	return a->len == b->len && memcmp(a->p, b->p, a->len) == 0;
}

pst_name_id pst_names_string(struct pst_names *names, const char *bytes, size_t len)
{
	const uint32_t hash = pst_hash_bytes(bytes, len);
	const struct bytes key = { bytes, len };
	uint32_t id = pst_hash_find(&names->by_bytes, hash, same_bytes, names, &key);

	if (id)
		return id;
	names->strings = pst_grow(
		names->strings, &names->cap_strings, names->n_strings + 1, sizeof(*names->strings));
	names->strings[names->n_strings++] =
		(struct bytes){ pst_arena_dup(&names->arena, bytes, len), len };
	id = (uint32_t)names->n_strings;
	pst_hash_add(&names->by_bytes, hash, id);
	return id;
}

const char *pst_names_get(const struct pst_names *names, pst_name_id id, size_t *len)
{
	static const struct bytes none = { "", 0 };
	const struct bytes *b = id && id <= names->n_strings ? &names->strings[id - 1] : &none;

	if (len)
		*len = b->len;
	return b->p;
}

static bool same_func(const void *ctx, uint32_t id, const void *key)
{
	const struct pst_func *a = &((const struct pst_names *)ctx)->funcs[id - 1], *b = key;

	return a->name == b->name && a->file == b->file && a->line == b->line;
}

pst_func_id pst_names_func(struct pst_names *names, const struct pst_func *func)
{
	const uint32_t hash = pst_hash_u64(
		((uint64_t)func->name << 32 | func->file) ^ ((uint64_t)(uint32_t)func->line << 17));
	uint32_t id = pst_hash_find(&names->by_func, hash, same_func, names, func);

	if (id)
		return id;
	names->funcs = pst_grow(
		names->funcs, &names->cap_funcs, names->n_funcs + 1, sizeof(*names->funcs));
	names->funcs[names->n_funcs++] = *func;
	id = (uint32_t)names->n_funcs;
	pst_hash_add(&names->by_func, hash, id);
	return id;
}

struct pst_func pst_names_func_get(const struct pst_names *names, pst_func_id id)
{
	static const struct pst_func none = { 0 };

	return id && id <= names->n_funcs ? names->funcs[id - 1] : none;
}

size_t pst_names_count(const struct pst_names *names)
{
	return names->n_strings;
}

size_t pst_names_func_count(const struct pst_names *names)
{
	return names->n_funcs;
}
