/* Checks, and files for tests. */
#define _GNU_SOURCE
#include "unit.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_SHOWN 300

static char row[256];

void unit_begin(void)
{
	row[0] = '\0';
}

void unit_row(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(row, sizeof(row), fmt, ap);
	va_end(ap);
}

/* CUnit keeps a copy of the text. */
static bool PST_PRINTF(3, 4) report(bool ok, const struct unit_place *place, const char *fmt, ...)
{
	char text[1024];
	int n = 0;
	va_list ap;

	if (!ok && row[0])
		n = snprintf(text, sizeof(text), "[%s] ", row);
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	CU_assertImplementation(ok, place->line, text, place->file, "", CU_FALSE);
	return ok;
}

bool unit_check(bool ok, const struct unit_place *place)
{
	return report(ok, place, "%s", place->text);
}

bool unit_check_int(int64_t actual, int64_t wanted, const struct unit_place *place)
{
	return report(actual == wanted, place, "%s is %" PRId64 ", wanted %" PRId64, place->text,
		actual, wanted);
}

/* Bytes as C would write them. */
static char *show(const char *bytes, size_t len)
{
	char *out = pst_xmalloc(MAX_SHOWN * 4 + 8);
	size_t n = 0;

	for (size_t i = 0; i < len && i < MAX_SHOWN; i++)
		n += (size_t)sprintf(out + n, bytes[i] >= 0x20 && bytes[i] < 0x7f ? "%c" : "\\%03o",
			(unsigned char)bytes[i]);
	strcpy(out + n, len > MAX_SHOWN ? "..." : "");
	return out;
}

bool unit_check_bytes(const void *actual, size_t n_actual, const void *wanted, size_t n_wanted,
	const struct unit_place *place)
{
	const bool ok =
		n_actual == n_wanted && (!n_actual || memcmp(actual, wanted, n_actual) == 0);
	cleanup_free char *is = ok ? NULL : show(actual, n_actual);
	cleanup_free char *should = ok ? NULL : show(wanted, n_wanted);

	return report(ok, place, "%s is \"%s\", wanted \"%s\"", place->text, is ? is : "",
		should ? should : "");
}

bool unit_check_text(const char *actual, const char *wanted, const struct unit_place *place)
{
	if (!actual)
		return report(false, place, "%s is NULL", place->text);
	return unit_check_bytes(actual, strlen(actual), wanted, strlen(wanted), place);
}

bool unit_check_error(int result, const struct pst_error *err, enum pst_error_code code,
	const struct unit_place *place)
{
	const bool system = code == PST_ERR_IO || code == PST_ERR_PERM;
	const bool ok = result == -1 && err->code == code && err->msg[0] && (system || !err->sys);

	return report(ok, place, "%s gives %d, code %d, errno %d (%s); wanted code %d", place->text,
		result, (int)err->code, err->sys, err->msg, (int)code);
}

bool unit_check_done(int result, const struct pst_error *err, const struct unit_place *place)
{
	return report(result == 0, place, "%s gives %d (%s)", place->text, result,
		result ? err->msg : "");
}

char *unit_folder_new(void)
{
	const char *where = getenv("TMPDIR");
	char *folder = pst_xasprintf("%s/pystill-unit-XXXXXX", where && *where ? where : "/tmp");

	MUST(mkdtemp(folder) != NULL);
	return folder;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

void unit_folder_remove(char *folder)
{
	const struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir))) {
		cleanup_free char *path = unit_path(folder, entry->d_name);

		if (!is_dots(entry->d_name) && unlink(path) < 0)
			rmdir(path);
	}
	if (dir)
		closedir(dir);
	CHECK(rmdir(folder) == 0);
	free(folder);
}

size_t unit_folder_count(const char *folder)
{
	const struct dirent *entry;
	DIR *dir = opendir(folder);
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		n += !is_dots(entry->d_name);
	if (dir)
		closedir(dir);
	return n;
}

char *unit_path(const char *folder, const char *name)
{
	return pst_xasprintf("%s/%s", folder, name);
}

char *unit_read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "re");
	size_t n = 0, cap = 0, got;
	char *bytes = NULL;

	if (!f)
		return NULL;
	do {
		bytes = pst_grow(bytes, &cap, n + 65536, 1);
		got = fread(bytes + n, 1, cap - n - 1, f);
		n += got;
	} while (got);
	fclose(f);
	bytes[n] = '\0';
	if (len)
		*len = n;
	return bytes;
}

void unit_write_file(const char *path, const void *bytes, size_t len)
{
	FILE *f = fopen(path, "we");

	MUST(f != NULL);
	CHECK(fwrite(bytes, 1, len, f) == len);
	CHECK(fclose(f) == 0);
}

struct unit_redirect unit_redirect_begin(int fd)
{
	struct unit_redirect r = { fd, dup(fd), memfd_create("unit", MFD_CLOEXEC) };

	fflush(NULL);
	MUST(r.saved >= 0 && r.file >= 0 && dup2(r.file, fd) == fd);
	return r;
}

char *unit_redirect_end(struct unit_redirect *r)
{
	off_t len;
	char *text;

	fflush(NULL);
	dup2(r->saved, r->fd);
	close(r->saved);
	len = lseek(r->file, 0, SEEK_END);
	text = pst_xcalloc((size_t)len + 1, 1);
	MUST(pread(r->file, text, (size_t)len, 0) == len);
	close(r->file);
	return text;
}

uint32_t unit_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}
