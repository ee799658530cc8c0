/* Print the options as the man page has them, from the rows.  For developers: make update-man. */
#include "pystill/opt.h"

#include <stdio.h>

/* Roff reads '-' as a hyphen, and a line that begins with '.' or "'" as a request. */
static void print_text(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
}

int main(void)
{
	for (size_t i = 0; i < pst_opt_count; i++) {
		const struct pst_opt *row = &pst_opt_table[i];

		puts(".TP");
		if (row->letter)
			printf("\\fB\\-%c\\fR, ", row->letter);
		printf("\\fB\\-\\-");
		print_text(row->word);
		printf("\\fR");
		if (row->arg)
			printf(" \\fI%s\\fR", row->arg);
		putchar('\n');
		print_text(row->help);
		putchar('\n');
	}
	return 0;
}
