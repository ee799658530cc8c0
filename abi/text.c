/* Text objects as UTF-8. */
#include "pystill/abi.h"

#include "pystill/utf8.h"

#include <string.h>

#define BYTES_SUBCLASS (1ul << 27) /* Py_TPFLAGS_STRING_SUBCLASS, 2.6+ */
#define STR_SUBCLASS   (1ul << 28) /* Py_TPFLAGS_UNICODE_SUBCLASS, 2.6+ */
#define COMPACT        (1u << 3)   /* of str's state, counted from `kind` */
#define ASCII          (1u << 4)
#define PIECE          512u
#define MAX_TEXT       (1u << 30)

static int no_text(pst_addr_t addr, struct pst_error *err)
{
	return pst_error_set(err, PST_ERR_TORN, 0, "no text at %#" PRIx64, addr);
}

/* Does the type of the object at ADDR, or a base of it, carry FLAG?  Before there were such flags it must be
 * called NAME. */
static int check_type(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	unsigned long flag, const char *name, struct pst_error *err)
{
	pst_addr_t type, flags;
	bool is;

	if (layout->off.type_flags == PST_ABSENT) {
		if (pst_object_is(layout, mem, addr, name, &is, err) < 0)
			return -1;
		return is ? 0 : no_text(addr, err);
	}
	if (pst_mem_read_addr(mem, addr + (pst_addr_t)layout->off.object_type, &type, err) < 0 ||
		pst_mem_read_addr(mem, type + (pst_addr_t)layout->off.type_flags, &flags, err) < 0)
		return -1;
	return flags & flag ? 0 : no_text(addr, err);
}

/* Append code points to BUF until CAP is full.  Narrow builds keep large ones as pairs of surrogates. */
struct sink {
	char *buf;
	size_t len, cap;
	uint32_t high; /* the first of a pair, or 0 */
};

static bool put_one(struct sink *s, uint32_t code_point)
{
	char bytes[PST_UTF8_MAX];
	const size_t n = pst_utf8_put(bytes, code_point);

	if (n > s->cap - s->len)
		return false;
	memcpy(s->buf + s->len, bytes, n);
	s->len += n;
	return true;
}

static bool put(struct sink *s, uint32_t c)
{
	const uint32_t high = s->high;

	s->high = 0;
	if (high && c >= 0xdc00 && c <= 0xdfff)
		return put_one(s, 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00));
	if (high && !put_one(s, high))
		return false;
	if (c >= 0xd800 && c <= 0xdbff) {
		s->high = c;
		return true;
	}
	return put_one(s, c);
}

static size_t finish(struct sink *s)
{
	if (s->high)
		put_one(s, s->high);
	return s->len;
}

static uint32_t unit(const unsigned char *p, unsigned kind)
{
	uint16_t two;
	uint32_t four;

	if (kind == 1)
		return *p;
	if (kind == 2) {
		memcpy(&two, p, sizeof(two));
		return two;
	}
	memcpy(&four, p, sizeof(four));
	return four;
}

/* LENGTH units of KIND bytes at ADDR. */
static int read_units(struct pst_mem *mem, pst_addr_t addr, uint64_t length, unsigned kind,
	struct sink *s, struct pst_error *err)
{
	unsigned char bytes[PIECE];

	if (length > s->cap)
		length = s->cap;
	for (uint64_t done = 0; done < length;) {
		uint64_t n = PIECE / kind;

		if (n > length - done)
			n = length - done;
		if (pst_mem_read(mem, addr + done * kind, bytes, n * kind, err) < 0)
			return -1;
		for (uint64_t i = 0; i < n; i++)
			if (!put(s, unit(bytes + i * kind, kind)))
				return 0;
		done += n;
	}
	return 0;
}

/* PEP 393: a head with length and state, the text behind it (compact) or elsewhere. */
int pst_text_flexible(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	char *buf, size_t cap, size_t *len, struct pst_error *err)
{
	const struct pst_offsets *o = &layout->off;
	struct sink s = { .buf = buf, .cap = cap };
	pst_addr_t length, data;
	int32_t state;
	unsigned bits, kind;

	if (check_type(layout, mem, addr, STR_SUBCLASS, "str", err) < 0 ||
		pst_mem_read_addr(mem, addr + (pst_addr_t)o->str_length, &length, err) < 0 ||
		pst_mem_read_i32(mem, addr + (pst_addr_t)o->str_state, &state, err) < 0)
		return -1;
	bits = (unsigned)state >> layout->str_kind_bit;
	kind = bits & 7;
	if (kind != 1 && kind != 2 && kind != 4)
		return no_text(addr, err);
	if (bits & COMPACT)
		data = addr + (pst_addr_t)(bits & ASCII ? o->str_ascii : o->str_compact);
	else if (pst_mem_read_addr(mem, addr + (pst_addr_t)o->str_data, &data, err) < 0)
		return -1;
	if (read_units(mem, data, length, kind, &s, err) < 0)
		return -1;
	*len = finish(&s);
	return 0;
}

/* UCS2 or UCS4, by how Python was built.  Where no symbol tells: names have no NUL, so a unit of 2 bytes that is 0
 * within the length is half of one of 4. */
static int find_width(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t data,
	uint64_t length, unsigned *width, struct pst_error *err)
{
	uint16_t units[64];
	const uint64_t n = length < PST_ARRAY_SIZE(units) ? length : PST_ARRAY_SIZE(units);

	*width = layout->unicode_bytes;
	if (*width)
		return 0;
	if (pst_mem_read(mem, data, units, n * sizeof(*units), err) < 0)
		return -1;
	*width = 2;
	for (uint64_t i = 0; i < n; i++)
		if (!units[i])
			*width = 4;
	return 0;
}

int pst_text_wide(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr, char *buf,
	size_t cap, size_t *len, struct pst_error *err)
{
	struct sink s = { .buf = buf, .cap = cap };
	uint64_t length = 0;
	pst_addr_t data;
	unsigned width;

	if (check_type(layout, mem, addr, STR_SUBCLASS, "unicode", err) < 0 ||
		pst_mem_read(mem, addr + (pst_addr_t)layout->off.ustr_length, &length,
			pst_size_bytes(layout, mem), err) < 0 ||
		pst_mem_read_addr(mem, addr + (pst_addr_t)layout->off.ustr_data, &data, err) < 0)
		return -1;
	if (length > MAX_TEXT)
		return no_text(addr, err);
	if (find_width(layout, mem, data, length, &width, err) < 0 ||
		read_units(mem, data, length, width, &s, err) < 0)
		return -1;
	*len = finish(&s);
	return 0;
}

/* Bytes that are UTF-8 as a rule, but need not be. */
int pst_text_bytes(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr, char *buf,
	size_t cap, size_t *len, struct pst_error *err)
{
	struct sink s = { .buf = buf, .cap = cap };
	char bytes[16384];
	uint64_t size;

	if (check_type(layout, mem, addr, BYTES_SUBCLASS, "str", err) < 0 ||
		pst_object_size(layout, mem, addr, MAX_TEXT, &size, err) < 0)
		return -1;
	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (pst_mem_read(mem, addr + (pst_addr_t)layout->off.bytes_data, bytes, size, err) < 0)
		return -1;
	for (size_t at = 0; at < size;) {
		uint32_t code_point;

		at += pst_utf8_get(bytes + at, size - at, &code_point);
		if (!put(&s, code_point))
			break;
	}
	*len = finish(&s);
	return 0;
}
