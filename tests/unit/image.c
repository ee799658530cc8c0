/* A memory made of blocks. */
#include "image.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ADDRESS 0x100000u
#define GAP           4096u

/* The first block that ends behind ADDR. */
static size_t find(const struct image *image, pst_addr_t addr)
{
	size_t lo = 0, hi = image->n_blocks;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (image->blocks[mid].addr + image->blocks[mid].size <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The bytes of [ADDR, ADDR + SIZE), or NULL. */
static unsigned char *bytes_at(const struct image *image, pst_addr_t addr, size_t size)
{
	const size_t i = find(image, addr);
	const struct image_block *b = &image->blocks[i];

	if (i == image->n_blocks || addr < b->addr || size > b->size - (addr - b->addr))
		return NULL;
	return b->bytes + (addr - b->addr);
}

static void write_down(struct image *image, const struct pst_range *ranges, size_t n)
{
	image->calls = pst_grow(
		image->calls, &image->cap_calls, image->n_calls + 1, sizeof(*image->calls));
	image->calls[image->n_calls++] = (struct image_call){ image->n_ranges, n };
	image->ranges = pst_grow(
		image->ranges, &image->cap_ranges, image->n_ranges + n, sizeof(*image->ranges));
	if (n)
		memcpy(image->ranges + image->n_ranges, ranges, n * sizeof(*ranges));
	image->n_ranges += n;
}

static int image_readv(
	struct pst_mem *mem, const struct pst_range *ranges, size_t n, struct pst_error *err)
{
	struct image *image = (struct image *)mem;

	write_down(image, ranges, n);
	if (image->hook_call && image->n_calls == image->hook_call)
		image->hook(image->hook_ctx);
	if (image->fail_call && image->n_calls >= image->fail_call)
		return pst_error_set(err, image->fail_code, 0, "the image says so");
	for (size_t i = 0; i < n; i++) {
		const unsigned char *bytes = bytes_at(image, ranges[i].addr, ranges[i].size);

		if (!ranges[i].size)
			continue;
		if (!bytes)
			return (int)i;
		memcpy(ranges[i].buf, bytes, ranges[i].size);
	}
	return (int)n;
}

static void image_close(struct pst_mem *mem)
{
	image_fini((struct image *)mem);
}

static const struct pst_mem_ops image_ops = {
	.name = "image",
	.readv = image_readv,
	.close = image_close,
};

void image_init(struct image *image, unsigned word_bytes)
{
	memset(image, 0, sizeof(*image));
	image->mem.ops = &image_ops;
	image->mem.word_bytes = word_bytes;
	image->next = FIRST_ADDRESS;
}

void image_fini(struct image *image)
{
	for (size_t i = 0; i < image->n_blocks; i++)
		free(image->blocks[i].bytes);
	free(image->blocks);
	free(image->calls);
	free(image->ranges);
	memset(image, 0, sizeof(*image));
}

void image_map(struct image *image, pst_addr_t addr, size_t size)
{
	const size_t at = find(image, addr);

	MUST(size > 0);
	MUST(at == image->n_blocks || addr + size <= image->blocks[at].addr);
	image->blocks = pst_grow(
		image->blocks, &image->cap_blocks, image->n_blocks + 1, sizeof(*image->blocks));
	memmove(image->blocks + at + 1, image->blocks + at,
		(image->n_blocks - at) * sizeof(*image->blocks));
	image->blocks[at] = (struct image_block){ addr, size, pst_xcalloc(size, 1) };
	image->n_blocks++;
}

void image_unmap(struct image *image, pst_addr_t addr)
{
	const size_t at = find(image, addr);

	MUST(bytes_at(image, addr, 1) != NULL);
	free(image->blocks[at].bytes);
	image->n_blocks--;
	memmove(image->blocks + at, image->blocks + at + 1,
		(image->n_blocks - at) * sizeof(*image->blocks));
}

pst_addr_t image_alloc(struct image *image, size_t size)
{
	const pst_addr_t addr = image->next;

	image_map(image, addr, size);
	image->next = (addr + size + 2 * GAP - 1) / GAP * GAP;
	return addr;
}

void image_put(struct image *image, pst_addr_t addr, const void *bytes, size_t size)
{
	unsigned char *at = bytes_at(image, addr, size);

	MUST(at != NULL);
	if (size)
		memcpy(at, bytes, size);
}

void image_put_word(struct image *image, pst_addr_t addr, pst_addr_t value)
{
	const uint32_t narrow = (uint32_t)value;

	if (image->mem.word_bytes == 4)
		image_put(image, addr, &narrow, sizeof(narrow));
	else
		image_put(image, addr, &value, sizeof(value));
}

void image_put_int(struct image *image, pst_addr_t addr, int32_t value)
{
	image_put(image, addr, &value, sizeof(value));
}

void image_put_u64(struct image *image, pst_addr_t addr, uint64_t value)
{
	image_put(image, addr, &value, sizeof(value));
}

void image_put_byte(struct image *image, pst_addr_t addr, uint8_t value)
{
	image_put(image, addr, &value, sizeof(value));
}

/* Strings are read in pieces up to the next multiple of 64. */
pst_addr_t image_string(struct image *image, const char *text)
{
	const size_t size = strlen(text) + 1;
	const pst_addr_t addr = image_alloc(image, (size + 63) / 64 * 64);

	image_put(image, addr, text, size);
	return addr;
}

void image_forget(struct image *image)
{
	image->n_calls = image->n_ranges = 0;
}

void image_fail(struct image *image, size_t n, enum pst_error_code code)
{
	image_forget(image);
	image->fail_call = n;
	image->fail_code = code;
}

void image_hook(struct image *image, size_t n, void (*hook)(void *ctx), void *ctx)
{
	image_forget(image);
	image->hook_call = n;
	image->hook = hook;
	image->hook_ctx = ctx;
}

size_t image_count_reads(const struct image *image, pst_addr_t addr)
{
	size_t n = 0;

	for (size_t i = 0; i < image->n_ranges; i++)
		n += addr >= image->ranges[i].addr &&
			addr - image->ranges[i].addr < image->ranges[i].size;
	return n;
}
