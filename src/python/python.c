/* An interpreter in a target, from attach to detach. */
#define _GNU_SOURCE
#include "internal.h"

#include "pystill/hash.h"

#include <stdlib.h>
#include <string.h>

static void take_found(struct pst_python *py, struct found *found)
{
	py->layout = found->layout;
	py->roots = found->roots;
	py->head_word = found->head_word;
	py->version = found->version;
	py->finder = found->finder;
	py->found = py->seen = true;
	free(py->image);
	py->image = pst_steal(&found->image);
}

static uint32_t mix(uint32_t hash, uint64_t value)
{
	return pst_hash_u64(value ^ (uint64_t)hash << 32);
}

/* Stands for the files that are mapped to be run, and where. */
static uint32_t image_signature(const struct pst_maps *maps)
{
	uint32_t hash = 0;

	for (size_t i = 0; i < maps->n; i++)
		if (maps->v[i].inode && (maps->v[i].flags & PST_MAP_EXEC))
			hash = mix(mix(hash, maps->v[i].inode), maps->v[i].start);
	return hash;
}

/* Stands for the program that runs, whatever it loads: an exec moves one of the two. */
static uint32_t program_signature(const struct pst_maps *maps)
{
	uint32_t hash = 0;
	bool first = true;

	for (size_t i = 0; i < maps->n; i++) {
		const struct pst_map *map = &maps->v[i];

		if (first && map->inode && (map->flags & PST_MAP_EXEC)) {
			hash = mix(mix(hash, map->inode), map->start);
			first = false;
		} else if (strcmp(map->path, "[vdso]") == 0) {
			hash = mix(hash, map->start);
		}
	}
	return hash;
}

struct pst_python *pst_python_new(struct pst_target *target, struct pst_names *names)
{
	struct pst_python *py = pst_xcalloc(1, sizeof(*py));

	py->target = target;
	py->serial = (uint64_t)pst_now_ns(); /* no two are given in one nanosecond */
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
	py->images = image_signature(&target->maps);
	take_found(py, &found);
	return py;
}

void pst_python_detach(struct pst_python *py)
{
	if (!py)
		return;
	pst_threads_fini(py);
	pst_codes_free(py->codes);
	free(py->pending);
	free(py->image);
	free(py);
}

static void forget(struct pst_python *py)
{
	free(pst_steal(&py->pending));
	pst_threads_fini(py);
	pst_codes_free(py->codes);
	py->codes = pst_codes_new();
	py->tid_offset = 0;
	py->found = false;
}

/* Remember what will be an interpreter soon, to look at it alone.  Where its version was not certain yet it is searched
 * anew once it is ready. */
static void keep_pending(struct pst_python *py, const struct found *found)
{
	if (!found->dormant || !found->head_word)
		return;
	py->pending = pst_xmalloc(sizeof(*found));
	*py->pending = *found;
}

static int not_python(const struct pst_python *py, struct pst_error *err)
{
	return pst_error_set(
		err, PST_ERR_NOTPYTHON, 0, "process %d is not a Python process", py->target->pid);
}

int pst_python_search(struct pst_python *py, struct pst_error *err)
{
	struct pst_target *target = py->target;
	struct found found;
	uint32_t images;
	int result;

	if (py->pending && pst_discover_still_dormant(py->pending, target))
		return not_python(py, err);
	if (pst_target_reload(target, err) < 0)
		return -1;
	images = image_signature(&target->maps);
	if (py->searched && images == py->images)
		return not_python(py, err);
	py->images = images;
	forget(py);
	result = pst_discover(target, py->abi_name, &found, err);
	if (result == 0 || err->code != PST_ERR_GONE || found.dormant) {
		py->dormant = result < 0 && found.dormant;
		py->misfit = result < 0 && found.misfit;
	}
	py->searched = result < 0 && err->code == PST_ERR_NOTPYTHON && !py->dormant && !py->misfit;
	if (result == 0)
		take_found(py, &found);
	else
		keep_pending(py, &found);
	return result;
}

bool pst_python_replaced(const struct pst_python *py)
{
	struct pst_error ignored;
	struct pst_maps maps;
	bool same;

	if (pst_maps_load(&maps, py->target->pid, &ignored) < 0)
		return false;
	same = program_signature(&maps) == program_signature(&py->target->maps);
	pst_maps_fini(&maps);
	return !same;
}
