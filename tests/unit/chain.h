/* A thread with a chain of frames, as a version has them. */
#ifndef PYSTILL_TESTS_CHAIN_H
#define PYSTILL_TESTS_CHAIN_H

#include "objects.h"

/* One of each walker and layout. */
#define CHAIN_VERSIONS 9
extern const uint32_t chain_versions[CHAIN_VERSIONS];

#define V310 0x030a05f0
#define V311 0x030b02f0
#define V312 0x030c03f0
#define V313 0x030d12f0
#define V314 0x030e0af0
#define V315 0x030f02f0

/* Where frame N's code is said to be; it is never read. */
#define CODE(n) (0x7000000 + (pst_addr_t)(n)*0x1000)

/* The frames lie in one block: frame 0 is the newest. */
struct chain {
	struct objects o;
	pst_addr_t frames, thread;
	size_t n, stride;
	struct pst_raw_stack out;
	struct pst_error err;
};

/* N plain frames, and room for CAP of them in the result. */
void chain_begin(struct chain *c, uint32_t version, size_t n, uint32_t cap);
void chain_begin_flavour(
	struct chain *c, uint32_t version, enum pst_flavour flavour, size_t n, uint32_t cap);
void chain_end(struct chain *c);

pst_addr_t chain_frame(const struct chain *c, size_t i);

/* What frame I is at first; and make it another one. */
struct frame_spec chain_plain(const struct chain *c, size_t i);
void chain_put(struct chain *c, size_t i, struct frame_spec spec);

/* From 3.15 on the thread state knows which frame is the last. */
void chain_set_base(struct chain *c, pst_addr_t frame);

int chain_walk(struct chain *c);
bool chain_has_owner(const struct chain *c);

/* N plain frames of the chain, FROM ..., are in the result from INDEX on. */
void chain_check_plain(const struct chain *c, size_t index, size_t from, size_t n);

#endif
