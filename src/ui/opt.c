/* Rows -> getopt, values, help. */
#define _GNU_SOURCE
#include "pystill/opt.h"

#include "pystill/arena.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LONG  256 /* getopt's value of row i is FIRST_LONG + i */
#define HELP_WIDTH  80
#define HELP_COLUMN 30

static int bad_value(
	const struct pst_opt *row, const char *value, const char *wanted, struct pst_error *err)
{
	return pst_error_set(
		err, PST_ERR_USAGE, 0, "--%s: '%s' is not %s", row->word, value, wanted);
}

static int set_number(
	const struct pst_opt *row, const char *value, double *out, struct pst_error *err)
{
	char range[80], *end;

	errno = 0;
	*out = strtod(value, &end);
	if (end == value || *end || !isfinite(*out) || *out < row->min || *out > row->max) {
		snprintf(range, sizeof(range), "a number from %g to %g", row->min, row->max);
		return bad_value(row, value, range, err);
	}
	return 0;
}

static int set_choice(const struct pst_opt *row, const char *value, int *out, struct pst_error *err)
{
	char wanted[128] = "";

	for (int i = 0; row->choices[i]; i++) {
		if (strcmp(row->choices[i], value) == 0) {
			*out = i;
			return 0;
		}
		snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "%s%s",
			i == 0 ? "one of " : ", ", row->choices[i]);
	}
	return bad_value(row, value, wanted, err);
}

int pst_opt_parse_pid(const char *text, long long *out, struct pst_error *err)
{
	char *end;

	*out = strtoll(text, &end, 10);
	if (end == text || *end || *out < 1 || *out > INT_MAX)
		return pst_error_set(err, PST_ERR_USAGE, 0, "'%s' is not a pid", text);
	return 0;
}

static int set_value(
	struct pst_opts *opts, const struct pst_opt *row, const char *value, struct pst_error *err)
{
	void *at = (char *)opts + row->at;

	switch (row->type) {
	case PST_OPT_FLAG: *(bool *)at = true; return 0;
	case PST_OPT_NUMBER: return set_number(row, value, at, err);
	case PST_OPT_PID: return pst_opt_parse_pid(value, at, err);
	case PST_OPT_STRING: *(const char **)at = value; return 0;
	case PST_OPT_CHOICE: return set_choice(row, value, at, err);
	}
	return 0;
}

/* getopt's two arrays for one command.  '+': what follows the first word is not ours; ':': a missing value is
 * told apart. */
struct getopt_arrays {
	char letters[2 * 64 + 4];
	struct option words[64];
};

static void make_arrays(unsigned command, struct getopt_arrays *a)
{
	char *letter = a->letters;
	size_t n = 0;

	*letter++ = '+';
	*letter++ = ':';
	for (size_t i = 0; i < pst_opt_count && n + 1 < PST_ARRAY_SIZE(a->words); i++) {
		const struct pst_opt *row = &pst_opt_table[i];

		if (!(row->commands & command))
			continue;
		a->words[n++] = (struct option){ row->word,
			row->arg ? required_argument : no_argument, NULL, FIRST_LONG + (int)i };
		if (row->letter) {
			*letter++ = row->letter;
			if (row->arg)
				*letter++ = ':';
		}
	}
	*letter = '\0';
	a->words[n] = (struct option){ 0 };
}

static const struct pst_opt *find_row(unsigned command, int got)
{
	if (got >= FIRST_LONG)
		return &pst_opt_table[got - FIRST_LONG];
	for (size_t i = 0; i < pst_opt_count; i++)
		if ((pst_opt_table[i].commands & command) && pst_opt_table[i].letter == got)
			return &pst_opt_table[i];
	return NULL;
}

/* getopt says only which kind of mistake it was. */
static int bad_option(int got, char **argv, struct pst_error *err)
{
	const char *word = argv[optind - 1];

	if (got == ':' && optopt >= FIRST_LONG)
		return pst_error_set(err, PST_ERR_USAGE, 0, "%s needs a value", word);
	if (got == ':')
		return pst_error_set(err, PST_ERR_USAGE, 0, "-%c needs a value", optopt);
	if (optopt >= FIRST_LONG)
		return pst_error_set(err, PST_ERR_USAGE, 0, "%s takes no value", word);
	if (optopt)
		return pst_error_set(err, PST_ERR_USAGE, 0, "unknown option -%c", optopt);
	return pst_error_set(err, PST_ERR_USAGE, 0, "unknown option %s", word);
}

int pst_opt_parse(
	struct pst_opts *opts, unsigned command, int argc, char **argv, struct pst_error *err)
{
	struct getopt_arrays arrays;
	int got;

	make_arrays(command, &arrays);
	opterr = 0;
	optind = 0; /* anew, also for GNU's own state */
	while ((got = getopt_long(argc, argv, arrays.letters, arrays.words, NULL)) != -1) {
		const struct pst_opt *row =
			got == '?' || got == ':' ? NULL : find_row(command, got);

		if (!row)
			return bad_option(got, argv, err);
		if (set_value(opts, row, optarg, err) < 0)
			return -1;
	}
	opts->words = argv + optind;
	opts->n_words = argc - optind;
	return 0;
}

/* ---- help ---- */

struct text {
	char *s;
	size_t len, cap;
};

static void append(struct text *t, const char *bytes, size_t len)
{
	t->s = pst_grow(t->s, &t->cap, t->len + len + 1, 1);
	memcpy(t->s + t->len, bytes, len);
	t->len += len;
	t->s[t->len] = '\0';
}

/* Words from column START on, up to HELP_WIDTH. */
static void append_wrapped(struct text *t, const char *words, int start)
{
	int column = start;

	while (*words) {
		const int len = (int)strcspn(words, " ");

		if (column > start && column + 1 + len > HELP_WIDTH) {
			append(t, "\n", 1);
			for (int i = 0; i < start; i++)
				append(t, " ", 1);
			column = start;
		} else if (column > start) {
			append(t, " ", 1);
			column++;
		}
		append(t, words, (size_t)len);
		column += len;
		words += len + (words[len] == ' ');
	}
	append(t, "\n", 1);
}

char *pst_opt_help(unsigned command)
{
	struct text t = { 0 };

	for (size_t i = 0; i < pst_opt_count; i++) {
		const struct pst_opt *row = &pst_opt_table[i];
		char head[64], letter[8] = "    ";

		if (!(row->commands & command))
			continue;
		if (row->letter)
			snprintf(letter, sizeof(letter), "-%c, ", row->letter);
		snprintf(head, sizeof(head), "  %s--%s%s%s", letter, row->word, row->arg ? " " : "",
			row->arg ? row->arg : "");
		snprintf(head + strlen(head), sizeof(head) - strlen(head), "%*s",
			strlen(head) < HELP_COLUMN ? (int)(HELP_COLUMN - strlen(head)) : 1, "");
		append(&t, head, strlen(head));
		append_wrapped(&t, row->help, HELP_COLUMN);
	}
	return t.s;
}
