/* The rows in ascending order, and how one is chosen.  To add a version: a line in PST_ABI_ROWS. */
#include "pystill/abi.h"

#include <string.h>

#define PST_ABI_ROWS(X)  \
	X(pst_abi_py23)  \
	X(pst_abi_py24)  \
	X(pst_abi_py25)  \
	X(pst_abi_py26)  \
	X(pst_abi_py27)  \
	X(pst_abi_py30)  \
	X(pst_abi_py31)  \
	X(pst_abi_py32)  \
	X(pst_abi_py33)  \
	X(pst_abi_py34)  \
	X(pst_abi_py35)  \
	X(pst_abi_py36)  \
	X(pst_abi_py37)  \
	X(pst_abi_py38)  \
	X(pst_abi_py39)  \
	X(pst_abi_py310) \
	X(pst_abi_py311) \
	X(pst_abi_py312) \
	X(pst_abi_py313) \
	X(pst_abi_py314) \
	X(pst_abi_py315)

#define X(rows) extern const struct pst_abi rows[];
PST_ABI_ROWS(X)
#undef X

const struct pst_abi *const pst_abi_table[] = {
#define X(rows) rows,
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
	{ "PyUnicodeUCS2_AsUTF8String", offsetof(struct pst_roots, unicode_ucs2) },
	{ "PyUnicodeUCS4_AsUTF8String", offsetof(struct pst_roots, unicode_ucs4) },
};
/* clang-format on */
const size_t pst_root_symbols_count = PST_ARRAY_SIZE(pst_root_symbols);

static bool same_kind(const struct pst_abi *row, const struct pst_abi_key *key)
{
	return row->flavour == key->flavour && row->word_bits == key->word_bits &&
		row->machine == key->machine;
}

static bool serves(const struct pst_abi *row, uint32_t version)
{
	return version >= row->first && version < row->until;
}

const struct pst_abi *pst_abi_find(const struct pst_abi_key *key, bool *newer)
{
	const struct pst_abi *found = NULL, *newest = NULL;

	PST_FOR_EACH_ABI(row)
	{
		if (!same_kind(row, key))
			continue;
		if (serves(row, key->version))
			found = row;
		if (!newest || row->until > newest->until)
			newest = row;
	}
	*newer = !found && newest && key->version >= newest->until;
	return *newer ? newest : found;
}

const struct pst_abi *pst_abi_by_name(const char *name, const struct pst_abi_key *key)
{
	const struct pst_abi *found = NULL;
	bool fits = false;

	PST_FOR_EACH_ABI(row)
	{
		const bool here = serves(row, key->version);

		if (strcmp(row->name, name) != 0 || !same_kind(row, key) ||
			(found && fits && !here))
			continue;
		if (!found || here)
			found = row;
		fits = here;
	}
	return found;
}
