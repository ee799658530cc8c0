/* The array of writers. */
#include "pystill/writer.h"

#include <strings.h>

const struct pst_writer *const pst_writer_table[] = {
	&pst_writer_folded,
	&pst_writer_flamechart,
	&pst_writer_stacks,
	NULL,
};

const struct pst_writer *pst_writer_find(const char *name)
{
	for (size_t i = 0; pst_writer_table[i]; i++)
		if (strcasecmp(pst_writer_table[i]->name, name) == 0)
			return pst_writer_table[i];
	return NULL;
}
