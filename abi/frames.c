/* The frame chains.  All versions link each frame to its caller; they differ in where the chain begins,
 * in how a frame says which instruction it is at, and in frames that are not Python's. */
#include "pystill/abi.h"

#include <string.h>

#define OWNER_NOT_PYTHON \
	3 /* 3.12+: this and above are frames of the interpreter itself, pycore_frame.h */
#define TAG_BITS   3u /* 3.14+: low bits of a _PyStackRef; 0 in a plain pointer */
#define MAX_BLOCK  256
#define MAX_COPIES (1u << 20) /* of the bytecode of one function: one a thread */

/* The bytes of a frame that matter, as one block, and where in it each member is. */
struct block {
	int32_t from, size;
	int32_t previous, code, lasti, owner, tlbc;
};

static int32_t min32(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

static int32_t max32(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static int plan_block(
	const struct pst_layout *layout, unsigned word, struct block *b, struct pst_error *err)
{
	const struct pst_offsets *o = &layout->off;
	const int32_t last = max32(max32(o->frame_previous, o->frame_code), o->frame_lasti);

	b->from = min32(min32(o->frame_previous, o->frame_code), o->frame_lasti);
	b->size = max32(max32(last + (int32_t)word, o->frame_owner + 1), o->frame_tlbc_index + 4) -
		b->from;
	b->previous = o->frame_previous - b->from;
	b->code = o->frame_code - b->from;
	b->lasti = o->frame_lasti - b->from;
	b->owner = o->frame_owner == PST_ABSENT ? PST_ABSENT : o->frame_owner - b->from;
	b->tlbc = o->frame_tlbc_index == PST_ABSENT ? PST_ABSENT : o->frame_tlbc_index - b->from;
	if (b->from < 0 || b->size > MAX_BLOCK || b->owner < PST_ABSENT || b->tlbc < PST_ABSENT)
		return pst_error_set(err, PST_ERR_UNSUPPORTED, 0,
			"frames of Python %s: impossible offsets", layout->row->name);
	return 0;
}

/* Free-threaded 3.14+: each thread runs its own copy of the bytecode, one of the code object's array of them
 * (_PyCodeArray: a size, then pointers; Include/internal/pycore_code.h). */
static int find_copy(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t code,
	int32_t index, pst_addr_t *start, struct pst_error *err)
{
	const unsigned word = mem->word_bytes;
	pst_addr_t array, size;

	if (pst_mem_read_addr(mem, code + (pst_addr_t)layout->off.code_tlbc, &array, err) < 0 ||
		pst_mem_read_addr(mem, array, &size, err) < 0)
		return -1;
	if (index < 0 || (pst_addr_t)index >= size || size > MAX_COPIES)
		return pst_error_set(err, PST_ERR_TORN, 0,
			"bytecode copy %d of the code at %#" PRIx64, index, code);
	return pst_mem_read_addr(mem, array + word + (pst_addr_t)index * word, start, err);
}

/* Where does the bytecode begin that the frame in BYTES runs? */
static int find_bytecode(const struct pst_layout *layout, struct pst_mem *mem,
	const unsigned char *bytes, const struct block *b, pst_addr_t code, pst_addr_t *start,
	struct pst_error *err)
{
	int32_t index;

	*start = code + (pst_addr_t)layout->off.code_bytecode;
	if (b->tlbc == PST_ABSENT)
		return 0;
	memcpy(&index, bytes + b->tlbc, sizeof(index));
	return index ? find_copy(layout, mem, code, index, start, err) : 0;
}

/* Which instruction?  Heap frames count units; the others point into the code object's own bytecode. */
static int find_lasti(const struct pst_layout *layout, struct pst_mem *mem,
	const unsigned char *bytes, const struct block *b, struct pst_raw_frame *f,
	struct pst_error *err)
{
	int64_t lasti;

	if (layout->off.code_bytecode == PST_ABSENT) {
		int32_t units;

		memcpy(&units, bytes + b->lasti, sizeof(units));
		lasti = units < 0 ? -1 : (int64_t)units * layout->lasti_unit;
	} else {
		pst_addr_t start;

		if (find_bytecode(layout, mem, bytes, b, f->code, &start, err) < 0)
			return -1;
		lasti = (int64_t)(pst_mem_word_at(mem, bytes + b->lasti) - start);
	}
	if (lasti < -64 || lasti > 1 << 28)
		return pst_error_set(
			err, PST_ERR_TORN, 0, "the frame at %#" PRIx64 " is in no code", f->frame);
	f->lasti = (int32_t)lasti;
	return 0;
}

/* Read the frame F->frame; *IS_PYTHON says whether it belongs in a stack. */
static int read_frame(const struct pst_layout *layout, struct pst_mem *mem, const struct block *b,
	struct pst_raw_frame *f, pst_addr_t *previous, bool *is_python, struct pst_error *err)
{
	unsigned char bytes[MAX_BLOCK];

	if (pst_mem_read(mem, f->frame + (pst_addr_t)b->from, bytes, (size_t)b->size, err) < 0)
		return -1;
	*previous = pst_mem_word_at(mem, bytes + b->previous);
	f->code = pst_mem_word_at(mem, bytes + b->code) & ~(pst_addr_t)TAG_BITS;
	f->owner = b->owner == PST_ABSENT ? 0 : bytes[b->owner];
	*is_python = f->owner < OWNER_NOT_PYTHON;
	if (!*is_python)
		return 0;
	if (!f->code)
		return pst_error_set(
			err, PST_ERR_TORN, 0, "the frame at %#" PRIx64 " has no code", f->frame);
	return find_lasti(layout, mem, bytes, b, f, err);
}

/* From 3.15 on a chain ends in a frame that the thread state names. */
static int check_end(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t thread,
	pst_addr_t last, struct pst_error *err)
{
	pst_addr_t base;

	if (layout->off.thread_base_frame == PST_ABSENT || !last)
		return 0;
	if (pst_mem_read_addr(mem, thread + (pst_addr_t)layout->off.thread_base_frame, &base, err) <
		0)
		return -1;
	if (last == base)
		return 0;
	return pst_error_set(
		err, PST_ERR_TORN, 0, "the frames end at %#" PRIx64 " in mid-air", last);
}

/* Frames from FRAME outwards.  A ring is found by Brent's method: the mark jumps to the present frame each
 * time the number of steps has doubled. */
static int walk(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t thread,
	pst_addr_t frame, struct pst_raw_stack *out, struct pst_error *err)
{
	pst_addr_t mark = 0, previous = 0, last = 0;
	uint64_t steps = 0, next_mark = 1;
	struct block b;

	out->n = 0;
	out->truncated = false;
	if (plan_block(layout, mem->word_bytes, &b, err) < 0)
		return -1;
	for (; frame; last = frame, frame = previous) {
		struct pst_raw_frame f = { .frame = frame };
		bool is_python;

		if (frame == mark)
			return pst_error_set(err, PST_ERR_TORN, 0,
				"the frame at %#" PRIx64 " is its own caller", frame);
		if (++steps == next_mark) {
			mark = frame;
			next_mark *= 2;
		}
		if (steps > 2 * (uint64_t)PST_MAX_FRAMES || out->n == out->cap) {
			out->truncated = true;
			return 0;
		}
		if (read_frame(layout, mem, &b, &f, &previous, &is_python, err) < 0)
			return -1;
		if (is_python)
			out->v[out->n++] = f;
	}
	return check_end(layout, mem, thread, last, err);
}

static int newest(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t thread,
	pst_addr_t *frame, struct pst_error *err)
{
	return pst_mem_read_addr(mem, thread + (pst_addr_t)layout->off.thread_frame, frame, err);
}

int pst_frames_objects(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t thread,
	struct pst_raw_stack *out, struct pst_error *err)
{
	pst_addr_t frame;

	if (newest(layout, mem, thread, &frame, err) < 0)
		return -1;
	return walk(layout, mem, thread, frame, out, err);
}

int pst_frames_cframe(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t thread,
	struct pst_raw_stack *out, struct pst_error *err)
{
	pst_addr_t cframe, frame = 0;

	if (newest(layout, mem, thread, &cframe, err) < 0)
		return -1;
	cframe += cframe ? (pst_addr_t)layout->off.cframe_current_frame : 0;
	if (cframe && pst_mem_read_addr(mem, cframe, &frame, err) < 0)
		return -1;
	return walk(layout, mem, thread, frame, out, err);
}

int pst_frames_current(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t thread,
	struct pst_raw_stack *out, struct pst_error *err)
{
	return pst_frames_objects(layout, mem, thread, out, err);
}
