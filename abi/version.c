/* Versions as numbers and as text. */
#include "pystill/abi.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VERSION_TEXT 200u /* Py_GetVersion()'s buffer holds 250 */

/* The last byte is level and serial: a0 alpha, b0 beta, c0 candidate, f0 final (Include/patchlevel.h). */
void pst_abi_version_text(uint32_t version, char buf[24])
{
	static const char *const levels[16] = { [0xa] = "a", [0xb] = "b", [0xc] = "rc" };
	const char *level = levels[version >> 4 & 15];
	int n = snprintf(
		buf, 24, "%u.%u.%u", version >> 24, version >> 16 & 255, version >> 8 & 255);

	if (level)
		snprintf(buf + n, 24 - (size_t)n, "%s%u", level, version & 15);
}

/* One to two digits, and behind them a character of STOPS, or the end of the text. */
static bool parse_number(const char **s, const char *stops, unsigned *out)
{
	const char *start = *s;

	*out = 0;
	for (; *s - start < 2 && isdigit((unsigned char)**s); (*s)++)
		*out = *out * 10 + (unsigned)(**s - '0');
	return *s > start && strchr(stops, **s);
}

uint32_t pst_abi_version_parse(const char *text)
{
	unsigned major, minor, micro, level = 0xf, serial = 0;

	if (!parse_number(&text, ".", &major) || (major != 2 && major != 3) || !*text++ ||
		!parse_number(&text, ".", &minor) || !*text++ ||
		!parse_number(&text, "abcr+ ", &micro))
		return 0;
	if (*text && strchr("abcr", *text)) {
		level = *text == 'a' ? 0xa : *text == 'b' ? 0xb : 0xc;
		text += strncmp(text, "rc", 2) == 0 ? 2 : 1;
		serial = (unsigned)strtoul(text, NULL, 10) & 15;
	}
	return PST_PY(major, minor, micro) | level << 4 | serial;
}

/* Behind a version: " (build...)", perhaps a blank, perhaps a newline, "[compiler]".  Distributors may put words of
 * theirs before the build ("| packaged by conda-forge | "). */
static bool has_build_info(const char *s, const char *end)
{
	const char *build = memchr(s, '(', (size_t)(end - s));

	if (!build || build == s || build[-1] != ' ' || (build > s + 1 && s[1] != '|'))
		return false;
	s = memchr(build, ')', (size_t)(end - build));
	if (!s || ++s == end)
		return false;
	if (*s == ' ')
		s++;
	if (s < end && *s == '\n')
		s++;
	return s < end && *s == '[' && memchr(s, ']', (size_t)(end - s));
}

/* The text at S as a version with build information, else 0. */
static uint32_t version_at(const char *s, const char *end)
{
	char text[MAX_VERSION_TEXT];
	const size_t len =
		strnlen(s, (size_t)(end - s < (long)sizeof(text) ? end - s : (long)sizeof(text)));
	const char *number_end;

	if (len == sizeof(text))
		return 0;
	memcpy(text, s, len);
	text[len] = '\0';
	number_end = text + strcspn(text, " ");
	return has_build_info(number_end, text + len) ? pst_abi_version_parse(text) : 0;
}

uint32_t pst_abi_version_search(const char *bytes, size_t len)
{
	const char *const end = bytes + len;

	for (const char *s = bytes; end - s > 8; s++) {
		const bool begins = s == bytes || (!isdigit((unsigned char)s[-1]) && s[-1] != '.');
		const uint32_t version =
			begins && (*s == '2' || *s == '3') && s[1] == '.' ? version_at(s, end) : 0;

		if (version)
			return version;
	}
	return 0;
}
