/* Three loaded segments, a section for _PyRuntime, and symbols in two tables. */
#include "elf_file.h"

#define NAME(member)    offsetof(struct elf_names, member)
#define SECTION(member) offsetof(struct elf_section_names, member)
#define AT(member)      offsetof(struct elf_file, member)
#define SIZE(member)    sizeof(((struct elf_file *)0)->member)

static const struct elf_file made = {
	.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			  EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_AARCH64,
		.e_version = EV_CURRENT,
		.e_phoff = AT(segments),
		.e_shoff = AT(sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 4,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = ELF_SECTIONS,
		.e_shstrndx = ELF_SHSTRTAB },
	.segments = {
		{ PT_LOAD, PF_R, 0, 0x400000, 0x400000, 0x800, 0x800, 4096 },
		{ PT_NOTE, PF_R | PF_X, 0x1234, 0x402234, 0x402234, 0x10, 0x10, 4 },
		{ PT_LOAD, PF_R | PF_X, 0x1234, 0x402234, 0x402234, 0x100, 0x100, 4096 },
		{ PT_LOAD, PF_R | PF_W, 0x2010, 0x404010, 0x404010, 0x10, 0x500, 4096 },
	},
	.dynsym = {
		{ 0 },
		{ NAME(in_dynsym), 0, 0, ELF_RUNTIME, 0x404010, 100 },
		{ NAME(undefined), 0, 0, SHN_UNDEF, 0x404040, 9 },
		{ NAME(in_both), 0, 0, ELF_RUNTIME, 0x404020, 7 },
	},
	.symtab = {
		{ 0 },
		{ NAME(in_both), 0, 0, ELF_RUNTIME, 0x404022, 70 },
		{ NAME(in_symtab), 0, 0, SHN_ABS, 0x404030, 8 },
		{ NAME(at_zero), 0, 0, ELF_RUNTIME, 0, 5 },
		{ NAME(in_symtab), 0, 0, ELF_RUNTIME, 0x404033, 80 },
	},
	.names = { "", "in_dynsym", "in_both", "in_symtab", "undefined", "at_zero" },
	.section_names = { "", ".PyRuntime", ".dynsym", ".symtab", ".strtab", ".shstrtab" },
	.sections = {
		[ELF_RUNTIME] = { .sh_name = SECTION(runtime),
			.sh_type = SHT_NOBITS,
			.sh_flags = SHF_ALLOC,
			.sh_addr = 0x404100,
			.sh_offset = 0x2010,
			.sh_size = 0x300 },
		[ELF_DYNSYM] = { SECTION(dynsym), SHT_DYNSYM, SHF_ALLOC, 0x400200, AT(dynsym),
			SIZE(dynsym), ELF_STRTAB, 1, 8, sizeof(Elf64_Sym) },
		[ELF_SYMTAB] = { SECTION(symtab), SHT_SYMTAB, 0, 0, AT(symtab), SIZE(symtab),
			ELF_STRTAB, 1, 8, sizeof(Elf64_Sym) },
		[ELF_STRTAB] = { .sh_name = SECTION(strtab),
			.sh_type = SHT_STRTAB,
			.sh_offset = AT(names),
			.sh_size = SIZE(names) },
		[ELF_SHSTRTAB] = { .sh_name = SECTION(shstrtab),
			.sh_type = SHT_STRTAB,
			.sh_offset = AT(section_names),
			.sh_size = SIZE(section_names) },
	},
};

struct elf_file elf_file_make(void)
{
	return made;
}
