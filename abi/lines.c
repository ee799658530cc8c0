/* The line-table decoders.  The tables come from the target: every byte is checked to be there. */
#include "pystill/abi.h"

/* A line that a broken table made up is shown as 0, unknown. */
static int32_t sane(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
}

/* co_lnotab: pairs (bytes of code, lines), both since the pair before; Objects/lnotab_notes.txt. */
static int32_t lnotab(const uint8_t *table, size_t len, int32_t first, int32_t lasti, bool has_sign)
{
	int64_t line = first, addr = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		addr += table[i];
		if (addr > lasti)
			break;
		line += has_sign ? (int8_t)table[i + 1] : table[i + 1];
	}
	return sane(line);
}

int32_t pst_lines_lnotab_unsigned(const uint8_t *table, size_t len, int32_t first, int32_t lasti)
{
	return lnotab(table, len, first, lasti, false);
}

int32_t pst_lines_lnotab(const uint8_t *table, size_t len, int32_t first, int32_t lasti)
{
	return lnotab(table, len, first, lasti, true);
}

/* co_linetable of 3.10: pairs (bytes of code, signed lines); a pair's line holds for its own bytes, and
 * -128 means that these have none (PEP 626). */
int32_t pst_lines_ranges(const uint8_t *table, size_t len, int32_t first, int32_t lasti)
{
	int64_t line = first, addr = 0;

	if (lasti < 0)
		return sane(first);
	for (size_t i = 0; i + 1 < len; i += 2) {
		const int8_t delta = (int8_t)table[i + 1];
		const bool has_line = delta != -128;

		line += has_line ? delta : 0;
		addr += table[i];
		if (lasti < addr)
			return has_line ? sane(line) : 0;
	}
	return 0;
}

struct cursor {
	const uint8_t *at, *end;
	bool cut; /* the table ended in the middle of an entry */
};

/* Six bits a byte, low first, bit 6 says that more follow.  More than 32 bits are cut off. */
static uint32_t varint(struct cursor *c)
{
	uint32_t value = 0, byte = 0x40;

	for (unsigned shift = 0; (byte & 0x40) && c->at < c->end; shift += 6) {
		byte = *c->at++;
		if (shift < 32)
			value |= (byte & 0x3f) << shift;
	}
	c->cut |= byte & 0x40;
	return value;
}

static int64_t signed_varint(struct cursor *c)
{
	const uint32_t value = varint(c);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static void skip(struct cursor *c, ptrdiff_t bytes)
{
	c->cut |= c->end - c->at < bytes;
	c->at = c->cut ? c->end : c->at + bytes;
}

/* Read what follows the first byte of an entry; returns by how much the line moves, and whether the entry
 * has one.  Objects/locations.md: 15 none, 14 long, 13 no columns, 10-12 one line, 0-9 short. */
static int64_t entry_delta(struct cursor *c, unsigned kind, bool *has_line)
{
	int64_t delta = 0;

	*has_line = kind != 15;
	switch (kind) {
	case 15: break;
	case 14:
		delta = signed_varint(c);
		varint(c); /* lines to the end */
		varint(c); /* column */
		varint(c); /* end column */
		break;
	case 13: delta = signed_varint(c); break;
	case 10:
	case 11:
	case 12:
		delta = kind - 10;
		skip(c, 2);
		break;
	default: skip(c, 1); break;
	}
	return delta;
}

int32_t pst_lines_locations(const uint8_t *table, size_t len, int32_t first, int32_t lasti)
{
	struct cursor c = { table, table + len, false };
	int64_t line = first, addr = 0;

	if (lasti < 0)
		return sane(first);
	while (c.at < c.end) {
		const uint8_t byte = *c.at++;
		bool has_line;

		line += entry_delta(&c, byte >> 3 & 15, &has_line);
		addr += ((byte & 7) + 1) * 2;
		if (lasti < addr)
			return has_line && !c.cut ? sane(line) : 0;
	}
	return 0;
}
