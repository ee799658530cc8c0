/* Instances in an image. */
#include "instances.h"

#include "unit.h"

#define WORD   8
#define BEFORE (8 * WORD)  /* mapped before an object */
#define SIZE   (10 * WORD) /* of a plain object: tp_basicsize, values begin behind it */
#define ROOM   (64 * WORD) /* for values */

struct instance instances_new(struct objects *o, uint64_t flags, int64_t dictoffset, size_t size)
{
	const struct pst_offsets *off = &o->layout.off;
	struct instance i = { .type = objects_type(o, "Thing", flags) };

	i.object = image_alloc(&o->image, BEFORE + size) + BEFORE;
	objects_put(o, i.object, off->object_type, i.type);
	objects_put(o, i.type, off->type_dictoffset, (pst_addr_t)dictoffset);
	objects_put_size(o, i.type, off->type_basicsize, SIZE);
	return i;
}

/* Before the head of the garbage collector, which has two words where there is one (without the GIL there is
 * none). */
unsigned instances_before_dict(const struct objects *o)
{
	return o->layout.row->flavour == PST_FREE_THREADED ? 1 : 3;
}

void instances_put_before(struct objects *o, const struct instance *i, unsigned n, pst_addr_t value)
{
	image_put_word(&o->image, i->object - n * WORD, value);
}

struct instance instances_plain(struct objects *o, const struct dict_entry *v, size_t n)
{
	const struct dict_spec spec = { .v = v, .n = n, .log2_size = 5, .split = true };
	const int32_t dict_at = o->layout.off.object_type + WORD;
	struct instance i;

	if (o->version < PST_PY(3, 11, 0)) {
		i = instances_new(o, 0, dict_at, SIZE);
		objects_put(o, i.object, dict_at, dicts_plain(o, v, n));
		return i;
	}
	i = instances_new(o, MANAGED_DICT | INLINE_VALUES, -1, SIZE + ROOM);
	objects_put(o, i.type, o->layout.off.type_cached_keys, dicts_keys(o, &spec));
	if (o->version >= PST_PY(3, 13, 0))
		dicts_values_put(o, i.object + SIZE, &spec);
	else if (o->version >= PST_PY(3, 12, 0))
		instances_put_before(o, &i, 3, dicts_values(o, &spec) - 1);
	else
		instances_put_before(o, &i, BEFORE_VALUES, dicts_values(o, &spec));
	return i;
}
