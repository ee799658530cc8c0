/* Text as the inside of a JSON string. */
#ifndef PYSTILL_JSON_H
#define PYSTILL_JSON_H

#include "pystill/base.h"

#define PST_JSON_GROWTH 6 /* most bytes that one byte becomes */

/* Write LEN bytes (UTF-8; what is not becomes U+FFFD) escaped to OUT, which has room for PST_JSON_GROWTH * LEN
 * bytes.  Returns the number written; no NUL is added.  '<' is escaped too, so that the result may stand in a
 * script of a page. */
size_t pst_json_escape(char *out, const char *in, size_t len);

#endif
