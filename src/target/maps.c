/* The memory map: parsing and search. */
#define _GNU_SOURCE
#include "pystill/maps.h"

#include "pystill/procfs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

static unsigned parse_flags(const char *perms)
{
	return (perms[0] == 'r' ? PST_MAP_READ : 0) | (perms[1] == 'w' ? PST_MAP_WRITE : 0) |
		(perms[2] == 'x' ? PST_MAP_EXEC : 0);
}

/* A hexadecimal number at *S that ends at STOP; *S moves behind that. */
static bool parse_hex(char **s, char stop, uint64_t *out)
{
	char *end;

	*out = strtoull(*s, &end, 16);
	if (end == *s || *end != stop)
		return false;
	*s = end + 1;
	return true;
}

/* The kernel writes " (deleted)" behind the path of a file whose name is gone: d_path(). */
static void cut_deleted(struct pst_map *map, char *path)
{
	static const char mark[] = " (deleted)";
	const size_t len = strlen(path), mark_len = sizeof(mark) - 1;

	if (len > mark_len && strcmp(path + len - mark_len, mark) == 0) {
		path[len - mark_len] = '\0';
		map->flags |= PST_MAP_DELETED;
	}
	map->path = path;
}

/* "start-end perms offset major:minor inode          path": fs/proc/task_mmu.c, show_map_vma(). */
static bool parse_line(char *line, struct pst_map *map)
{
	uint64_t major_no, minor_no;
	char *end;

	if (!parse_hex(&line, '-', &map->start) || !parse_hex(&line, ' ', &map->end) ||
		map->end <= map->start || strlen(line) < 5)
		return false;
	map->flags = parse_flags(line);
	line += 5;
	if (!parse_hex(&line, ' ', &map->offset) || !parse_hex(&line, ':', &major_no) ||
		!parse_hex(&line, ' ', &minor_no))
		return false;
	map->dev = makedev((unsigned)major_no, (unsigned)minor_no);
	map->inode = strtoull(line, &end, 10);
	if (end == line)
		return false;
	cut_deleted(map, end + strspn(end, " "));
	return true;
}

void pst_maps_parse(struct pst_maps *maps, char *text)
{
	char *save = NULL;

	memset(maps, 0, sizeof(*maps));
	maps->text = text;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct pst_map map = { 0 };

		if (!parse_line(line, &map) || (maps->n && map.start < maps->v[maps->n - 1].end))
			continue;
		maps->v = pst_grow(maps->v, &maps->cap, maps->n + 1, sizeof(*maps->v));
		maps->v[maps->n++] = map;
	}
}

int pst_maps_load(struct pst_maps *maps, pid_t pid, struct pst_error *err)
{
	char *text = pst_procfs_read(pid, 0, "maps", err);

	if (!text)
		return -1;
	pst_maps_parse(maps, text);
	return 0;
}

void pst_maps_fini(struct pst_maps *maps)
{
	free(maps->v);
	free(maps->text);
	memset(maps, 0, sizeof(*maps));
}

const struct pst_map *pst_maps_find(const struct pst_maps *maps, pst_addr_t addr)
{
	size_t lo = 0, hi = maps->n;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (maps->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < maps->n && maps->v[lo].start <= addr ? &maps->v[lo] : NULL;
}

bool pst_map_same_file(const struct pst_map *a, const struct pst_map *b)
{
	return a->inode && a->inode == b->inode && a->dev == b->dev;
}
