/* Where the members lie, version by version: numbers measured in interpreters and their debug information,
 * not taken from the rows under test. */
#ifndef PYSTILL_TESTS_ABI_FACTS_H
#define PYSTILL_TESTS_ABI_FACTS_H

#include "pystill/abi.h"

#define FACT_VERSIONS 12

/* One of each version from 2.7 and 3.6 on, and both rows of 3.7. */
extern const uint32_t fact_versions[FACT_VERSIONS];

/* A member of struct pst_offsets. */
struct fact {
	const char *name;
	size_t member; /* offset in struct pst_offsets */
	int32_t at[FACT_VERSIONS];
};

extern const struct fact facts[];
extern const size_t n_facts;

/* The offset that LAYOUT has for a fact's member. */
int32_t fact_of(const struct pst_layout *layout, const struct fact *fact);

#endif
