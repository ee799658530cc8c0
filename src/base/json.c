/* JSON strings: RFC 8259, and safe inside HTML. */
#include "pystill/json.h"

#include "pystill/utf8.h"

#include <stdio.h>
#include <string.h>

size_t pst_json_escape(char *out, const char *in, size_t len)
{
	static const char short_of[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	size_t n = 0;

	for (size_t at = 0; at < len;) {
		const char *s = NULL;
		uint32_t c;

		at += pst_utf8_get(in + at, len - at, &c);
		for (const char *p = short_of; *p && !s; p += 2)
			s = (uint32_t)(unsigned char)*p == c ? p : NULL;
		if (s) {
			out[n++] = '\\';
			out[n++] = s[1];
		} else if (c < 0x20 || c == '<' || c == 0x7f || c == 0x2028 || c == 0x2029) {
			char hex[8];

			snprintf(hex, sizeof(hex), "\\u%04x", (unsigned)c);
			memcpy(out + n, hex, 6);
			n += 6;
		} else {
			n += pst_utf8_put(out + n, c);
		}
	}
	return n;
}
