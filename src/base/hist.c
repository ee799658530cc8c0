/* Slots are 16 for each power of two: values below 16 have one each. */
#include "pystill/hist.h"

#define BITS 4u
#define EACH (1u << BITS)

static unsigned slot_of(uint64_t value)
{
	unsigned power = 0;

	if (value < EACH)
		return (unsigned)value;
	while (value >> power >= 2 * EACH)
		power++;
	return EACH * power + (unsigned)(value >> power);
}

/* The greatest value that counts in a slot. */
static int64_t top_of(unsigned slot)
{
	const unsigned power = slot < 2 * EACH ? 0 : slot / EACH - 1;
	const uint64_t base = slot - EACH * power;

	return (int64_t)(((base + 1) << power) - 1);
}

void pst_hist_add(struct pst_hist *h, int64_t value)
{
	if (value < 0)
		value = 0;
	h->n++;
	h->sum += value;
	if (value > h->max)
		h->max = value;
	h->slots[slot_of((uint64_t)value)]++;
}

int64_t pst_hist_quantile(const struct pst_hist *h, double share)
{
	const double wanted = share * (double)h->n;
	uint64_t below = 0;

	for (unsigned i = 0; i < PST_HIST_SLOTS; i++) {
		below += h->slots[i];
		if (below && (double)below >= wanted)
			return top_of(i) < h->max ? top_of(i) : h->max;
	}
	return h->max;
}
