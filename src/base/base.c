/* Allocation that cannot fail, cleanup functions, the clock. */
#define _GNU_SOURCE
#include "pystill/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Written without stdio: that may allocate too. */
_Noreturn void pst_out_of_memory(void)
{
	static const char msg[] = "pystill: out of memory\n";

	if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0)
		_exit(1);
	_exit(1);
}

void pst_cleanup_free(void *pointer_to_pointer)
{
	void *p;

	memcpy(&p, pointer_to_pointer, sizeof(p));
	free(p);
}

void pst_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void *pst_xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		pst_out_of_memory();
	return p;
}

void *pst_xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		pst_out_of_memory();
	return p;
}

void *pst_xreallocarray(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n ? n : 1, size ? size : 1);

	if (!p)
		pst_out_of_memory();
	return p;
}

char *pst_xstrdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		pst_out_of_memory();
	return p;
}

char *pst_xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		pst_out_of_memory();
	return s;
}

void *pst_grow(void *v, size_t *cap, size_t want, size_t size)
{
	size_t n = *cap + *cap / 2 + 8;

	if (want <= *cap)
		return v;
	if (n < want)
		n = want;
	v = pst_xreallocarray(v, n, size);
	*cap = n;
	return v;
}

int64_t pst_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * PST_NSEC_PER_SEC + ts.tv_nsec;
}
