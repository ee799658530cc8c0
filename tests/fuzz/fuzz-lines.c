/* Fuzz the line-table decoders: the first bytes are the instruction and the first line, the rest is the table. */
#include "fuzz.h"

#include "pystill/abi.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const pst_lines_fn decoders[] = { pst_lines_lnotab_unsigned, pst_lines_lnotab,
		pst_lines_ranges, pst_lines_locations };
	int32_t head[2];

	if (size < sizeof(head))
		return 0;
	memcpy(head, data, sizeof(head));
	for (size_t i = 0; i < PST_ARRAY_SIZE(decoders); i++)
		if (decoders[i](data + sizeof(head), size - sizeof(head), head[1], head[0]) < 0)
			abort();
	return 0;
}
