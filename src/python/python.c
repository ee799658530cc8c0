/* An interpreter in a target, from attach to detach. */
#define _GNU_SOURCE
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static void take_found(struct pst_python *py, struct found *found)
{
	py->layout = found->layout;
	py->roots = found->roots;
	py->head_word = found->head_word;
	py->version = found->version;
	py->finder = found->finder;
	free(py->image);
	py->image = pst_steal(&found->image);
}

struct pst_python *pst_python_new(struct pst_target *target, struct pst_names *names)
{
	struct pst_python *py = pst_xcalloc(1, sizeof(*py));

	py->target = target;
	py->names = names;
	py->codes = pst_codes_new();
	return py;
}

struct pst_python *pst_python_attach(struct pst_target *target, const char *abi_name,
	struct pst_names *names, struct pst_error *err)
{
	struct pst_python *py;
	struct found found;

	if (pst_discover(target, abi_name, &found, err) < 0)
		return NULL;
	py = pst_python_new(target, names);
	py->abi_name = abi_name;
	take_found(py, &found);
	return py;
}

void pst_python_detach(struct pst_python *py)
{
	if (!py)
		return;
	pst_threads_fini(py);
	pst_codes_free(py->codes);
	free(py->image);
	free(py);
}

int pst_python_refresh(struct pst_python *py, struct pst_error *err)
{
	struct found found;

	if (pst_target_reload(py->target, err) < 0 ||
		pst_discover(py->target, py->abi_name, &found, err) < 0)
		return -1;
	pst_threads_fini(py);
	pst_codes_free(py->codes);
	py->codes = pst_codes_new();
	py->tid_offset = 0;
	take_found(py, &found);
	return 0;
}
