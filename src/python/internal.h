/* Shared by this folder only. */
#ifndef PYSTILL_PYTHON_INTERNAL_H
#define PYSTILL_PYTHON_INTERNAL_H

#include "pystill/python.h"

/* What discovery says of an interpreter. */
struct found {
	struct pst_layout layout;
	struct pst_roots roots;
	pst_addr_t head_word;
	uint32_t version;
	const char *finder;
	char *image;       /* from malloc */
	bool dormant;      /* there is a Python, or may be, but it is not initialised, or no more */
	bool misfit;       /* there is one, but it makes no sense */
	char warning[256]; /* for the user, when it is used: "" for none */
};

/* Is FOUND, which was dormant, still so?  Cheap.  False also when it cannot be told: then search anew. */
bool pst_discover_still_dormant(const struct found *found, struct pst_target *target);

/* Find the interpreter in TARGET, whose map is up to date.  ABI_NAME as in pst_python_attach(). */
int pst_discover(
	struct pst_target *target, const char *abi_name, struct found *out, struct pst_error *err);

/* code.c */
struct pst_code_cache *pst_codes_new(void);
void pst_codes_free(struct pst_code_cache *codes);
size_t pst_code_head_size(const struct pst_layout *layout);

/* thread.c */

/* Does the thread state of T still belong to the thread that it was listed with?  Does not allocate. */
int pst_thread_check(const struct pst_python *py, const struct pst_pythread *t, struct pst_mem *mem,
	struct pst_error *err);
void pst_threads_fini(struct pst_python *py);

#endif
