/* Fuzz the memory map's and the status file's parsers. */
#include "fuzz.h"

#include "pystill/maps.h"
#include "pystill/procfs.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = pst_xmalloc(size + 1);
	struct pst_status status = { 0 };
	struct pst_maps maps;

	memcpy(text, data, size);
	text[size] = '\0';
	pst_status_parse(&status, text);
	pst_maps_parse(&maps, text);
	for (size_t i = 0; i < maps.n; i++)
		if (maps.v[i].start >= maps.v[i].end ||
			pst_maps_find(&maps, maps.v[i].start) != &maps.v[i])
			abort();
	pst_maps_fini(&maps);
	return 0;
}
