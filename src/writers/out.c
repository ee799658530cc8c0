/* Output to a file that appears when it is complete, or to a stream. */
#define _GNU_SOURCE
#include "pystill/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pst_out {
	char *path;      /* for messages */
	char *temporary; /* NULL: PATH is written as it is */
	int fd;
	bool borrowed_fd;
	int sys; /* errno of the first failure */
	size_t len;
	char buf[65536];
};

static int io_failed(const char *path, int sys, struct pst_error *err)
{
	return pst_error_set(err, PST_ERR_IO, sys, "writing %s", path);
}

/* A new file beside PATH, with the rights that a plain open() would give. */
static int open_temporary(struct pst_out *o)
{
	const mode_t mask = umask(0);

	umask(mask);
	o->temporary = pst_xasprintf("%s.XXXXXX", o->path);
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd < 0)
		return -1;
	return fchmod(o->fd, 0666 & ~mask);
}

static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int open_fd(struct pst_out *o)
{
	if (o->borrowed_fd)
		return 0;
	if (is_special(o->path)) {
		o->fd = open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return o->fd < 0 ? -1 : 0;
	}
	return open_temporary(o);
}

static void free_out(struct pst_out *o)
{
	if (!o->borrowed_fd && o->fd >= 0)
		close(o->fd);
	free(o->path);
	free(o->temporary);
	free(o);
}

struct pst_out *pst_out_open(const char *path, struct pst_error *err)
{
	struct pst_out *o = pst_xcalloc(1, sizeof(*o));

	o->borrowed_fd = !path || strcmp(path, "-") == 0;
	o->fd = o->borrowed_fd ? STDOUT_FILENO : -1;
	o->path = pst_xstrdup(o->borrowed_fd ? "standard output" : path);
	if (open_fd(o) < 0) {
		io_failed(o->path, errno, err);
		free_out(o);
		return NULL;
	}
	return o;
}

static void flush(struct pst_out *o)
{
	size_t done = 0;

	while (done < o->len && !o->sys) {
		const ssize_t n = write(o->fd, o->buf + done, o->len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			o->sys = errno;
	}
	o->len = 0;
}

void pst_out_raw(struct pst_out *o, const char *bytes, size_t len)
{
	while (len && !o->sys) {
		size_t n = sizeof(o->buf) - o->len;

		if (n > len)
			n = len;
		memcpy(o->buf + o->len, bytes, n);
		o->len += n;
		bytes += n;
		len -= n;
		if (o->len == sizeof(o->buf))
			flush(o);
	}
}

void pst_out_text(struct pst_out *o, const char *text)
{
	pst_out_raw(o, text, strlen(text));
}

void pst_out_format(struct pst_out *o, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pst_out_text(o, text);
}

/* A full disk may only show when the file is closed. */
static void finish_file(struct pst_out *o)
{
	if (!o->borrowed_fd && close(o->fd) < 0 && !o->sys)
		o->sys = errno;
	o->fd = -1;
	if (!o->temporary)
		return;
	if (!o->sys && rename(o->temporary, o->path) < 0)
		o->sys = errno;
	if (o->sys)
		unlink(o->temporary);
}

int pst_out_close(struct pst_out *o, struct pst_error *err)
{
	int result = 0;

	flush(o);
	finish_file(o);
	if (o->sys)
		result = io_failed(o->path, o->sys, err);
	free_out(o);
	return result;
}

void pst_out_abandon(struct pst_out *o)
{
	if (!o)
		return;
	if (o->temporary)
		unlink(o->temporary);
	free_out(o);
}
