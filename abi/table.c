/* The rows in ascending order, and how one is chosen.  To add a version: a line in PST_ABI_ROWS.  Of rows
 * that serve the same version the first wins: micro versions that differ stand before their minor one. */
#include "pystill/abi.h"

#include <string.h>

#define PST_ABI_ROWS(X)   \
	X(pst_abi_py27)   \
	X(pst_abi_py36)   \
	X(pst_abi_py37_0) \
	X(pst_abi_py37)   \
	X(pst_abi_py38)   \
	X(pst_abi_py39)   \
	X(pst_abi_py310)  \
	X(pst_abi_py311)  \
	X(pst_abi_py312)  \
	X(pst_abi_py313)  \
	X(pst_abi_py314)  \
	X(pst_abi_py315)

#define X(row) extern const struct pst_abi row;
PST_ABI_ROWS(X)
#undef X

const struct pst_abi *const pst_abi_table[] = {
#define X(row) &row,
	PST_ABI_ROWS(X)
#undef X
		NULL,
};

/* clang-format off */
const struct pst_root_symbol pst_root_symbols[] = {
	{ "_PyRuntime", offsetof(struct pst_roots, runtime) },
	{ "interp_head", offsetof(struct pst_roots, interp_head) },
	{ "_PyThreadState_Current", offsetof(struct pst_roots, thread_current) },
	{ "gil_last_holder", offsetof(struct pst_roots, gil_last_holder) },
	{ "gil_locked", offsetof(struct pst_roots, gil_locked) },
	{ "gil_switch_number", offsetof(struct pst_roots, gil_switch_number) },
};
/* clang-format on */
const size_t pst_root_symbols_count = PST_ARRAY_SIZE(pst_root_symbols);

static bool same_kind(const struct pst_abi *row, const struct pst_abi_key *key)
{
	return row->flavour == key->flavour && row->word_bits == key->word_bits &&
		row->machine == key->machine;
}

const struct pst_abi *pst_abi_find(const struct pst_abi_key *key, bool *newer)
{
	const struct pst_abi *newest = NULL;

	*newer = false;
	for (size_t i = 0; pst_abi_table[i]; i++) {
		const struct pst_abi *row = pst_abi_table[i];

		if (!same_kind(row, key))
			continue;
		if (key->version >= row->first && key->version < row->until)
			return row;
		newest = row;
	}
	*newer = newest && key->version >= newest->until;
	return *newer ? newest : NULL;
}

const struct pst_abi *pst_abi_by_name(const char *name, const struct pst_abi_key *key)
{
	const struct pst_abi *found = NULL;

	for (size_t i = 0; pst_abi_table[i]; i++) {
		const struct pst_abi *row = pst_abi_table[i];

		if (strcmp(row->name, name) != 0 || !same_kind(row, key))
			continue;
		if (key->version >= row->first && key->version < row->until)
			return row;
		found = row;
	}
	return found;
}
