/* Instances of classes, with attributes of their own. */
#ifndef PYSTILL_TESTS_INSTANCES_H
#define PYSTILL_TESTS_INSTANCES_H

#include "dicts.h"

#define MANAGED_DICT  (1ul << 4) /* Py_TPFLAGS_MANAGED_DICT, 3.11+ */
#define INLINE_VALUES (1ul << 2) /* Py_TPFLAGS_INLINE_VALUES, 3.13+ */

/* Words before the object in which 3.11 keeps the values; the dict's word lies at `before_dict`. */
#define BEFORE_VALUES 4

struct instance {
	pst_addr_t type, object;
};

/* An object of SIZE bytes, of a class with FLAGS whose instances have a word for their dict at OFFSET. */
struct instance instances_new(struct objects *o, uint64_t flags, int64_t dictoffset, size_t size);

/* Where a managed instance points to its dict: words before the object. */
unsigned instances_before_dict(const struct objects *o);

/* The word N words before an instance. */
void instances_put_before(
	struct objects *o, const struct instance *i, unsigned n, pst_addr_t value);

/* An instance as the version makes them as a rule: a dict to 3.10, then values. */
struct instance instances_plain(struct objects *o, const struct dict_entry *v, size_t n);

#endif
