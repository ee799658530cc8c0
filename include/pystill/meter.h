/* The truth meter: how much of what was wanted was seen, what stands behind it, and what it cost. */
#ifndef PYSTILL_METER_H
#define PYSTILL_METER_H

#include "pystill/sample.h"

struct pst_meter {
	double seconds; /* in which there was a Python to sample */
	double wanted;  /* samples in that time, at the rate that was asked for */
	uint64_t samples;
	double rate_hz;                                              /* of those */
	uint64_t exact, unproved, failed, failed_by[PST_FAIL_COUNT]; /* stacks */
	/* Of the target's time.  The share is of the wall time; the others are the length of one stop. */
	uint64_t stops;
	int64_t stop_median_ns, stop_p99_ns, stop_max_ns;
	double stop_share;
	double cpu_share; /* our own CPU time, of the wall time */
};

#define PST_METER_TEXT 600

/* It as one line without its end. */
void pst_meter_text(const struct pst_meter *meter, char text[PST_METER_TEXT]);

#endif
