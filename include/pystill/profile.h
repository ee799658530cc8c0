/* What was seen: distinct stacks in a call tree, and how often each was there.  Memory grows with distinct
 * stacks only, never with samples. */
#ifndef PYSTILL_PROFILE_H
#define PYSTILL_PROFILE_H

#include "pystill/sample.h"

/* A node is a frame under its caller's node.  Ids are dense; 0 is the root of all. */
typedef uint32_t pst_node_id;

struct pst_node {
	pst_node_id parent;
	struct pst_frame frame;
	uint64_t self; /* weight of the stacks that end here */
};

struct pst_profile;

struct pst_profile *pst_profile_new(void);
void pst_profile_free(struct pst_profile *profile);

/* The node of FRAME under PARENT, made if need be. */
pst_node_id pst_profile_child(
	struct pst_profile *profile, pst_node_id parent, struct pst_frame frame);

/* Add WEIGHT to STACK below the node ROOT.  Returns its node. */
pst_node_id pst_profile_add(struct pst_profile *profile, pst_node_id root,
	const struct pst_stack *stack, uint64_t weight);

/* Add WEIGHT to the stack that ends at NODE once more. */
void pst_profile_count_again(struct pst_profile *profile, pst_node_id node, uint64_t weight);

/* Nodes have ids from 1 to the count; a parent's id is always smaller than its child's.  The pointer is valid
 * until the next node is made. */
size_t pst_profile_count(const struct pst_profile *profile);
const struct pst_node *pst_profile_node(const struct pst_profile *profile, pst_node_id id);

/* A function's share.  TOTAL counts a stack once, however often the function is on it. */
struct pst_row {
	pst_func_id func;
	uint64_t self, total;
};

/* One row a function, most self weight first, from malloc; *SUM is the weight of all stacks.  Nodes whose
 * frame has no function (roots) are passed over.  Returns the number of rows. */
size_t pst_profile_top(const struct pst_profile *profile, struct pst_row **rows, uint64_t *sum);

#endif
