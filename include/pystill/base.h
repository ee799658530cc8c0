/* What every file may use: the type of a remote address, array and cleanup helpers, and allocation
 * that cannot fail.  Knows nothing of processes. */
#ifndef PYSTILL_BASE_H
#define PYSTILL_BASE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address in the target.  Never a pointer type, so that it cannot be dereferenced by mistake. */
typedef uint64_t pst_addr_t;

#define PST_NSEC_PER_SEC  1000000000LL
#define PST_NSEC_PER_MSEC 1000000LL
#define PST_NSEC_PER_USEC 1000LL

#define PST_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PST_PRINTF(f, a)  __attribute__((format(printf, f, a)))

/* Locals that release themselves at the end of their scope; pst_steal() hands such a value out. */
#define PST_CLEANUP(fn) __attribute__((cleanup(fn)))
#define cleanup_free    PST_CLEANUP(pst_cleanup_free)
#define cleanup_close   PST_CLEANUP(pst_cleanup_close)
#define pst_steal(p)                             \
	({                                       \
		__typeof__(*(p)) stolen_ = *(p); \
		*(p) = NULL;                     \
		stolen_;                         \
	})

void pst_cleanup_free(void *pointer_to_pointer);
void pst_cleanup_close(int *fd);

/* Allocation that cannot fail: when memory runs out the program ends with one line and status 1.  The
 * kernel lets a stopped thread go when its tracer ends, so nothing needs unwinding. */
_Noreturn void pst_out_of_memory(void);
void *pst_xmalloc(size_t size);
void *pst_xcalloc(size_t n, size_t size);
void *pst_xreallocarray(void *p, size_t n, size_t size);
char *pst_xstrdup(const char *s);
char *pst_xasprintf(const char *fmt, ...) PST_PRINTF(1, 2);

/* Make *V hold at least WANT elements of SIZE bytes, growing by half as much again.  *CAP is its
 * present number of elements.  Returns the (moved) array. */
void *pst_grow(void *v, size_t *cap, size_t want, size_t size);

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t pst_now_ns(void);

#endif
