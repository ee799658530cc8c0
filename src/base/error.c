/* The error object: codes are decisions for the caller, messages are for the user. */
#define _GNU_SOURCE
#include "pystill/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *cause;
	int status;
} codes[] = {
#define X(code, cause, status) [PST_ERR_##code] = { cause, status },
	PST_ERROR_CODES(X)
#undef X
};

int pst_error_set(struct pst_error *err, enum pst_error_code code, int sys, const char *fmt, ...)
{
	size_t len;
	va_list ap;

	if (!err)
		return -1;
	err->code = code;
	err->sys = sys;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	if (sys)
		snprintf(err->msg + len, sizeof(err->msg) - len, ": %s", strerrordesc_np(sys));
	return -1;
}

int pst_error_wrap(struct pst_error *err, const char *fmt, ...)
{
	char inner[sizeof(err->msg)];
	size_t len;
	va_list ap;

	if (!err)
		return -1;
	memcpy(inner, err->msg, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	snprintf(err->msg + len, sizeof(err->msg) - len, ": %s", inner);
	return -1;
}

void pst_error_clear(struct pst_error *err)
{
	memset(err, 0, sizeof(*err));
}

int pst_error_exit_status(const struct pst_error *err)
{
	return codes[err->code].status;
}

const char *pst_error_cause(const struct pst_error *err)
{
	return codes[err->code].cause;
}
