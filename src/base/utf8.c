/* UTF-8, strictly as RFC 3629 has it: shortest forms only, no surrogates, nothing above U+10FFFF. */
#include "pystill/utf8.h"

#define REPLACEMENT 0xfffdu

size_t pst_utf8_put(char *out, uint32_t c)
{
	if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		c = REPLACEMENT;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Bytes of the sequence that BYTE begins, and the smallest code point that needs so many. */
static size_t sequence(unsigned char byte, uint32_t *least)
{
	if (byte >= 0xc2 && byte <= 0xdf) {
		*least = 0x80;
		return 2;
	}
	if (byte >= 0xe0 && byte <= 0xef) {
		*least = 0x800;
		return 3;
	}
	if (byte >= 0xf0 && byte <= 0xf4) {
		*least = 0x10000;
		return 4;
	}
	return 0;
}

size_t pst_utf8_get(const char *in, size_t len, uint32_t *code_point)
{
	const unsigned char *p = (const unsigned char *)in;
	uint32_t least, c;
	size_t n;

	*code_point = p[0];
	if (p[0] < 0x80)
		return 1;
	*code_point = REPLACEMENT;
	n = sequence(p[0], &least);
	if (n == 0 || n > len)
		return 1;
	c = p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 1;
	*code_point = c;
	return n;
}
