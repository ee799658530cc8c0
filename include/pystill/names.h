/* Interned strings and functions: bytes in, small ids out.  Ids are dense, start at 1 and live as long
 * as the table; 0 is no name. */
#ifndef PYSTILL_NAMES_H
#define PYSTILL_NAMES_H

#include "pystill/base.h"

typedef uint32_t pst_name_id;
typedef uint32_t pst_func_id;

struct pst_func {
	pst_name_id name; /* qualified where the version has that (UTF-8) */
	pst_name_id file; /* as the code object says */
	int32_t line;     /* the function's first line, 1-based */
};

struct pst_names;

struct pst_names *pst_names_new(void);
void pst_names_free(struct pst_names *names);

/* The id of LEN bytes; the same bytes always give the same id. */
pst_name_id pst_names_string(struct pst_names *names, const char *bytes, size_t len);

/* The bytes behind an id, NUL-terminated, valid as long as NAMES; "" for 0 or an unknown id.  LEN may
 * be NULL. */
const char *pst_names_get(const struct pst_names *names, pst_name_id id, size_t *len);

/* The id of a function; the same three values always give the same id. */
pst_func_id pst_names_func(struct pst_names *names, const struct pst_func *func);
struct pst_func pst_names_func_get(const struct pst_names *names, pst_func_id id);

/* How many there are of each (the largest id). */
size_t pst_names_count(const struct pst_names *names);
size_t pst_names_func_count(const struct pst_names *names);

#endif
