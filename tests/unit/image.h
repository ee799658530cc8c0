/* Memory of a process that is not there: blocks of bytes at addresses, read as a struct pst_mem.  Every
 * call is written down, can be made to fail, and can be preceded by a change of the memory. */
#ifndef PYSTILL_TESTS_IMAGE_H
#define PYSTILL_TESTS_IMAGE_H

#include "pystill/mem.h"

struct image_block {
	pst_addr_t addr;
	size_t size;
	unsigned char *bytes;
};

/* One call, and where in IMAGE.ranges its ranges are. */
struct image_call {
	size_t first, n;
};

struct image {
	struct pst_mem mem;         /* first: an image is a memory */
	struct image_block *blocks; /* ascending */
	size_t n_blocks, cap_blocks;
	pst_addr_t next; /* where the next block from image_alloc() lies */
	struct image_call *calls;
	size_t n_calls, cap_calls;
	struct pst_range *ranges;
	size_t n_ranges, cap_ranges;
	size_t fail_call, hook_call; /* counted from 1; 0: never */
	enum pst_error_code fail_code;
	void (*hook)(void *ctx);
	void *hook_ctx;
};

void image_init(struct image *image, unsigned word_bytes);
void image_fini(struct image *image);

/* A block of zeros.  A read that leaves its block finds nothing there, whatever follows. */
void image_map(struct image *image, pst_addr_t addr, size_t size);
void image_unmap(struct image *image, pst_addr_t addr);

/* A block at an address of the image's choice: a multiple of 64, far from all others. */
pst_addr_t image_alloc(struct image *image, size_t size);

/* Write to mapped memory. */
void image_put(struct image *image, pst_addr_t addr, const void *bytes, size_t size);
void image_put_word(struct image *image, pst_addr_t addr, pst_addr_t value);
void image_put_int(struct image *image, pst_addr_t addr, int32_t value);
void image_put_u64(struct image *image, pst_addr_t addr, uint64_t value);
void image_put_byte(struct image *image, pst_addr_t addr, uint8_t value);

/* A NUL-terminated string in a block of its own. */
pst_addr_t image_string(struct image *image, const char *text);

/* Forget the calls so far; the counts below begin anew. */
void image_forget(struct image *image);

/* From the Nth call on, say CODE; 0 ends that. */
void image_fail(struct image *image, size_t n, enum pst_error_code code);

/* Before the Nth call, run HOOK. */
void image_hook(struct image *image, size_t n, void (*hook)(void *ctx), void *ctx);

/* How often was any of ADDR's bytes read? */
size_t image_count_reads(const struct image *image, pst_addr_t addr);

#endif
