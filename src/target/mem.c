/* Memory doors, and the plain reads on top of them. */
#define _GNU_SOURCE
#include "pystill/mem.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define MAX_BATCH 1024u /* UIO_MAXIOV: process_vm_readv(2) refuses more ranges a call */

struct process {
	struct pst_mem mem;
	pid_t pid;
};

static int read_failed(const struct process *p, int sys, struct pst_error *err)
{
	if (sys == ESRCH)
		return pst_error_set(err, PST_ERR_GONE, 0, "process %d has ended", p->pid);
	return pst_error_set(err, PST_ERR_PERM, sys, "reading the memory of process %d", p->pid);
}

/* How many of the N ranges do the first COPIED bytes fill? */
static int ranges_filled(const struct pst_range *ranges, size_t n, size_t copied)
{
	size_t i;

	for (i = 0; i < n && copied >= ranges[i].size; i++)
		copied -= ranges[i].size;
	return (int)i;
}

/* One call copies its ranges in order and stops at the first byte that is not mapped (it then returns
 * what it copied, or EFAULT when that is nothing): process_vm_readv(2). */
static int process_read_batch(
	struct process *p, const struct pst_range *ranges, size_t n, struct pst_error *err)
{
	struct iovec local[MAX_BATCH], remote[MAX_BATCH];
	ssize_t copied;

	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		local[i] = (struct iovec){ ranges[i].buf, ranges[i].size };
		remote[i] = (struct iovec){ (void *)(uintptr_t)ranges[i].addr, ranges[i].size };
	}
	copied = process_vm_readv(p->pid, local, n, remote, n, 0);
	if (copied < 0)
		return errno == EFAULT ? 0 : read_failed(p, errno, err);
	return ranges_filled(ranges, n, (size_t)copied);
}

static int process_readv(
	struct pst_mem *mem, const struct pst_range *ranges, size_t n, struct pst_error *err)
{
	size_t done = 0;

	while (done < n) {
		const size_t batch = n - done < MAX_BATCH ? n - done : MAX_BATCH;
		const int k = process_read_batch((struct process *)mem, ranges + done, batch, err);

		if (k < 0)
			return -1;
		done += (size_t)k;
		if ((size_t)k < batch)
			break;
	}
	return (int)done;
}

static void process_close(struct pst_mem *mem)
{
	free(mem);
}

static const struct pst_mem_ops process_ops = {
	.name = "process_vm_readv",
	.readv = process_readv,
	.close = process_close,
};

struct pst_mem *pst_mem_open(pid_t pid, struct pst_error *err)
{
	struct process *p = pst_xcalloc(1, sizeof(*p));

	(void)err;
	p->mem.ops = &process_ops;
	p->mem.word_bytes = 8;
	p->pid = pid;
	return &p->mem;
}

void pst_mem_close(struct pst_mem *mem)
{
	if (mem)
		mem->ops->close(mem);
}

int pst_mem_readv(
	struct pst_mem *mem, const struct pst_range *ranges, size_t n, struct pst_error *err)
{
	return mem->ops->readv(mem, ranges, n, err);
}

int pst_mem_read(
	struct pst_mem *mem, pst_addr_t addr, void *buf, size_t size, struct pst_error *err)
{
	const struct pst_range range = { addr, size, buf };
	const int n = mem->ops->readv(mem, &range, 1, err);

	if (n == 1)
		return 0;
	if (n == 0)
		pst_error_set(err, PST_ERR_TORN, 0, "no memory at %#" PRIx64, addr);
	return -1;
}

pst_addr_t pst_mem_word_at(const struct pst_mem *mem, const void *bytes)
{
	uint64_t wide;
	uint32_t narrow;

	if (mem->word_bytes == 4) {
		memcpy(&narrow, bytes, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, bytes, sizeof(wide));
	return wide;
}

int pst_mem_read_addr(struct pst_mem *mem, pst_addr_t addr, pst_addr_t *out, struct pst_error *err)
{
	unsigned char word[8];

	if (pst_mem_read(mem, addr, word, mem->word_bytes, err) < 0)
		return -1;
	*out = pst_mem_word_at(mem, word);
	return 0;
}

int pst_mem_read_u64(struct pst_mem *mem, pst_addr_t addr, uint64_t *out, struct pst_error *err)
{
	return pst_mem_read(mem, addr, out, sizeof(*out), err);
}

int pst_mem_read_i32(struct pst_mem *mem, pst_addr_t addr, int32_t *out, struct pst_error *err)
{
	return pst_mem_read(mem, addr, out, sizeof(*out), err);
}

/* In pieces that end at multiples of 64, so that a string at the end of a mapping is read too. */
int pst_mem_read_cstr(
	struct pst_mem *mem, pst_addr_t addr, char *buf, size_t cap, struct pst_error *err)
{
	size_t len = 0;

	while (len < cap - 1) {
		size_t piece = 64 - (addr + len) % 64;

		if (piece > cap - 1 - len)
			piece = cap - 1 - len;
		if (pst_mem_read(mem, addr + len, buf + len, piece, err) < 0)
			return -1;
		if (memchr(buf + len, '\0', piece))
			return 0;
		len += piece;
	}
	buf[len] = '\0';
	return 0;
}
