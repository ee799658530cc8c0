/* The memory map of a process, parsed once and searched.  What it says comes from the target and is
 * hostile: any path, any number of lines. */
#ifndef PYSTILL_MAPS_H
#define PYSTILL_MAPS_H

#include "pystill/error.h"

#include <sys/types.h>

enum pst_map_flags {
	PST_MAP_READ = 1,
	PST_MAP_WRITE = 2,
	PST_MAP_EXEC = 4,
	PST_MAP_DELETED = 8, /* the file's name is gone; `path` is without the mark */
};

struct pst_map {
	pst_addr_t start, end;
	uint64_t offset; /* in the file */
	uint64_t dev, inode;
	unsigned flags;
	const char *path; /* "" when anonymous; "[heap]" and the like as they are */
};

struct pst_maps {
	struct pst_map *v; /* ascending */
	size_t n, cap;
	char *text; /* the paths lie in it */
};

/* Parse the text of a maps file, which MAPS takes over (from malloc).  Lines that make no sense are
 * left out. */
void pst_maps_parse(struct pst_maps *maps, char *text);

/* Read the map of process PID.  Returns 0, or -1 with ERR set: GONE, PERM, IO.  A process without memory
 * (zombie, kernel thread) has an empty map. */
int pst_maps_load(struct pst_maps *maps, pid_t pid, struct pst_error *err);
void pst_maps_fini(struct pst_maps *maps);

/* The mapping that holds ADDR, or NULL. */
const struct pst_map *pst_maps_find(const struct pst_maps *maps, pst_addr_t addr);

/* Do two mappings show the same file? */
bool pst_map_same_file(const struct pst_map *a, const struct pst_map *b);

#endif
