/* Dicts in an image. */
#include "dicts.h"

#include "unit.h"

#define WORD 8

const uint32_t dict_versions[DICT_VERSIONS] = { 0x020307f0, 0x020712f0, 0x030206f0, 0x030307f0,
	0x03060ff0, 0x030a05f0, 0x030b02f0, 0x030c03f0, 0x030d12f0, 0x030f02f0 };

static size_t size_of(const struct dict_spec *spec)
{
	return (size_t)1 << spec->log2_size;
}

/* Where entry I lies in a table that is hashed: somewhere, each elsewhere. */
static size_t slot_of(const struct dict_spec *spec, size_t i)
{
	return (i * 5 + 3) & (size_of(spec) - 1);
}

static size_t place_of(const struct objects *o, const struct dict_spec *spec, size_t i)
{
	return o->version < HAS_INDEX ? slot_of(spec, i) : i;
}

/* How many entries there are, the empty ones of a hashed table among them. */
static size_t count_places(const struct objects *o, const struct dict_spec *spec)
{
	return o->version < HAS_INDEX ? size_of(spec) : spec->n;
}

static unsigned entry_words(const struct objects *o, const struct dict_spec *spec)
{
	return o->version >= HAS_KINDS && (spec->unicode || spec->split) ? 2 : 3;
}

/* The hash is never 0, so that it would be taken for a pointer. */
static void put_entries(struct objects *o, pst_addr_t at, const struct dict_spec *spec)
{
	const unsigned words = entry_words(o, spec);

	for (size_t i = 0; i < spec->n; i++) {
		const pst_addr_t entry = at + place_of(o, spec, i) * words * WORD;
		const pst_addr_t key = entry + (words - 2) * WORD;

		if (words == 3)
			image_put_word(&o->image, entry, 0xabcd0000 + i);
		image_put_word(&o->image, key, spec->v[i].key);
		image_put_word(&o->image, key + WORD, spec->split ? 0 : spec->v[i].value);
	}
}

static size_t index_bytes(const struct objects *o, const struct dict_spec *spec)
{
	if (o->version < HAS_INDEX)
		return 0;
	return size_of(spec) * (spec->log2_size < 8 ? 1 : spec->log2_size < 16 ? 2 : 4);
}

static unsigned log2_of(size_t n)
{
	unsigned log2 = 0;

	while (((size_t)1 << log2) < n)
		log2++;
	return log2;
}

static uint8_t kind_of(const struct dict_spec *spec)
{
	return spec->split ? 2 : spec->unicode;
}

pst_addr_t dicts_keys(struct objects *o, const struct dict_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;
	const size_t head = (size_t)off->keys_entries + index_bytes(o, spec),
		     size = count_places(o, spec) * entry_words(o, spec) * WORD;
	const pst_addr_t keys = image_alloc(&o->image, head + size);

	for (size_t i = (size_t)off->keys_entries; i < head; i++)
		image_put_byte(&o->image, keys + i, 0xff); /* an index that is free */
	objects_put(o, keys, off->keys_size, size_of(spec));
	objects_put(o, keys, off->keys_nentries, spec->n);
	if (o->version >= HAS_KINDS) {
		image_put_byte(&o->image, keys + (pst_addr_t)off->keys_log2_index_bytes,
			(uint8_t)log2_of(index_bytes(o, spec)));
		image_put_byte(&o->image, keys + (pst_addr_t)off->keys_kind, kind_of(spec));
	}
	put_entries(o, keys + head, spec);
	return keys;
}

/* To 3.10 an array, then a struct that holds one. */
static size_t values_head(const struct objects *o)
{
	const int32_t first = o->layout.off.values_first;

	return first == PST_ABSENT ? 0 : (size_t)first;
}

size_t dicts_values_size(const struct objects *o, const struct dict_spec *spec)
{
	return values_head(o) + count_places(o, spec) * WORD;
}

void dicts_values_put(struct objects *o, pst_addr_t at, const struct dict_spec *spec)
{
	for (size_t i = 0; i < spec->n; i++)
		image_put_word(&o->image, at + values_head(o) + place_of(o, spec, i) * WORD,
			spec->v[i].value);
	if (o->layout.off.values_valid != PST_ABSENT)
		image_put_byte(&o->image, at + (pst_addr_t)o->layout.off.values_valid, 1);
}

pst_addr_t dicts_values(struct objects *o, const struct dict_spec *spec)
{
	const size_t size = dicts_values_size(o, spec);
	const pst_addr_t at = image_alloc(&o->image, size ? size : 1);

	dicts_values_put(o, at, spec);
	return at;
}

/* To 3.2: a mask, and a table of entries. */
static pst_addr_t new_table(struct objects *o, const struct dict_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;
	const pst_addr_t dict = image_alloc(&o->image, (size_t)off->dict_table + WORD),
			 table = image_alloc(&o->image, size_of(spec) * 3 * WORD);

	objects_put_size(o, dict, off->dict_mask, size_of(spec) - 1);
	objects_put(o, dict, off->dict_table, table);
	put_entries(o, table, spec);
	return dict;
}

pst_addr_t dicts_new(struct objects *o, const struct dict_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;
	pst_addr_t dict;

	MUST(spec->n <= size_of(spec));
	if (o->version < HAS_KEYS)
		return new_table(o, spec);
	dict = image_alloc(&o->image, (size_t)off->dict_values + WORD);
	objects_put(o, dict, off->dict_keys, dicts_keys(o, spec));
	if (spec->split)
		objects_put(o, dict, off->dict_values, dicts_values(o, spec));
	return dict;
}

pst_addr_t dicts_plain(struct objects *o, const struct dict_entry *v, size_t n)
{
	const struct dict_spec spec = { .v = v, .n = n, .log2_size = log2_of(n * 2 + 8) };

	return dicts_new(o, &spec);
}

bool visits_add(void *ctx, pst_addr_t key, pst_addr_t value)
{
	struct visits *visits = ctx;

	if (visits->n < MAX_VISITS)
		visits->v[visits->n] = (struct dict_entry){ key, value };
	visits->n++;
	return visits->n == visits->end_at;
}

static size_t count_visits(const struct visits *visits, struct dict_entry e)
{
	size_t n = 0;

	for (size_t i = 0; i < visits->n && i < MAX_VISITS; i++)
		n += visits->v[i].key == e.key && visits->v[i].value == e.value;
	return n;
}

void visits_check(const struct visits *visits, const struct dict_entry *v, size_t n)
{
	size_t wanted = 0, once = 0;

	for (size_t i = 0; i < n; i++) {
		if (!v[i].key || !v[i].value)
			continue;
		wanted++;
		once += count_visits(visits, v[i]) == 1;
	}
	CHECK_INT(visits->n, wanted);
	CHECK_INT(once, wanted);
}
