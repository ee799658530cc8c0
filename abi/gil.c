/* Who holds the GIL, era by era: where the words lie that say so. */
#include "pystill/abi.h"

static pst_addr_t at(pst_addr_t base, int32_t offset)
{
	return base + (pst_addr_t)offset;
}

/* Statics of Python/ceval.c.  Stripped builds keep only _PyThreadState_Current.  Before 3.7 the GIL is made
 * when the first thread is started: gil_locked is -1 until then. */
int pst_gil_statics(const struct pst_layout *layout, const struct pst_roots *roots,
	struct pst_mem *mem, pst_addr_t interp, struct pst_gil_words *out, struct pst_error *err)
{
	(void)layout, (void)mem, (void)interp;
	*out = (struct pst_gil_words){ .current = roots->thread_current };
	if (roots->gil_last_holder && roots->gil_locked && roots->gil_switch_number) {
		out->last_holder = roots->gil_last_holder;
		out->locked = roots->gil_locked;
		out->switches = roots->gil_switch_number;
	}
	if (!out->current && !out->locked)
		return pst_error_set(err, PST_ERR_UNSUPPORTED, 0,
			"no symbol says who holds the GIL; use --threads");
	return 0;
}

/* One GIL for all interpreters, in _PyRuntime. */
int pst_gil_runtime(const struct pst_layout *layout, const struct pst_roots *roots,
	struct pst_mem *mem, pst_addr_t interp, struct pst_gil_words *out, struct pst_error *err)
{
	(void)mem, (void)interp, (void)err;
	*out = (struct pst_gil_words){
		.last_holder = at(roots->runtime, layout->off.runtime_gil_last_holder),
		.locked = at(roots->runtime, layout->off.runtime_gil_locked),
		.switches = at(roots->runtime, layout->off.runtime_gil_switch_number),
	};
	return 0;
}

/* Each interpreter points to the GIL that it uses, its own or the main interpreter's (PEP 684). */
int pst_gil_interp(const struct pst_layout *layout, const struct pst_roots *roots,
	struct pst_mem *mem, pst_addr_t interp, struct pst_gil_words *out, struct pst_error *err)
{
	pst_addr_t gil;

	(void)roots;
	if (pst_mem_read_addr(mem, at(interp, layout->off.interp_gil), &gil, err) < 0)
		return -1;
	if (!gil)
		return pst_error_set(
			err, PST_ERR_TORN, 0, "the interpreter at %#" PRIx64 " has no GIL", interp);
	*out = (struct pst_gil_words){
		.last_holder = at(gil, layout->off.gil_last_holder),
		.locked = at(gil, layout->off.gil_locked),
		.switches = at(gil, layout->off.gil_switch_number),
	};
	if (layout->off.gil_enabled != PST_ABSENT)
		out->enabled = at(gil, layout->off.gil_enabled);
	return 0;
}
