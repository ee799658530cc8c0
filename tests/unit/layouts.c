/* Layouts for tests. */
#include "layouts.h"

#include "unit.h"

#include <elf.h>
#include <string.h>

/* What release builds for x86-64 hold from PUBLISHED_FIRST on, in the order of the struct. */
static const uint32_t values_313[] = { 283408, 608, 632, 194984, 7272, 7264, 7344, 7400, 7656, 7640,
	7648, 16, 7752, 0, 7768, 7760, 312, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56, 72, 70,
	208, 112, 120, 128, 136, 68, 52, 96, 104, 200, 16, 8, 416, 24, 88, 168, 32, 24, 16, 40, 24,
	16, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 240, 200 };
static const uint32_t values_314[] = { 316616, 784, 808, 225864, 7280, 7272, 7344, 7360, 7408, 7688,
	7672, 7680, 16, 7784, 0, 7800, 7792, 7992, 0, 832, 0, 8, 16, 72, 152, 160, 232, 32, 88, 8,
	0, 56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8, 416, 24, 88,
	168, 40, 32, 16, 40, 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32,
	64, 32, 16, 40, 264, 192, 160, 24, 72, 67, 0, 8, 24, 304, 8076, 0, 4, 512 };
static const uint32_t values_315[] = { 346568, 912, 936, 226240, 7272, 7264, 7336, 7352, 7400, 7592,
	7576, 7584, 16, 7736, 0, 7752, 7744, 7944, 0, 888, 0, 8, 16, 72, 80, 88, 96, 176, 184, 256,
	32, 36, 40, 136, 288, 0, 88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96,
	104, 208, 0, 16, 8, 424, 24, 88, 168, 32, 288, 944, 888, 40, 32, 16, 40, 24, 16, 200, 24,
	40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 56, 176, 112, 120, 1120,
	104, 160, 24, 72, 67, 0, 8, 24, 344, 8028, 0, 4, 512 };

static const struct published {
	uint32_t minor;
	const uint32_t *values;
	size_t n;
} published[] = {
	{ PST_PY(3, 13, 0), values_313, PST_ARRAY_SIZE(values_313) },
	{ PST_PY(3, 14, 0), values_314, PST_ARRAY_SIZE(values_314) },
	{ PST_PY(3, 15, 0), values_315, PST_ARRAY_SIZE(values_315) },
};

static const struct published *find_published(uint32_t version)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(published); i++)
		if (published[i].minor >> 16 == version >> 16)
			return &published[i];
	return NULL;
}

size_t layouts_published_size(uint32_t version)
{
	const struct published *p = find_published(version);

	return p ? PUBLISHED_FIRST + p->n * sizeof(uint64_t) : 0;
}

pst_addr_t layouts_publish(struct image *image, uint32_t version)
{
	const struct published *p = find_published(version);
	pst_addr_t at;

	if (!p)
		return 0;
	at = image_alloc(image, layouts_published_size(version));
	image_put(image, at, PST_COOKIE, strlen(PST_COOKIE));
	image_put_u64(image, at + 8, version);
	for (size_t i = 0; i < p->n; i++)
		image_put_u64(image, at + PUBLISHED_FIRST + i * 8, p->values[i]);
	return at;
}

const struct pst_abi *layouts_row_of(uint32_t version, enum pst_flavour flavour)
{
	const struct pst_abi_key key = { version, flavour, 64, EM_X86_64 };
	const struct pst_abi *row;
	bool newer;

	row = pst_abi_find(&key, &newer);
	MUST(row && !newer);
	return row;
}

const struct pst_abi *layouts_row(uint32_t version)
{
	return layouts_row_of(version, PST_RELEASE);
}

struct pst_layout layouts_resolve(struct image *image, uint32_t version)
{
	const struct pst_roots roots = { .runtime = layouts_publish(image, version) };
	struct pst_error err = { 0 };
	struct pst_layout layout;

	MUST(pst_abi_resolve(layouts_row(version), &image->mem, &roots, true, &layout, &err) == 0);
	return layout;
}

struct pst_layout layouts_fixed(const struct pst_abi *row)
{
	const struct pst_roots roots = { 0 };
	struct pst_error err = { 0 };
	struct pst_layout layout;

	MUST(pst_abi_resolve(row, NULL, &roots, false, &layout, &err) == 0);
	return layout;
}
