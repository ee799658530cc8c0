/* Symbols, sections and segments of an ELF file, and where its image lies in a process.  The file is
 * hostile: libelf checks its bounds, and every name is compared, never trusted. */
#ifndef PYSTILL_ELF_H
#define PYSTILL_ELF_H

#include "pystill/error.h"
#include "pystill/maps.h"

struct pst_elf;

struct pst_symbol {
	pst_addr_t value; /* without the load bias; 0 when it was not found */
	uint64_t size;
};

/* A piece of the image, by link-time address. */
struct pst_segment {
	uint64_t offset; /* in the file */
	pst_addr_t vaddr;
	uint64_t file_size, mem_size;
	bool writable, executable;
};

/* Open the ELF file FD, which is taken over (closed on failure too).  NAME is for messages.  Returns NULL
 * with ERR set. */
struct pst_elf *pst_elf_open(int fd, const char *name, struct pst_error *err);
void pst_elf_close(struct pst_elf *elf);

unsigned pst_elf_word_bits(const struct pst_elf *elf);
unsigned pst_elf_machine(const struct pst_elf *elf); /* EM_X86_64 ... */

/* Look N defined symbols up in one pass, in .dynsym and then .symtab.  Returns how many were found. */
size_t pst_elf_symbols(
	struct pst_elf *elf, const char *const *names, size_t n, struct pst_symbol *out);

/* The address (without bias) and size of a section. */
bool pst_elf_section(struct pst_elf *elf, const char *name, struct pst_symbol *out);

/* The loaded segments, in the order of the file.  Returns how many; valid as long as ELF. */
size_t pst_elf_segments(const struct pst_elf *elf, const struct pst_segment **out);

/* What must be added to a link-time address: the executable mapping of the file decides, since a process
 * may also have mapped its own image as data.  MAP is any mapping of the file.  Returns 0, or -1 with ERR
 * set when no mapping fits. */
int pst_elf_bias(const struct pst_elf *elf, const struct pst_maps *maps, const struct pst_map *map,
	pst_addr_t *bias, struct pst_error *err);

#endif
