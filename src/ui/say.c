/* Errors and warnings.  Control characters, which names of the target may hold, never reach the terminal. */
#include "say.h"

#include "pystill/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One line in one write: standard error is not buffered. */
static void print_line(const char *program, const char *kind, const char *text)
{
	cleanup_free char *line = pst_xasprintf("%s: %s%s\n", program, kind, text);

	for (char *c = line; c[1]; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	fputs(line, stderr);
}

static void print_json(FILE *f, const struct pst_error *err, int status)
{
	char message[PST_JSON_GROWTH * sizeof(err->msg)];
	const size_t len = pst_json_escape(message, err->msg, strlen(err->msg));

	fprintf(f, "{\"message\": \"%.*s\", \"status\": %d, \"cause\": \"%s\"}\n", (int)len,
		message, status, pst_error_cause(err));
}

void pst_say_error(const struct pst_opts *opts, const struct pst_error *err, int status)
{
	if (opts->errors == PST_ERRORS_JSON) {
		print_json(stderr, err, status);
		return;
	}
	if (err->sys == EPIPE) /* whoever read our output went away: no news */
		return;
	print_line(opts->program, "", err->msg);
}

void pst_say_line(const struct pst_opts *opts, const char *text)
{
	print_line(opts->program, "", text);
}

static void say_warning(void *ctx, const char *text)
{
	const struct pst_opts *opts = ctx;

	print_line(opts->program, "warning: ", text);
}

struct pst_note pst_say_note(const struct pst_opts *opts)
{
	return (struct pst_note){ say_warning, (void *)opts };
}
