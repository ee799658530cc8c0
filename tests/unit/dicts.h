/* Dicts, as a version lays them out. */
#ifndef PYSTILL_TESTS_DICTS_H
#define PYSTILL_TESTS_DICTS_H

#include "objects.h"

/* One of each kind of dict, and of each place of attributes. */
#define DICT_VERSIONS 10
extern const uint32_t dict_versions[DICT_VERSIONS];

#define HAS_KEYS  PST_PY(3, 3, 0)  /* a keys object */
#define HAS_INDEX PST_PY(3, 6, 0)  /* a table of indices in it, and the entries in order */
#define HAS_KINDS PST_PY(3, 11, 0) /* entries with or without hashes */

struct dict_entry {
	pst_addr_t key, value; /* either is 0: a hole */
};

struct dict_spec {
	const struct dict_entry *v;
	size_t n;
	unsigned log2_size; /* of the table */
	bool unicode;       /* entries without hashes, where there are such */
	bool split;         /* values apart from the keys, where it can be so */
};

/* The keys object alone, and the values alone: as the type of many instances and each of them have them. */
pst_addr_t dicts_keys(struct objects *o, const struct dict_spec *spec);
pst_addr_t dicts_values(struct objects *o, const struct dict_spec *spec);

/* Write values behind AT, an object or a block that has room for them. */
void dicts_values_put(struct objects *o, pst_addr_t at, const struct dict_spec *spec);
size_t dicts_values_size(const struct objects *o, const struct dict_spec *spec);

pst_addr_t dicts_new(struct objects *o, const struct dict_spec *spec);

/* A dict of N entries, not split, of a size that suits. */
pst_addr_t dicts_plain(struct objects *o, const struct dict_entry *v, size_t n);

/* What a visit found: every entry once. */
#define MAX_VISITS 1024
struct visits {
	struct dict_entry v[MAX_VISITS];
	size_t n;
	size_t end_at; /* end the visit with this one, counted from 1; 0: never */
};
bool visits_add(void *ctx, pst_addr_t key, pst_addr_t value);

/* They are the N entries V but for the holes, in any order. */
void visits_check(const struct visits *visits, const struct dict_entry *v, size_t n);

#endif
