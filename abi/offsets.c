/* A row becomes a layout: fixed numbers are taken as they are, published ones are read from the target and
 * bounds-checked, and what a row leaves out comes from its base. */
#include "pystill/abi.h"

#include <string.h>

#define MAX_PUBLISHED \
	(1u << 20)      /* the largest struct, PyInterpreterState, has some 250,000 bytes */
#define MAX_BLOCK 4096u /* of _Py_DebugOffsets; 3.15 has 888 */

bool pst_self_description_ok(const struct pst_self_description *d)
{
	return memcmp(d->cookie, PST_COOKIE, sizeof(d->cookie)) == 0 && d->free_threaded <= 1 &&
		d->version <= UINT32_MAX && d->version >> 24 == 3;
}

/* The place of a member: as ROW says, else as its base says. */
static struct pst_place find_place(const struct pst_abi *row, size_t member)
{
	struct pst_place place = { 0, 0 };

	for (; row && !place.at; row = row->base)
		memcpy(&place, (const char *)&row->at + member, sizeof(place));
	return place;
}

/* The self-description, as far as the row needs it. */
static int read_block(struct pst_mem *mem, pst_addr_t runtime, size_t size, unsigned char *block,
	struct pst_error *err)
{
	if (size == 0)
		return 0;
	if (size > MAX_BLOCK || !runtime)
		return pst_error_set(err, PST_ERR_UNSUPPORTED, 0,
			"this version describes itself in _PyRuntime, which was not found");
	if (pst_mem_read(mem, runtime, block, size, err) < 0)
		return pst_error_wrap(err, "reading _Py_DebugOffsets");
	return 0;
}

/* Every value of the self-description has 8 bytes, on 32 bits too. */
static int resolve_place(struct pst_place place, bool published, const unsigned char *block,
	const char *name, int32_t *out, struct pst_error *err)
{
	uint64_t value;

	*out = place.at ? (int32_t)(place.at - 1) : PST_ABSENT;
	if (!place.slot || !published)
		return 0;
	memcpy(&value, block + place.slot - 1, sizeof(value));
	if (value > MAX_PUBLISHED)
		return pst_error_set(err, PST_ERR_UNSUPPORTED, 0,
			"its _Py_DebugOffsets give %" PRIu64 " as offset of %s, which cannot be",
			value, name);
	*out = (int32_t)value;
	return 0;
}

static const struct member {
	const char *name;
	size_t place, offset;
} members[] = {
#define F(group, member)                                                     \
	{ #group "." #member, offsetof(struct pst_places, group##_##member), \
		offsetof(struct pst_offsets, group##_##member) },
	PST_OFFSETS(F)
#undef F
};

/* How much of the self-description does the row need? */
static size_t block_size(const struct pst_abi *row)
{
	size_t size = 0;

	for (size_t i = 0; i < PST_ARRAY_SIZE(members); i++) {
		const struct pst_place place = find_place(row, members[i].place);
		const size_t end = place.slot ? place.slot - 1 + sizeof(uint64_t) : 0;

		if (end > size)
			size = end;
	}
	return size;
}

bool pst_abi_has_slots(const struct pst_abi *row)
{
	return block_size(row) > 0;
}

static void resolve_functions(const struct pst_abi *row, struct pst_layout *out)
{
#define TAKE(member) out->member = out->member ? out->member : row->member
	for (; row; row = row->base) {
		if (!out->gen_created && !out->gen_executing) {
			out->gen_created = row->gen_created;
			out->gen_executing = row->gen_executing;
		}
		TAKE(frames);
		TAKE(lines);
		TAKE(text);
		TAKE(gil);
		TAKE(dict);
		TAKE(attr);
		TAKE(lasti_unit);
		TAKE(size_bytes);
		TAKE(str_kind_bit);
	}
#undef TAKE
}

int pst_abi_resolve(const struct pst_abi *row, struct pst_mem *mem, const struct pst_roots *roots,
	bool published, struct pst_layout *out, struct pst_error *err)
{
	unsigned char block[MAX_BLOCK] = { 0 };

	memset(out, 0, sizeof(*out));
	out->row = row;
	out->published = published && pst_abi_has_slots(row);
	out->unicode_bytes = roots->unicode_ucs4 ? 4 : roots->unicode_ucs2 ? 2 : 0;
	if (out->published && read_block(mem, roots->runtime, block_size(row), block, err) < 0)
		return -1;
	for (size_t i = 0; i < PST_ARRAY_SIZE(members); i++) {
		int32_t *offset = (int32_t *)((char *)&out->off + members[i].offset);

		if (resolve_place(find_place(row, members[i].place), out->published, block,
			    members[i].name, offset, err) < 0)
			return -1;
	}
	resolve_functions(row, out);
	return 0;
}

pst_addr_t pst_abi_head_word(const struct pst_layout *layout, const struct pst_roots *roots)
{
	if (layout->off.runtime_interpreters_head == PST_ABSENT)
		return roots->interp_head;
	return roots->runtime ? roots->runtime + (pst_addr_t)layout->off.runtime_interpreters_head
			      : 0;
}
