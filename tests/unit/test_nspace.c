/* Opening the file that a mapping shows, and no other: with mappings of our own. */
#define _GNU_SOURCE
#include "unit.h"

#include "pystill/nspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The mapping of this program's code. */
static const struct pst_map *own_code(struct pst_maps *maps)
{
	struct pst_error err = { 0 };
	const struct pst_map *map;

	REQUIRE(pst_maps_load(maps, getpid(), &err) == 0);
	map = pst_maps_find(maps, (pst_addr_t)(uintptr_t)&own_code);
	REQUIRE(map != NULL);
	return map;
}

static void test_own(void)
{
	struct pst_error err = { 0 };
	struct pst_maps maps;
	const struct pst_map *map = own_code(&maps);
	const int fd = pst_nspace_open_map(getpid(), map, &err);
	struct stat st;

	REQUIRE(fd >= 0);
	CHECK(fstat(fd, &st) == 0 && st.st_ino == map->inode);
	CHECK_INT(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	pst_maps_fini(&maps);
}

/* A mapping that is not there, of a file that is none of the program's. */
static void test_by_path(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "library.so"),
			  *link = unit_path(folder, "link");
	struct pst_map map = { .start = 0x1000, .end = 0x2000, .path = path };
	struct pst_error err = { 0 };
	struct stat st;
	int fd;

	unit_write_file(path, "text", 4);
	CHECK(stat(path, &st) == 0);
	map.inode = st.st_ino;
	fd = pst_nspace_open_map(getpid(), &map, &err);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == map.inode);
	close(fd);
	CHECK(symlink(path, link) == 0);
	map.path = link;
	fd = pst_nspace_open_map(getpid(), &map, &err);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == map.inode);
	close(fd);
	unit_folder_remove(folder);
}

static void check_refused(const struct pst_map *map, int sys, const char *why)
{
	struct pst_error err = { 0 };

	unit_row("%s", why);
	CHECK_ERROR(pst_nspace_open_map(getpid(), map, &err), &err, PST_ERR_IO);
	CHECK_INT(err.sys, sys);
	CHECK(strstr(err.msg, map->path) != NULL);
}

static void test_refused(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "library.so"),
			  *pipe = unit_path(folder, "pipe");
	struct pst_map map = { .start = 0x1000, .end = 0x2000, .path = path, .inode = 12345678901 };
	struct stat st;

	check_refused(&map, ENOENT, "no such file");
	unit_write_file(path, "text", 4);
	check_refused(&map, ESTALE, "another file");
	map.path = pipe;
	CHECK(mkfifo(pipe, 0600) == 0 && stat(pipe, &st) == 0);
	map.inode = st.st_ino;
	check_refused(&map, ESTALE, "no file");
	map.path = "";
	check_refused(&map, ENOENT, "anonymous");
	unit_folder_remove(folder);
}

/* A file that was mapped and then replaced: the old one if the kernel lets us have it, never the new one. */
static void test_replaced(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "a"), *other = unit_path(folder, "b");
	const struct pst_map *map;
	struct pst_error err = { 0 };
	struct pst_maps maps;
	char buf[4] = "";
	void *p;
	int fd;

	unit_write_file(path, "old", 3);
	unit_write_file(other, "new", 3);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	REQUIRE(p != MAP_FAILED);
	close(fd);
	CHECK(rename(other, path) == 0);
	REQUIRE(pst_maps_load(&maps, getpid(), &err) == 0);
	map = pst_maps_find(&maps, (pst_addr_t)(uintptr_t)p);
	REQUIRE(map && map->flags & PST_MAP_DELETED);
	CHECK_TEXT(map->path, path);
	fd = pst_nspace_open_map(getpid(), map, &err);
	if (fd < 0)
		CHECK_INT(err.code, PST_ERR_IO);
	else
		CHECK(read(fd, buf, 3) == 3 && strcmp(buf, "old") == 0);
	if (fd >= 0)
		close(fd);
	pst_maps_fini(&maps);
	munmap(p, 4096);
	unit_folder_remove(folder);
}

static CU_TestInfo tests[] = {
	{ "this program", test_own },
	{ "by its path", test_by_path },
	{ "refused", test_refused },
	{ "a file that was replaced", test_replaced },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_nspace = { "nspace", NULL, NULL, NULL, NULL, tests };
