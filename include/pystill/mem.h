/* Reading the target's memory, by an ops struct: a running process, a view of one snapshot, or an image
 * in a test.  Nothing is ever written.  The target may be running unless its caller stopped it; what is
 * read is then a snapshot of that moment, range by range in the order given. */
#ifndef PYSTILL_MEM_H
#define PYSTILL_MEM_H

#include "pystill/error.h"

#include <sys/types.h>

/* SIZE bytes at ADDR in the target, copied to BUF. */
struct pst_range {
	pst_addr_t addr;
	size_t size;
	void *buf;
};

struct pst_mem;

struct pst_mem_ops {
	const char *name;
	/* Copy the ranges in order.  Returns how many were copied whole: N, or the index of the
	 * first that is not mapped; -1 with ERR set (GONE, PERM) when nothing can be read at all. */
	int (*readv)(struct pst_mem *mem, const struct pst_range *ranges, size_t n,
		struct pst_error *err);
	void (*close)(struct pst_mem *mem);
};

struct pst_mem {
	const struct pst_mem_ops *ops;
	unsigned word_bytes; /* size of a pointer of the target: 8 or 4 */
};

/* Open the memory of process PID.  Returns NULL with ERR set. */
struct pst_mem *pst_mem_open(pid_t pid, struct pst_error *err);
void pst_mem_close(struct pst_mem *mem);

/* See pst_mem_ops.readv. */
int pst_mem_readv(
	struct pst_mem *mem, const struct pst_range *ranges, size_t n, struct pst_error *err);

/* The calls below return 0, or -1 with ERR set: TORN if some of it is not mapped, else GONE or PERM. */
int pst_mem_read(
	struct pst_mem *mem, pst_addr_t addr, void *buf, size_t size, struct pst_error *err);
int pst_mem_read_addr(struct pst_mem *mem, pst_addr_t addr, pst_addr_t *out, struct pst_error *err);
int pst_mem_read_u64(struct pst_mem *mem, pst_addr_t addr, uint64_t *out, struct pst_error *err);
int pst_mem_read_i32(struct pst_mem *mem, pst_addr_t addr, int32_t *out, struct pst_error *err);

/* A NUL-terminated string of at most CAP - 1 bytes: longer ones are cut. */
int pst_mem_read_cstr(
	struct pst_mem *mem, pst_addr_t addr, char *buf, size_t cap, struct pst_error *err);

/* A pointer of the target that lies in a local copy. */
pst_addr_t pst_mem_word_at(const struct pst_mem *mem, const void *bytes);

#endif
