/* Output: a file that is complete or not there, and what is no file. */
#define _GNU_SOURCE
#include "unit.h"

#include "pystill/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct pst_out *open_out(const char *path)
{
	struct pst_error err = { 0 };
	struct pst_out *out = pst_out_open(path, &err);

	REQUIRE(out != NULL);
	return out;
}

/* A device under a name of our own: were it replaced by mistake, the machine would keep its own. */
static char *device(const char *folder, const char *target)
{
	char *path = unit_path(folder, "device");

	REQUIRE(symlink(target, path) == 0);
	return path;
}

static void check_file(const char *path, const char *wanted)
{
	cleanup_free char *text = unit_read_file(path, NULL);

	if (CHECK(text != NULL))
		CHECK_TEXT(text, wanted);
}

/* Nothing under the name until it is complete, then nothing but it. */
static void test_file(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "a file");
	struct pst_error err = { 0 };
	struct pst_out *out = open_out(path);

	pst_out_text(out, "one ");
	pst_out_raw(out, "two\0 xx", 3);
	pst_out_format(out, " %d%c", 3, '\n');
	CHECK(access(path, F_OK) < 0);
	CHECK_DONE(pst_out_close(out, &err), &err);
	check_file(path, "one two 3\n");
	CHECK_INT(unit_folder_count(folder), 1);
	unit_folder_remove(folder);
}

/* What was there before stays until then. */
static void test_replaced(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "f");
	struct pst_error err = { 0 };
	struct pst_out *out;

	unit_write_file(path, "old and longer", 14);
	out = open_out(path);
	pst_out_text(out, "new");
	check_file(path, "old and longer");
	CHECK_DONE(pst_out_close(out, &err), &err);
	check_file(path, "new");
	CHECK_INT(unit_folder_count(folder), 1);
	unit_folder_remove(folder);
}

static void test_abandoned(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "f");
	struct pst_out *out = open_out(path);

	pst_out_text(out, "half of it");
	pst_out_abandon(out);
	CHECK_INT(unit_folder_count(folder), 0);
	unit_write_file(path, "old", 3);
	out = open_out(path);
	pst_out_abandon(out);
	check_file(path, "old");
	CHECK_INT(unit_folder_count(folder), 1);
	pst_out_abandon(NULL);
	unit_folder_remove(folder);
}

static void test_empty(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "f");
	struct pst_error err = { 0 };

	CHECK_DONE(pst_out_close(open_out(path), &err), &err);
	check_file(path, "");
	unit_folder_remove(folder);
}

/* The rights of a file are those that open() would have given. */
static void test_rights(void)
{
	static const mode_t masks[] = { 022, 077, 0 };
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "f");
	struct pst_error err = { 0 };
	const mode_t before = umask(0);
	struct stat st;

	for (size_t i = 0; i < PST_ARRAY_SIZE(masks); i++) {
		umask(masks[i]);
		CHECK_DONE(pst_out_close(open_out(path), &err), &err);
		CHECK_INT(umask(masks[i]), masks[i]);
		CHECK(stat(path, &st) == 0);
		CHECK_INT(st.st_mode & 0777, 0666 & ~masks[i]);
	}
	umask(before);
	unit_folder_remove(folder);
}

/* Pieces of all sizes around the buffer's. */
static void test_long(void)
{
	enum { N = 300000 };
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "f"), *bytes = pst_xmalloc(N), *got = NULL;
	struct pst_error err = { 0 };
	struct pst_out *out = open_out(path);
	size_t len = 0;

	for (size_t i = 0; i < N; i++)
		bytes[i] = (char)(i * 31 % 251);
	for (size_t at = 0, piece = 1; at < N; piece = piece * 3 % 100003) {
		piece = piece < N - at ? piece : N - at;
		pst_out_raw(out, bytes + at, piece);
		at += piece;
	}
	CHECK_DONE(pst_out_close(out, &err), &err);
	got = unit_read_file(path, &len);
	CHECK(len == N && memcmp(got, bytes, N) == 0);
	unit_folder_remove(folder);
}

/* ---- failures ---- */

static void check_no_open(const char *path)
{
	struct pst_error err = { 0 };

	unit_row("%s", path);
	CHECK(pst_out_open(path, &err) == NULL);
	CHECK_INT(err.code, PST_ERR_IO);
	CHECK(err.sys != 0);
	CHECK(strstr(err.msg, path) != NULL);
}

static void test_no_folder(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "none/f"), *file = unit_path(folder, "file"),
			  *under = unit_path(folder, "file/f");

	unit_write_file(file, "", 0);
	check_no_open(path);
	check_no_open(under);
	check_no_open(folder);
	if (geteuid() != 0) {
		CHECK(chmod(folder, 0500) == 0);
		check_no_open(file);
		CHECK(chmod(folder, 0700) == 0);
	}
	CHECK_INT(unit_folder_count(folder), 1);
	unit_folder_remove(folder);
}

/* A full device tells when what was written gets there. */
static void test_full(void)
{
	static const size_t sizes[] = { 1, 1000, 200000 };
	char *folder = unit_folder_new();
	cleanup_free char *path = device(folder, "/dev/full");

	for (size_t i = 0; i < PST_ARRAY_SIZE(sizes); i++) {
		cleanup_free char *bytes = pst_xcalloc(sizes[i], 1);
		struct pst_error err = { 0 };
		struct pst_out *out = open_out(path);

		pst_out_raw(out, bytes, sizes[i]);
		pst_out_text(out, "and more");
		unit_row("%zu bytes", sizes[i]);
		CHECK_ERROR(pst_out_close(out, &err), &err, PST_ERR_IO);
		CHECK_INT(err.sys, ENOSPC);
		CHECK(strstr(err.msg, path) != NULL);
	}
	CHECK(access(path, W_OK) == 0);
	unit_folder_remove(folder);
}

/* The name cannot be taken any more: an error, and no rest. */
static void test_no_name(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "f"), *inside = unit_path(path, "x");
	struct pst_error err = { 0 };
	struct pst_out *out = open_out(path);

	pst_out_text(out, "text");
	CHECK(mkdir(path, 0700) == 0);
	unit_write_file(inside, "", 0);
	CHECK_ERROR(pst_out_close(out, &err), &err, PST_ERR_IO);
	CHECK_INT(unit_folder_count(folder), 1);
	CHECK_INT(unit_folder_count(path), 1);
	unlink(inside);
	unit_folder_remove(folder);
}

static off_t limit_file_size(off_t size, struct rlimit *before)
{
	struct rlimit limit;

	REQUIRE(getrlimit(RLIMIT_FSIZE, before) == 0);
	limit = (struct rlimit){ (rlim_t)size, before->rlim_max };
	return setrlimit(RLIMIT_FSIZE, &limit);
}

/* A file that cannot be written whole is not there. */
static void test_no_room(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "f"), *bytes = pst_xcalloc(200000, 1);
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	struct pst_error err = { 0 };
	struct rlimit before;
	struct pst_out *out;
	int result;

	unit_write_file(path, "old", 3);
	REQUIRE(limit_file_size(100000, &before) == 0);
	out = open_out(path);
	pst_out_raw(out, bytes, 200000);
	result = pst_out_close(out, &err);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, handler);
	CHECK_ERROR(result, &err, PST_ERR_IO);
	CHECK_INT(err.sys, EFBIG);
	check_file(path, "old");
	CHECK_INT(unit_folder_count(folder), 1);
	unit_folder_remove(folder);
}

/* Whichever way it ends, no descriptor stays open. */
static void test_descriptors(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = unit_path(folder, "f"), *none = unit_path(folder, "none/f");
	const size_t before = unit_folder_count("/proc/self/fd");
	struct pst_error err = { 0 };

	pst_out_abandon(open_out(path));
	CHECK_DONE(pst_out_close(open_out(path), &err), &err);
	pst_out_abandon(open_out("/dev/null"));
	CHECK_DONE(pst_out_close(open_out("/dev/null"), &err), &err);
	CHECK(pst_out_open(none, &err) == NULL);
	CHECK_INT(unit_folder_count("/proc/self/fd"), before);
	unit_folder_remove(folder);
}

/* ---- what is no file ---- */

static void test_device(void)
{
	char *folder = unit_folder_new();
	cleanup_free char *path = device(folder, "/dev/null");
	struct pst_error err = { 0 };
	struct pst_out *out = open_out(path);
	struct stat st;

	pst_out_text(out, "text");
	CHECK_DONE(pst_out_close(out, &err), &err);
	CHECK(stat(path, &st) == 0 && S_ISCHR(st.st_mode));
	out = open_out(path);
	pst_out_text(out, "text");
	pst_out_abandon(out);
	CHECK(stat(path, &st) == 0 && S_ISCHR(st.st_mode));
	unit_folder_remove(folder);
}

static void test_pipe(void)
{
	char *folder = unit_folder_new(), buf[16] = "";
	cleanup_free char *path = unit_path(folder, "pipe");
	struct pst_error err = { 0 };
	struct pst_out *out;
	int fd;

	REQUIRE(mkfifo(path, 0600) == 0);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	out = open_out(path);
	pst_out_text(out, "through it");
	CHECK_DONE(pst_out_close(out, &err), &err);
	CHECK_INT(read(fd, buf, sizeof(buf)), 10);
	CHECK_BYTES(buf, 10, "through it", 10);
	CHECK_INT(unit_folder_count(folder), 1);
	close(fd);
	unit_folder_remove(folder);
}

/* Write TEXT to PATH; what came to our standard output meanwhile, from malloc. */
static char *write_redirected(const char *path, const char *text)
{
	struct unit_redirect r = unit_redirect_begin(STDOUT_FILENO);
	struct pst_error err = { 0 };
	struct pst_out *out = pst_out_open(path, &err);
	int result = -1;
	bool stays;

	if (out) {
		pst_out_text(out, text);
		result = pst_out_close(out, &err);
	}
	stays = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
	text = unit_redirect_end(&r);
	CHECK_DONE(result, &err);
	CHECK(stays);
	return (char *)text;
}

static void test_stdout(void)
{
	cleanup_free char *none = write_redirected(NULL, "one"),
			  *dash = write_redirected("-", "two");

	CHECK_TEXT(none, "one");
	CHECK_TEXT(dash, "two");
}

/* Only "-" and no path are the standard output: any other name is a file's. */
static void test_odd_names(void)
{
	static const char *const odd[] = { "standard output", "--", "- ", "stdout2" };
	char *folder = unit_folder_new(), *before = getcwd(NULL, 0);

	REQUIRE(before && chdir(folder) == 0);
	for (size_t i = 0; i < PST_ARRAY_SIZE(odd); i++) {
		cleanup_free char *printed = write_redirected(odd[i], "text");

		unit_row("'%s'", odd[i]);
		CHECK_TEXT(printed, "");
		check_file(odd[i], "text");
	}
	CHECK(chdir(before) == 0);
	free(before);
	unit_folder_remove(folder);
}

static CU_TestInfo tests[] = {
	{ "a file", test_file },
	{ "a file that was there", test_replaced },
	{ "abandoned", test_abandoned },
	{ "empty", test_empty },
	{ "rights", test_rights },
	{ "long", test_long },
	{ "no folder", test_no_folder },
	{ "a full device", test_full },
	{ "no name", test_no_name },
	{ "no room", test_no_room },
	{ "descriptors", test_descriptors },
	{ "a device", test_device },
	{ "a pipe", test_pipe },
	{ "the standard output", test_stdout },
	{ "odd names", test_odd_names },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_out = { "out", NULL, NULL, NULL, NULL, tests };
