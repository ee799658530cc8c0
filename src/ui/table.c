/* The array of verbs, and how one is found. */
#include "pystill/cmd.h"

#include <string.h>

/* clang-format off */
const struct pst_cmd pst_cmd_table[] = {
	{ "record", "sample for a while, write a file", true, NULL },
	{ "top", "sample and show live", true, NULL },
	{ "dump", "print what each thread is doing now", true, NULL },
	{ "convert", "a capture or folded text to any format", false, NULL },
	{ "diff", "two captures to one picture", false, NULL },
	{ "doctor", "what stands between us and a process", false, NULL },
	{ "completions", "a script for the shell", false, NULL },
	{ NULL, NULL, false, NULL },
};
/* clang-format on */

const struct pst_cmd *pst_cmd_find(const char *word)
{
	const size_t len = strlen(word);
	const struct pst_cmd *found = NULL;
	int n = 0;

	if (len == 0)
		return NULL;
	for (const struct pst_cmd *cmd = pst_cmd_table; cmd->name; cmd++) {
		if (strncmp(cmd->name, word, len) != 0)
			continue;
		if (cmd->name[len] == '\0' || (len == 1 && cmd->short_wins))
			return cmd;
		found = cmd;
		n++;
	}
	return n == 1 ? found : NULL;
}
