/* A process whose memory is made up, and whose program is a small file. */
#include "discovery.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DATA_BYTES 0x2000

static void keep_warning(void *ctx, const char *text)
{
	struct discovery *d = ctx;

	d->warnings++;
	snprintf(d->warning, sizeof(d->warning), "%s", text);
}

void discovery_write(struct discovery *d, const struct elf_file *file)
{
	struct stat st;

	unit_write_file(d->path, file, sizeof(*file));
	MUST(stat(d->path, &st) == 0);
	d->map.inode = st.st_ino;
	d->map.dev = st.st_dev;
}

/* The executable segment begins in the file's second page. */
static void map_file(struct discovery *d)
{
	struct elf_file file = elf_file_make();

	file.head.e_machine = EM_X86_64;
	discovery_write(d, &file);
	d->map.start = BIAS + 0x402000;
	d->map.end = BIAS + 0x403000;
	d->map.offset = 0x1000;
	d->map.flags = PST_MAP_READ | PST_MAP_EXEC;
	d->map.path = d->path;
	d->p.target.maps = (struct pst_maps){ .v = &d->map, .n = 1 };
}

void discovery_begin(
	struct discovery *d, const char *file, uint32_t version, enum pst_flavour flavour)
{
	memset(d, 0, sizeof(*d));
	process_begin_flavour(&d->p, version, flavour);
	d->folder = unit_folder_new();
	d->path = unit_path(d->folder, file);
	map_file(d);
	image_map(&d->p.o.image, DATA, DATA_BYTES);
	d->p.py.head_word = RUNTIME + (pst_addr_t)d->p.o.layout.off.runtime_interpreters_head;
	d->p.target.note = (struct pst_note){ keep_warning, d };
}

void discovery_end(struct discovery *d)
{
	free(d->found.image);
	free(d->path);
	unit_folder_remove(d->folder);
	process_end(&d->p);
}

void discovery_say_version(struct discovery *d, const char *number)
{
	char text[100];

	snprintf(text, sizeof(text), "%s (main, Jan  1 2024, 00:00:00) [GCC 12.2.0]", number);
	image_put(&d->p.o.image, DATA, text, strlen(text) + 1);
}

static struct pst_place place_of(const struct pst_abi *row, size_t at)
{
	struct pst_place place = { 0, 0 };

	for (; row && !place.at; row = row->base)
		memcpy(&place, (const char *)&row->at + at, sizeof(place));
	return place;
}

void discovery_publish_as(struct discovery *d, size_t at, uint64_t value)
{
	const struct pst_place place = place_of(d->p.o.layout.row, at);

	MUST(place.slot);
	image_put_u64(&d->p.o.image, RUNTIME + place.slot - 1, value);
}

void discovery_publish(struct discovery *d, uint32_t as_version)
{
	const struct pst_abi *row = d->p.o.layout.row;

	image_put(&d->p.o.image, RUNTIME, PST_COOKIE, strlen(PST_COOKIE));
	image_put_u64(&d->p.o.image, RUNTIME + 8, as_version);
	image_put_u64(&d->p.o.image, RUNTIME + 16, row->flavour == PST_FREE_THREADED);
	for (size_t at = 0; at < sizeof(row->at); at += sizeof(struct pst_place)) {
		const struct pst_place place = place_of(row, at);

		if (place.slot)
			discovery_publish_as(d, at, place.at - 1);
	}
}

pst_addr_t discovery_interp(struct discovery *d)
{
	struct objects *o = &d->p.o;
	struct pst_error err = { 0 };
	pst_addr_t next = 0, interp;

	MUST(pst_mem_read_addr(&o->image.mem, d->p.py.head_word, &next, &err) == 0);
	interp = process_interp(&d->p, next, 0x8000000);
	process_put(&d->p, interp, o->layout.off.interp_modules,
		objects_plain(o, objects_type(o, "dict", 0), 64));
	process_thread(&d->p, interp, 0x11, 0);
	process_thread(&d->p, interp, 0x22, 0);
	return interp;
}

int discovery_find(struct discovery *d, const char *abi_name)
{
	free(d->found.image);
	d->warnings = 0;
	return pst_discover(&d->p.target, abi_name, &d->found, &d->p.err);
}
