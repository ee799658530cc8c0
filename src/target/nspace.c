/* Rows of ways to a mapped file, in order: the first that gives the very file wins. */
#define _GNU_SOURCE
#include "pystill/nspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void (*path_fn)(pid_t pid, const struct pst_map *map, char *path, size_t size);

/* The mapping itself: right for deleted and replaced files too, but wants CAP_SYS_ADMIN or
 * CAP_CHECKPOINT_RESTORE (proc_map_files_lookup()). */
static void by_map_files(pid_t pid, const struct pst_map *map, char *path, size_t size)
{
	snprintf(path, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, map->start, map->end);
}

/* Right for the executable, even a deleted one. */
static void by_exe(pid_t pid, const struct pst_map *map, char *path, size_t size)
{
	(void)map;
	snprintf(path, size, "/proc/%d/exe", pid);
}

/* A path as the target would open it. */
static void by_root(pid_t pid, const struct pst_map *map, char *path, size_t size)
{
	snprintf(path, size, "/proc/%d/root%s", pid, map->path);
}

/* A process in a chroot of ours: its map shows paths as we see them. */
static void by_path(pid_t pid, const struct pst_map *map, char *path, size_t size)
{
	(void)pid;
	snprintf(path, size, "%s", map->path);
}

static const path_fn ways[] = { by_map_files, by_exe, by_root, by_path };

/* Overlay file systems may show one device number in the map and another to stat(), so a wrong device
 * alone is no proof of another file; a wrong inode is. */
static bool is_mapped_file(int fd, const struct pst_map *map)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == map->inode;
}

int pst_nspace_open_map(pid_t pid, const struct pst_map *map, struct pst_error *err)
{
	int sys = ENOENT;

	for (size_t i = 0; i < PST_ARRAY_SIZE(ways); i++) {
		char path[4352];
		int fd;

		ways[i](pid, map, path, sizeof(path));
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0) {
			sys = errno;
			continue;
		}
		if (is_mapped_file(fd, map))
			return fd;
		close(fd);
		sys = ESTALE;
	}
	return pst_error_set(err, PST_ERR_IO, sys, "opening %s of process %d", map->path, pid);
}
