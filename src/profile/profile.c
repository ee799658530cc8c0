/* The call tree: nodes in one array, found by (parent, frame) in one hash table. */
#include "pystill/profile.h"

#include "pystill/hash.h"

#include <stdlib.h>
#include <string.h>

struct pst_profile {
	struct pst_hash by_place;
	struct pst_node *nodes; /* nodes[id - 1] */
	size_t n, cap;
};

struct pst_profile *pst_profile_new(void)
{
	return pst_xcalloc(1, sizeof(struct pst_profile));
}

void pst_profile_free(struct pst_profile *p)
{
	if (!p)
		return;
	pst_hash_fini(&p->by_place);
	free(p->nodes);
	free(p);
}

static bool same_place(const void *ctx, uint32_t id, const void *key)
{
	const struct pst_node *a = &((const struct pst_profile *)ctx)->nodes[id - 1], *b = key;

	return a->parent == b->parent && a->frame.func == b->frame.func &&
		a->frame.line == b->frame.line;
}

pst_node_id pst_profile_child(struct pst_profile *p, pst_node_id parent, struct pst_frame frame)
{
	const struct pst_node node = { .parent = parent, .frame = frame };
	const uint32_t hash = pst_hash_u64(((uint64_t)parent << 32 | (uint32_t)frame.line) ^
		(uint64_t)frame.func * 0x9e3779b97f4a7c15u);
	pst_node_id id = pst_hash_find(&p->by_place, hash, same_place, p, &node);

	if (id)
		return id;
	p->nodes = pst_grow(p->nodes, &p->cap, p->n + 1, sizeof(*p->nodes));
	p->nodes[p->n++] = node;
	id = (pst_node_id)p->n;
	pst_hash_add(&p->by_place, hash, id);
	return id;
}

pst_node_id pst_profile_add(
	struct pst_profile *p, pst_node_id root, const struct pst_stack *stack, uint64_t weight)
{
	pst_node_id id = root;

	for (uint32_t i = stack->n; i > 0; i--)
		id = pst_profile_child(p, id, stack->frames[i - 1]);
	if (id)
		p->nodes[id - 1].self += weight;
	return id;
}

void pst_profile_count_again(struct pst_profile *p, pst_node_id id, uint64_t weight)
{
	if (id)
		p->nodes[id - 1].self += weight;
}

size_t pst_profile_count(const struct pst_profile *p)
{
	return p->n;
}

const struct pst_node *pst_profile_node(const struct pst_profile *p, pst_node_id id)
{
	return id && id <= p->n ? &p->nodes[id - 1] : NULL;
}

static int by_self(const void *a, const void *b)
{
	const struct pst_row *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->func > y->func) - (x->func < y->func);
}

/* Is the function of node ID on the stack above it (towards the root) too? */
static bool is_recursive(const struct pst_profile *p, const struct pst_node *node)
{
	for (pst_node_id id = node->parent; id; id = p->nodes[id - 1].parent)
		if (p->nodes[id - 1].frame.func == node->frame.func)
			return true;
	return false;
}

/* The weight of every node's subtree, from malloc: children come after their parents. */
static uint64_t *sum_subtrees(const struct pst_profile *p)
{
	uint64_t *total = pst_xcalloc(p->n + 1, sizeof(*total));

	for (size_t id = p->n; id > 0; id--) {
		total[id] += p->nodes[id - 1].self;
		total[p->nodes[id - 1].parent] += total[id];
	}
	return total;
}

size_t pst_profile_top(const struct pst_profile *p, struct pst_row **rows, uint64_t *sum)
{
	cleanup_free uint64_t *total = sum_subtrees(p);
	size_t max = 0, n = 0;
	struct pst_row *v;

	for (size_t i = 0; i < p->n; i++)
		if (p->nodes[i].frame.func > max)
			max = p->nodes[i].frame.func;
	v = pst_xcalloc(max + 1, sizeof(*v));
	for (size_t i = 0; i < p->n; i++) {
		struct pst_row *row = &v[p->nodes[i].frame.func];

		row->func = p->nodes[i].frame.func;
		row->self += p->nodes[i].self;
		if (!is_recursive(p, &p->nodes[i]))
			row->total += total[i + 1];
	}
	for (size_t f = 1; f <= max; f++)
		if (v[f].func)
			v[n++] = v[f];
	qsort(v, n, sizeof(*v), by_self);
	*rows = v;
	*sum = total[0];
	return n;
}
