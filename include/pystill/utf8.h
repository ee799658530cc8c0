/* Text from a target becomes valid UTF-8 here, whatever it was: what cannot be encoded (a lone surrogate,
 * a byte that is no UTF-8) becomes U+FFFD. */
#ifndef PYSTILL_UTF8_H
#define PYSTILL_UTF8_H

#include "pystill/base.h"

#define PST_UTF8_MAX 4 /* most bytes of a code point */

/* Write one code point to OUT; returns its number of bytes, 1 to PST_UTF8_MAX. */
size_t pst_utf8_put(char *out, uint32_t code_point);

/* Read one code point from LEN (> 0) bytes; returns the number of bytes used.  What is no UTF-8 is read
 * as U+FFFD, one byte at a time. */
size_t pst_utf8_get(const char *in, size_t len, uint32_t *code_point);

#endif
