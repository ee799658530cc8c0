/* ELF through libelf.  Files are read, not mapped: one that is cut short while we look at it must not
 * kill us with SIGBUS. */
#define _GNU_SOURCE
#include "pystill/elf.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_MASK (~(uint64_t)4095)

struct pst_elf {
	Elf *elf;
	int fd;
	GElf_Ehdr header;
	struct pst_segment *segments;
	size_t n_segments, cap_segments;
};

static void load_segments(struct pst_elf *e)
{
	size_t n = 0;

	if (elf_getphdrnum(e->elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && i < 4096; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(e->elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		e->segments = pst_grow(
			e->segments, &e->cap_segments, e->n_segments + 1, sizeof(*e->segments));
		e->segments[e->n_segments++] = (struct pst_segment){
			.offset = p.p_offset,
			.vaddr = p.p_vaddr,
			.file_size = p.p_filesz,
			.mem_size = p.p_memsz,
			.writable = p.p_flags & PF_W,
			.executable = p.p_flags & PF_X,
		};
	}
}

struct pst_elf *pst_elf_open(int fd, const char *name, struct pst_error *err)
{
	struct pst_elf *e = pst_xcalloc(1, sizeof(*e));

	e->fd = fd;
	elf_version(EV_CURRENT);
	e->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &e->header)) {
		pst_error_set(err, PST_ERR_OTHER, 0, "%s is not an ELF file", name);
		pst_elf_close(e);
		return NULL;
	}
	load_segments(e);
	return e;
}

void pst_elf_close(struct pst_elf *e)
{
	if (!e)
		return;
	elf_end(e->elf);
	close(e->fd);
	free(e->segments);
	free(e);
}

unsigned pst_elf_word_bits(const struct pst_elf *e)
{
	return e->header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
}

unsigned pst_elf_machine(const struct pst_elf *e)
{
	return e->header.e_machine;
}

/* Fill what is still missing from one symbol table. */
static size_t search_table(struct pst_elf *e, Elf_Scn *scn, const GElf_Shdr *sh,
	const char *const *names, size_t n, struct pst_symbol *out)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const size_t count = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	size_t found = 0;

	for (size_t i = 0; data && i < count; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF || !sym.st_value)
			continue;
		name = elf_strptr(e->elf, sh->sh_link, sym.st_name);
		for (size_t k = 0; name && k < n; k++) {
			if (out[k].value || strcmp(name, names[k]) != 0)
				continue;
			out[k] = (struct pst_symbol){ sym.st_value, sym.st_size };
			found++;
		}
	}
	return found;
}

size_t pst_elf_symbols(
	struct pst_elf *e, const char *const *names, size_t n, struct pst_symbol *out)
{
	static const GElf_Word types[] = { SHT_DYNSYM, SHT_SYMTAB };
	size_t found = 0;

	memset(out, 0, n * sizeof(*out));
	for (size_t t = 0; t < PST_ARRAY_SIZE(types); t++) {
		for (Elf_Scn *scn = elf_nextscn(e->elf, NULL); scn && found < n;
			scn = elf_nextscn(e->elf, scn)) {
			GElf_Shdr sh;

			if (gelf_getshdr(scn, &sh) && sh.sh_type == types[t])
				found += search_table(e, scn, &sh, names, n, out);
		}
	}
	return found;
}

bool pst_elf_section(struct pst_elf *e, const char *name, struct pst_symbol *out)
{
	size_t strings;

	if (elf_getshdrstrndx(e->elf, &strings) != 0)
		return false;
	for (Elf_Scn *scn = elf_nextscn(e->elf, NULL); scn; scn = elf_nextscn(e->elf, scn)) {
		const char *this_name;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || !sh.sh_addr)
			continue;
		this_name = elf_strptr(e->elf, strings, sh.sh_name);
		if (this_name && strcmp(this_name, name) == 0) {
			*out = (struct pst_symbol){ sh.sh_addr, sh.sh_size };
			return true;
		}
	}
	return false;
}

size_t pst_elf_segments(const struct pst_elf *e, const struct pst_segment **out)
{
	*out = e->segments;
	return e->n_segments;
}

/* Does MAP show the beginning of SEG?  The loader maps whole pages. */
static bool begins_segment(const struct pst_map *map, const struct pst_segment *seg)
{
	return map->offset == (seg->offset & PAGE_MASK);
}

int pst_elf_bias(const struct pst_elf *e, const struct pst_maps *maps, const struct pst_map *of,
	pst_addr_t *bias, struct pst_error *err)
{
	for (size_t s = 0; s < e->n_segments; s++) {
		const struct pst_segment *seg = &e->segments[s];

		for (size_t i = 0; seg->executable && i < maps->n; i++) {
			const struct pst_map *map = &maps->v[i];

			if (!(map->flags & PST_MAP_EXEC) || !pst_map_same_file(map, of) ||
				!begins_segment(map, seg))
				continue;
			*bias = map->start - (seg->vaddr & PAGE_MASK);
			return 0;
		}
	}
	return pst_error_set(err, PST_ERR_OTHER, 0, "%s is mapped, but not as a program", of->path);
}
