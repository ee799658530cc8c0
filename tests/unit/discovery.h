/* A process with an interpreter in it, for pst_discover(): an ELF file with a section .PyRuntime, mapped at BIAS, and
 * the memory of its data. */
#ifndef PYSTILL_TESTS_DISCOVERY_H
#define PYSTILL_TESTS_DISCOVERY_H

#include "elf_file.h"
#include "process.h"

#define BIAS    0x10000000u
#define DATA    (BIAS + 0x404010u) /* of the writable segment, up to RUNTIME */
#define RUNTIME (BIAS + 0x404100u)

struct discovery {
	struct process p; /* its layout says how the memory is made */
	char *folder, *path;
	struct pst_map map;
	struct found found;
	size_t warnings;
	char warning[512]; /* the last one */
};

/* VERSION's _PyRuntime is all zeros, and there is neither an interpreter nor a version text. */
void discovery_begin(
	struct discovery *d, const char *file, uint32_t version, enum pst_flavour flavour);
void discovery_end(struct discovery *d);

/* What Py_GetVersion() would say. */
void discovery_say_version(struct discovery *d, const char *number);

/* A _Py_DebugOffsets with the row's own numbers where it has slots, and AS_VERSION as version. */
void discovery_publish(struct discovery *d, uint32_t as_version);

/* Say VALUE for a member (offset in struct pst_places); it must be one that is published. */
void discovery_publish_as(struct discovery *d, size_t place, uint64_t value);

/* An interpreter with a thread, as the layout says; the first in the list. */
pst_addr_t discovery_interp(struct discovery *d);

/* Another file: write it to the folder again. */
void discovery_write(struct discovery *d, const struct elf_file *file);

int discovery_find(struct discovery *d, const char *abi_name);

#endif
