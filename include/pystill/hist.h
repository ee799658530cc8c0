/* A histogram of durations: fixed size, every value kept to within 1/16 of itself. */
#ifndef PYSTILL_HIST_H
#define PYSTILL_HIST_H

#include "pystill/base.h"

#define PST_HIST_SLOTS (16u * 61u)

struct pst_hist {
	uint64_t n;
	int64_t sum, max; /* exact */
	uint32_t slots[PST_HIST_SLOTS];
};

/* Count VALUE; a negative one counts as 0. */
void pst_hist_add(struct pst_hist *hist, int64_t value);

/* The least value that SHARE (0 to 1) of all are at or below, to within 1/16; 0 when there are none. */
int64_t pst_hist_quantile(const struct pst_hist *hist, double share);

#endif
