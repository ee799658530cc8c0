/* The vocabulary of a sample: data only.  All pointers are borrowed from the sampler and valid until the
 * sink that was given them returns. */
#ifndef PYSTILL_SAMPLE_H
#define PYSTILL_SAMPLE_H

#include "pystill/names.h"

#include <sys/types.h>

struct pst_frame {
	pst_func_id func;
	int32_t line; /* 1-based; 0 where the code has none */
};

/* Leaf first. */
struct pst_stack {
	const struct pst_frame *frames;
	uint32_t n;
	bool truncated; /* there were more frames: the newest are here */
};

/* What stands behind a stack. */
enum pst_proof {
	PST_EXACT,    /* it stood still while it was read, proved */
	PST_UNPROVED, /* read twice alike while it may have moved */
	PST_FAILED,   /* not read, or not fit to be shown: see pst_fail */
};

/* Why a sample failed. */
#define PST_FAILS(X)                                      \
	X(NOT_STOPPED, "the thread did not stop in time") \
	X(HELD, "the stack took too long to read")        \
	X(MOVED, "the thread never stood still")          \
	X(TORN, "its memory made no sense")

enum pst_fail {
#define X(name, text) PST_FAIL_##name,
	PST_FAILS(X)
#undef X
		PST_FAIL_COUNT
};

/* One thread in one sample. */
struct pst_thread_sample {
	size_t index;     /* place in the target's list of threads: the newest is first */
	pid_t tid;        /* the kernel's, in our pid namespace; 0 unknown */
	pst_addr_t ident; /* pthread_self() of the target's thread */
	pst_name_id name; /* as threading has it, or 0 */
	bool holds_gil;
	enum pst_proof proof;
	enum pst_fail fail; /* when proof is PST_FAILED */
	uint64_t
		serial; /* of the stack: as long as it is the same, so are thread and stack; 0: none */
	struct pst_stack stack;
};

/* One process at one moment.  N is 0 when no thread was to be shown: idle. */
struct pst_sample {
	int64_t time_ns;                         /* CLOCK_MONOTONIC */
	const struct pst_thread_sample *threads; /* by index */
	size_t n;
};

#endif
