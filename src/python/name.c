/* Thread names: sys.modules["threading"]._active maps ids to Thread objects, which have a name. */
#include "internal.h"

#include <string.h>

/* A look-up in a dict by text. */
struct lookup {
	const struct pst_python *py;
	const char *key;
	pst_addr_t value; /* 0: not found */
};

static bool match_key(void *ctx, pst_addr_t key, pst_addr_t value)
{
	struct lookup *l = ctx;

	if (!pst_text_equals(&l->py->layout, l->py->target->mem, key, l->key))
		return false;
	l->value = value;
	return true;
}

/* The value of KEY in the dict (or among the attributes of the instance) at ADDR, or 0. */
static pst_addr_t look_up(
	const struct pst_python *py, pst_dict_fn visit, pst_addr_t addr, const char *key)
{
	struct lookup l = { py, key, 0 };

	visit(&py->layout, py->target->mem, addr, match_key, &l, &(struct pst_error){ 0 });
	return l.value;
}

/* sys.modules["threading"]._active of one interpreter, or 0. */
static pst_addr_t find_active(const struct pst_python *py, pst_addr_t interp)
{
	struct pst_mem *mem = py->target->mem;
	struct pst_error ignored = { 0 };
	pst_addr_t modules, threading, dict;

	if (pst_mem_read_addr(mem, interp + (pst_addr_t)py->layout.off.interp_modules, &modules,
		    &ignored) < 0)
		return 0;
	threading = look_up(py, py->layout.dict, modules, "threading");
	if (!threading ||
		pst_mem_read_addr(mem, threading + (pst_addr_t)py->layout.off.module_dict, &dict,
			&ignored) < 0)
		return 0;
	return look_up(py, py->layout.dict, dict, "_active");
}

struct naming {
	struct pst_python *py;
	pst_addr_t interp;
};

/* The name of a Thread object: `_name`, which was private to the class in 2.x. */
static pst_name_id read_thread_name(struct pst_python *py, pst_addr_t thread)
{
	struct pst_error ignored = { 0 };
	char text[1024];
	size_t len;
	pst_addr_t name = look_up(py, py->layout.attr, thread, "_name");

	if (!name)
		name = look_up(py, py->layout.attr, thread, "_Thread__name");
	if (!name)
		return 0;
	if (py->layout.text(
		    &py->layout, py->target->mem, name, text, sizeof(text), &len, &ignored) < 0 &&
		pst_text_wide(
			&py->layout, py->target->mem, name, text, sizeof(text), &len, &ignored) < 0)
		return 0;
	return pst_names_string(py->names, text, len);
}

/* Ids are signed in some versions. */
static bool name_thread(void *ctx, pst_addr_t key, pst_addr_t value)
{
	struct naming *n = ctx;
	const pst_addr_t mask = n->py->target->mem->word_bytes == 4 ? UINT32_MAX : UINT64_MAX;
	int64_t ident;

	if (pst_object_int(
		    &n->py->layout, n->py->target->mem, key, &ident, &(struct pst_error){ 0 }) < 0)
		return false;
	for (size_t i = 0; i < n->py->n_threads; i++) {
		struct pst_pythread *t = n->py->threads[i];

		if (t->interp == n->interp && t->ident == ((pst_addr_t)ident & mask))
			t->name = read_thread_name(n->py, value);
	}
	return false;
}

void pst_python_find_names(struct pst_python *py)
{
	pst_addr_t done = 0;

	for (size_t i = 0; i < py->n_threads; i++) {
		struct naming n = { py, py->threads[i]->interp };
		pst_addr_t active;

		if (n.interp == done) /* threads are listed by interpreter */
			continue;
		done = n.interp;
		active = find_active(py, n.interp);
		if (active)
			py->layout.dict(&py->layout, py->target->mem, active, name_thread, &n,
				&(struct pst_error){ 0 });
	}
}
