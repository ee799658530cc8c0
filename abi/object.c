/* Objects of any version: size, type, and the value of an int. */
#include "pystill/abi.h"

#include <string.h>

unsigned pst_size_bytes(const struct pst_layout *layout, const struct pst_mem *mem)
{
	return layout->size_bytes ? layout->size_bytes : mem->word_bytes;
}

int pst_object_size(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	uint64_t max, uint64_t *out, struct pst_error *err)
{
	const unsigned bytes = pst_size_bytes(layout, mem);

	*out = 0;
	if (pst_mem_read(mem, addr + (pst_addr_t)layout->off.object_size, out, bytes, err) < 0)
		return -1;
	if (*out > max)
		return pst_error_set(err, PST_ERR_TORN, 0,
			"an object of %" PRIu64 " items at %#" PRIx64, *out, addr);
	return 0;
}

static int read_type(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_addr_t *type, struct pst_error *err)
{
	return pst_mem_read_addr(mem, addr + (pst_addr_t)layout->off.object_type, type, err);
}

int pst_object_is(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	const char *name, bool *is, struct pst_error *err)
{
	char text[32];
	pst_addr_t type, at;

	if (read_type(layout, mem, addr, &type, err) < 0 ||
		pst_mem_read_addr(mem, type + (pst_addr_t)layout->off.type_name, &at, err) < 0 ||
		pst_mem_read_cstr(mem, at, text, sizeof(text), err) < 0)
		return -1;
	*is = strcmp(text, name) == 0;
	return 0;
}

static int not_int(pst_addr_t addr, struct pst_error *err)
{
	return pst_error_set(err, PST_ERR_TORN, 0, "no int of 64 bits at %#" PRIx64, addr);
}

/* How many digits, and is it negative?  To 3.11 the sign is that of ob_size; then lv_tag has it in its low two
 * bits (0 positive, 1 zero, 2 negative) and the number above the third. */
static int read_digit_count(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	uint64_t *count, bool *negative, struct pst_error *err)
{
	const bool tagged = layout->off.long_tag != PST_ABSENT;
	const unsigned bytes = tagged ? mem->word_bytes : pst_size_bytes(layout, mem);
	const unsigned unused_bits = 64 - 8 * bytes;
	uint64_t raw = 0;
	int64_t size;

	addr += (pst_addr_t)(tagged ? layout->off.long_tag : layout->off.object_size);
	if (pst_mem_read(mem, addr, &raw, bytes, err) < 0)
		return -1;
	if (tagged) {
		*negative = (raw & 3) == 2;
		*count = (raw & 3) == 1 ? 0 : raw >> 3;
		return 0;
	}
	size = (int64_t)(raw << unused_bits) >> unused_bits;
	*negative = size < 0;
	*count = size < 0 ? 0 - (uint64_t)size : (uint64_t)size;
	return 0;
}

/* Digits of 15 bits in 2 bytes, or 30 in 4: the type's tp_itemsize tells. */
static int read_long(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	int64_t *out, struct pst_error *err)
{
	unsigned char digits[12];
	uint64_t count, value = 0;
	int32_t item_bytes;
	pst_addr_t type;
	bool negative;

	if (read_type(layout, mem, addr, &type, err) < 0 ||
		pst_mem_read_i32(
			mem, type + (pst_addr_t)layout->off.type_itemsize, &item_bytes, err) < 0 ||
		read_digit_count(layout, mem, addr, &count, &negative, err) < 0)
		return -1;
	if ((item_bytes != 2 && item_bytes != 4) || count > (item_bytes == 4 ? 3u : 5u))
		return not_int(addr, err);
	if (pst_mem_read(mem, addr + (pst_addr_t)layout->off.long_digits, digits,
		    count * (unsigned)item_bytes, err) < 0)
		return -1;
	for (uint64_t i = count; i > 0; i--) {
		uint32_t digit = 0;

		memcpy(&digit, digits + (i - 1) * (unsigned)item_bytes, (unsigned)item_bytes);
		if (value >> (item_bytes == 4 ? 34 : 49))
			return not_int(addr, err);
		value = value << (item_bytes == 4 ? 30 : 15) | digit;
	}
	*out = (int64_t)(negative ? 0 - value : value);
	return 0;
}

int pst_object_int(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	int64_t *out, struct pst_error *err)
{
	bool is_int, is_long;
	pst_addr_t word;

	if (pst_object_is(layout, mem, addr, "int", &is_int, err) < 0 ||
		pst_object_is(layout, mem, addr, "long", &is_long, err) < 0)
		return -1;
	if (!is_int && !is_long)
		return not_int(addr, err);
	if (!is_int || layout->off.int_value == PST_ABSENT)
		return read_long(layout, mem, addr, out, err);
	if (pst_mem_read_addr(mem, addr + (pst_addr_t)layout->off.int_value, &word, err) < 0)
		return -1;
	*out = mem->word_bytes == 4 ? (int32_t)word : (int64_t)word;
	return 0;
}

bool pst_text_equals(
	const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr, const char *text)
{
	struct pst_error ignored = { 0 };
	char buf[128];
	size_t len;

	return layout->text(layout, mem, addr, buf, sizeof(buf), &len, &ignored) == 0 &&
		len == strlen(text) && memcmp(buf, text, len) == 0;
}
