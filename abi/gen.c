/* Generators: what they are doing, and their frame. */
#include "pystill/abi.h"

/* 3.10+: one signed byte, of the generator or of its frame.  Its values move from version to version, but not
 * their order: created, suspended, executing, ended. */
static int read_state(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t at,
	enum pst_gen_run *run, struct pst_error *err)
{
	int8_t state;

	if (pst_mem_read(mem, at, &state, 1, err) < 0)
		return -1;
	if (state <= layout->gen_created)
		*run = PST_GEN_CREATED;
	else if (state < layout->gen_executing)
		*run = PST_GEN_SUSPENDED;
	else
		*run = state == layout->gen_executing ? PST_GEN_EXECUTING : PST_GEN_ENDED;
	return 0;
}

/* To 3.9: a flag says that it runs, and a frame that has not begun has no instruction. */
static int read_flag(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_addr_t frame, enum pst_gen_run *run, struct pst_error *err)
{
	int32_t lasti;
	uint8_t running;

	if (pst_mem_read(mem, addr + (pst_addr_t)layout->off.gen_running, &running, 1, err) < 0 ||
		pst_mem_read_i32(mem, frame + (pst_addr_t)layout->off.frame_lasti, &lasti, err) < 0)
		return -1;
	if (running)
		*run = PST_GEN_EXECUTING;
	else
		*run = lasti < 0 ? PST_GEN_CREATED : PST_GEN_SUSPENDED;
	return 0;
}

int pst_gen_read(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	enum pst_gen_run *run, pst_addr_t *frame, struct pst_error *err)
{
	const struct pst_offsets *o = &layout->off;
	const pst_addr_t at = addr + (pst_addr_t)o->gen_frame;

	if (o->gen_state != PST_ABSENT) {
		if (read_state(layout, mem, addr + (pst_addr_t)o->gen_state, run, err) < 0)
			return -1;
		*frame = *run == PST_GEN_ENDED ? 0 : at; /* it is part of the generator */
		return 0;
	}
	if (o->gen_frame == PST_ABSENT) /* 2.3 keeps the struct to itself */
		return pst_error_set(err, PST_ERR_TORN, 0, "no generator at %#" PRIx64, addr);
	*run = PST_GEN_ENDED;
	if (pst_mem_read_addr(mem, at, frame, err) < 0)
		return -1;
	if (!*frame)
		return 0;
	if (o->frame_state != PST_ABSENT)
		return read_state(layout, mem, *frame + (pst_addr_t)o->frame_state, run, err);
	return read_flag(layout, mem, addr, *frame, run, err);
}
