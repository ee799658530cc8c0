/* A small ELF file, made up. */
#ifndef PYSTILL_TESTS_ELF_FILE_H
#define PYSTILL_TESTS_ELF_FILE_H

#include "pystill/elf.h"

#include <elf.h>

/* Names as they lie in the string tables. */
struct elf_names {
	char none[1], in_dynsym[10], in_both[8], in_symtab[10], undefined[10], at_zero[8];
};
struct elf_section_names {
	char none[1], runtime[11], dynsym[8], symtab[8], strtab[8], shstrtab[10];
};

enum { ELF_RUNTIME = 1, ELF_DYNSYM, ELF_SYMTAB, ELF_STRTAB, ELF_SHSTRTAB, ELF_SECTIONS };

struct elf_file {
	Elf64_Ehdr head;
	Elf64_Phdr segments[4];
	Elf64_Sym dynsym[4], symtab[5];
	struct elf_names names;
	struct elf_section_names section_names;
	char pad[4];
	Elf64_Shdr sections[ELF_SECTIONS];
};

struct elf_file elf_file_make(void);

/* A variable of the program; see test_elf.c. */
extern int unit_landmark;

#endif
