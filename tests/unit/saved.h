/* The images of tests/images: the bytes of a real interpreter that its stacks live in, and what that process said of
 * itself (utils/capture-images).  They are read as a struct pst_mem in which only the bytes that were saved are known. */
#ifndef PYSTILL_TESTS_SAVED_H
#define PYSTILL_TESTS_SAVED_H

#include "pystill/abi.h"

struct saved_frame {
	const char *file, *function;
	int32_t line;
};

/* As the process said; the outermost frame first. */
struct saved_thread {
	pst_addr_t ident;
	const char *name;
	struct saved_frame *frames;
	size_t n, cap;
};

struct saved_page;
struct saved_piece;
struct saved_change;

struct saved {
	struct pst_mem mem; /* first: it is a memory */
	struct saved_thread *threads;
	size_t n_threads, cap_threads;
	struct pst_abi_key key;
	const char *abi; /* the row that served it */
	struct pst_roots roots;
	/* With EXACT a read of a byte that is not known fails, unless whole pages are read.  Otherwise such bytes are
	 * there, with made-up values: all of a page of which any byte is known. */
	bool exact;
	/* Calls so far.  From call number LIMIT on the process has ended; 0: it does not. */
	uint64_t calls, limit;

	char *text;               /* of the file: what is above points into it */
	struct saved_page *pages; /* ascending */
	size_t n_pages, cap_pages;
	struct saved_piece *pieces; /* ascending, what is known in the beginning */
	size_t n_pieces, cap_pieces, n_bytes;
	struct saved_change *changes;
	size_t n_changes, cap_changes;
};

/* The folder of the images, and whether the image NAME in it could be opened. */
char *saved_folder(void);
bool saved_open(struct saved *saved, const char *name);
void saved_close(struct saved *saved);

/* What the bytes that are not known have: VALUE, or with VALUE -1 random ones. */
void saved_fill(struct saved *saved, int value);

/* How many bytes are known from ADDR on. */
size_t saved_run(const struct saved *saved, pst_addr_t addr);

/* Change bytes, where there are pages. */
void saved_put(struct saved *saved, pst_addr_t addr, const void *bytes, size_t n);

/* Do some harm, which the state of unit_random() chooses: to a byte, a word or a pointer; or a piece, and perhaps all
 * that is behind it, is not there any more. */
void saved_damage(struct saved *saved, uint64_t *state);

/* Take all changes back. */
void saved_undo(struct saved *saved);

#endif
