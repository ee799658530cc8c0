/* Python objects, made in an image as a layout says. */
#ifndef PYSTILL_TESTS_OBJECTS_H
#define PYSTILL_TESTS_OBJECTS_H

#include "image.h"
#include "layouts.h"

#define FLAG_BYTES (1ul << 27) /* of tp_flags: bytes or a subclass (the str of 2.x) */
#define FLAG_STR   (1ul << 28) /* the str of 3.x */

/* An interpreter's memory, and the types of its objects. */
struct objects {
	struct image image;
	struct pst_layout layout;
	uint32_t version;
	/* Not taken from the layout: bytes that f_lasti counts by, and where `kind` begins in a str's state. */
	int32_t unit, kind_bit;
	pst_addr_t type_bytes, type_str, type_code, type_none;
};

/* As such a release build publishes itself; or another build, as the tables have it. */
void objects_init(struct objects *o, uint32_t version);
void objects_init_flavour(struct objects *o, uint32_t version, enum pst_flavour flavour);
void objects_fini(struct objects *o);

/* Write a member of the object at BASE, where the version has it. */
void objects_put(struct objects *o, pst_addr_t base, int32_t offset, pst_addr_t value);
void objects_put_int(struct objects *o, pst_addr_t base, int32_t offset, int32_t value);

/* The same for ob_size and the like, which once had 4 bytes. */
void objects_put_size(struct objects *o, pst_addr_t base, int32_t offset, uint64_t value);

pst_addr_t objects_type(struct objects *o, const char *name, uint64_t flags);

/* An object of SIZE bytes, zeros but for its type. */
pst_addr_t objects_plain(struct objects *o, pst_addr_t type, size_t size);

/* Where the text of a str lies. */
enum storage { STORED_ASCII, STORED_COMPACT, STORED_APART };

/* A str of 3.3+: LENGTH units of KIND (1, 2, 4) bytes. */
pst_addr_t objects_str(
	struct objects *o, enum storage storage, unsigned kind, const void *units, size_t length);

/* The str of 3.0-3.2, which is the unicode of 2.x: LENGTH units of WIDTH (2, 4) bytes. */
pst_addr_t objects_ustr(struct objects *o, unsigned width, const void *units, size_t length);

/* bytes, or the str of 2.x. */
pst_addr_t objects_bytes(struct objects *o, const void *bytes, size_t size);

/* ASCII text as this version keeps names. */
pst_addr_t objects_name(struct objects *o, const char *text);

/* An int: the one of 2.x where it fits, else of digits of BITS (15, 30). */
pst_addr_t objects_int(struct objects *o, int64_t value);
pst_addr_t objects_long(
	struct objects *o, const char *type, unsigned bits, bool negative, uint64_t value);

struct code_spec {
	const char *file, *name, *qualname;
	int32_t firstlineno;
	const void *table;
	size_t table_len;
	int32_t firsttraceable;
};

/* A code object, with its names and its line table. */
pst_addr_t objects_code(struct objects *o, const struct code_spec *spec);

/* Make another one of the memory at CODE. */
void objects_code_put(struct objects *o, pst_addr_t code, const struct code_spec *spec);

struct frame_spec {
	pst_addr_t previous, code;
	int32_t lasti; /* in bytes */
	uint8_t owner;
	unsigned tag; /* low bits of the pointer to the code */
};

/* Bytes of a frame as far as the layout knows it. */
size_t objects_frame_size(const struct objects *o);
pst_addr_t objects_frame(struct objects *o, const struct frame_spec *spec);
void objects_frame_put(struct objects *o, pst_addr_t frame, const struct frame_spec *spec);

/* A thread state whose newest frame is FRAME. */
pst_addr_t objects_thread(struct objects *o, pst_addr_t frame);
void objects_thread_put(struct objects *o, pst_addr_t thread, pst_addr_t frame);

#endif
