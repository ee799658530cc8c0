/* Text objects as UTF-8. */
#include "pystill/abi.h"

#include "pystill/utf8.h"

#include <string.h>

#define BYTES_SUBCLASS (1ul << 27) /* Py_TPFLAGS_STRING_SUBCLASS, 2.6+ */
#define STR_SUBCLASS   (1ul << 28) /* Py_TPFLAGS_UNICODE_SUBCLASS, 2.6+ */
#define PIECE          512u

/* Does the type of the object at ADDR, or a base of it, carry FLAG? */
static int check_type(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	unsigned long flag, struct pst_error *err)
{
	pst_addr_t type, flags;

	if (layout->off.type_flags == PST_ABSENT)
		return 0;
	if (pst_mem_read_addr(mem, addr + (pst_addr_t)layout->off.object_type, &type, err) < 0 ||
		pst_mem_read_addr(mem, type + (pst_addr_t)layout->off.type_flags, &flags, err) < 0)
		return -1;
	if (!(flags & flag))
		return pst_error_set(err, PST_ERR_TORN, 0, "no text at %#" PRIx64, addr);
	return 0;
}

/* Append code points to BUF until CAP is full. */
struct sink {
	char *buf;
	size_t len, cap;
};

static bool put(struct sink *s, uint32_t code_point)
{
	char bytes[PST_UTF8_MAX];
	const size_t n = pst_utf8_put(bytes, code_point);

	if (n > s->cap - s->len)
		return false;
	memcpy(s->buf + s->len, bytes, n);
	s->len += n;
	return true;
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
	struct sink s = { buf, 0, cap };
	pst_addr_t length, data;
	int32_t state;
	unsigned kind;

	if (check_type(layout, mem, addr, STR_SUBCLASS, err) < 0 ||
		pst_mem_read_addr(mem, addr + (pst_addr_t)o->str_length, &length, err) < 0 ||
		pst_mem_read_i32(mem, addr + (pst_addr_t)o->str_state, &state, err) < 0)
		return -1;
	kind = (unsigned)state >> 2 & 7;
	if (kind != 1 && kind != 2 && kind != 4)
		return pst_error_set(err, PST_ERR_TORN, 0, "no text at %#" PRIx64, addr);
	if (state & 1 << 5)
		data = addr + (pst_addr_t)(state & 1 << 6 ? o->str_ascii : o->str_compact);
	else if (pst_mem_read_addr(mem, addr + (pst_addr_t)o->str_data, &data, err) < 0)
		return -1;
	if (read_units(mem, data, length, kind, &s, err) < 0)
		return -1;
	*len = s.len;
	return 0;
}

/* Bytes that are UTF-8 as a rule, but need not be. */
int pst_text_bytes(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr, char *buf,
	size_t cap, size_t *len, struct pst_error *err)
{
	struct sink s = { buf, 0, cap };
	char bytes[16384];
	pst_addr_t size;

	if (check_type(layout, mem, addr, BYTES_SUBCLASS, err) < 0 ||
		pst_mem_read_addr(mem, addr + (pst_addr_t)layout->off.bytes_size, &size, err) < 0)
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
	*len = s.len;
	return 0;
}
