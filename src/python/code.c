/* Code objects -> functions and lines, cached by address.  An address is used again soon after its code
 * object is freed, so a cached one counts only as long as its print, the members that make its name and
 * lines, is the same. */
#define _GNU_SOURCE
#include "internal.h"

#include "pystill/hash.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CODES       65536u      /* then all are forgotten, and read again as they come */
#define MAX_TABLES      (32u << 20) /* bytes of line tables kept; as above */
#define MAX_TABLE       (16u << 20) /* of one function; more is no line table */
#define MAX_NAME        16384u      /* bytes of a name; longer ones are cut */
#define RECHECK_NS      (100 * PST_NSEC_PER_MSEC)
#define ALWAYS_CHECKED  4u /* newest frames, whose code comes and goes */
#define OWNER_GENERATOR 1

struct print {
	pst_addr_t type, filename, name, qualname, linetable;
	int32_t firstlineno;
};

struct code {
	pst_addr_t addr;
	struct print print;
	pst_func_id func;        /* 0: not known, or not any more */
	int32_t first_traceable; /* bytes; before it a frame is hidden (3.13+) */
	uint8_t *table;
	size_t table_len;
};

struct pst_code_cache {
	struct pst_hash by_addr;
	struct code *v; /* v[id - 1] */
	size_t n, cap, table_bytes;
};

struct pst_code_cache *pst_codes_new(void)
{
	return pst_xcalloc(1, sizeof(struct pst_code_cache));
}

static void forget_all(struct pst_code_cache *codes)
{
	for (size_t i = 0; i < codes->n; i++)
		free(codes->v[i].table);
	pst_hash_clear(&codes->by_addr);
	codes->n = codes->table_bytes = 0;
}

void pst_codes_free(struct pst_code_cache *codes)
{
	if (!codes)
		return;
	forget_all(codes);
	pst_hash_fini(&codes->by_addr);
	free(codes->v);
	free(codes);
}

static bool same_addr(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct pst_code_cache *)ctx)->v[id - 1].addr == *(const pst_addr_t *)key;
}

static struct code *find(const struct pst_code_cache *codes, pst_addr_t addr)
{
	const uint32_t id =
		pst_hash_find(&codes->by_addr, pst_hash_u64(addr), same_addr, codes, &addr);

	return id ? &codes->v[id - 1] : NULL;
}

/* The entry for ADDR, a new and empty one if need be. */
static struct code *enter(struct pst_code_cache *codes, pst_addr_t addr)
{
	struct code *code = find(codes, addr);

	if (code)
		return code;
	codes->v = pst_grow(codes->v, &codes->cap, codes->n + 1, sizeof(*codes->v));
	code = &codes->v[codes->n++];
	memset(code, 0, sizeof(*code));
	code->addr = addr;
	pst_hash_add(&codes->by_addr, pst_hash_u64(addr), (uint32_t)codes->n);
	return code;
}

/* ---- heads ---- */

static int32_t end_of(int32_t offset, unsigned size)
{
	return offset == PST_ABSENT ? 0 : offset + (int32_t)size;
}

size_t pst_code_head_size(const struct pst_layout *layout)
{
	const struct pst_offsets *o = &layout->off;
	const int32_t ends[] = { end_of(o->object_type, 8), end_of(o->code_filename, 8),
		end_of(o->code_name, 8), end_of(o->code_qualname, 8), end_of(o->code_linetable, 8),
		end_of(o->code_firstlineno, 4), end_of(o->code_firsttraceable, 4) };
	int32_t size = 0;

	for (size_t i = 0; i < PST_ARRAY_SIZE(ends); i++)
		if (ends[i] > size)
			size = ends[i];
	return (size_t)size;
}

static pst_addr_t word_in(const struct pst_mem *mem, const unsigned char *head, int32_t offset)
{
	return offset == PST_ABSENT ? 0 : pst_mem_word_at(mem, head + offset);
}

static struct print print_of(
	const struct pst_layout *layout, const struct pst_mem *mem, const unsigned char *head)
{
	const struct pst_offsets *o = &layout->off;
	struct print p = {
		.type = word_in(mem, head, o->object_type),
		.filename = word_in(mem, head, o->code_filename),
		.name = word_in(mem, head, o->code_name),
		.qualname = word_in(mem, head, o->code_qualname),
		.linetable = word_in(mem, head, o->code_linetable),
	};

	memcpy(&p.firstlineno, head + o->code_firstlineno, sizeof(p.firstlineno));
	return p;
}

static bool same_print(const struct print *a, const struct print *b)
{
	return a->type == b->type && a->filename == b->filename && a->name == b->name &&
		a->qualname == b->qualname && a->linetable == b->linetable &&
		a->firstlineno == b->firstlineno;
}

/* ---- reading, while the stack stands still ---- */

void pst_reading_init(struct pst_reading *r)
{
	memset(r, 0, sizeof(*r));
	r->stack.cap = PST_MAX_FRAMES;
	r->stack.v = pst_xmalloc(PST_MAX_FRAMES * sizeof(*r->stack.v));
	r->heads = pst_xmalloc(PST_MAX_HEADS * sizeof(*r->heads));
}

void pst_reading_fini(struct pst_reading *r)
{
	free(r->stack.v);
	free(r->heads);
	memset(r, 0, sizeof(*r));
}

static bool same_frame(const struct pst_raw_frame *a, const struct pst_raw_frame *b)
{
	return a->frame == b->frame && a->code == b->code && a->lasti == b->lasti &&
		a->owner == b->owner;
}

/* How many of the outermost frames are those of the last accepted stack? */
static uint32_t count_equal(const struct pst_raw_stack *now, const struct pst_raw_stack *last)
{
	const uint32_t most = now->n < last->n ? now->n : last->n;
	uint32_t n = 0;

	while (n < most && same_frame(&now->v[now->n - 1 - n], &last->v[last->n - 1 - n]))
		n++;
	return n;
}

static bool have_head(const struct pst_reading *r, pst_addr_t code)
{
	for (size_t i = 0; i < r->n_heads; i++)
		if (r->heads[i].addr == code)
			return true;
	return false;
}

/* The heads to be read are those of the newest frames, whose code comes and goes, and of all that were not on
 * the last stack.  More than there is room for are named later, with less certainty. */
static void choose_heads(const struct pst_pythread *t, struct pst_reading *r)
{
	r->n_new = r->stack.n - count_equal(&r->stack, &t->last);
	if (r->n_new < ALWAYS_CHECKED)
		r->n_new = r->stack.n < ALWAYS_CHECKED ? r->stack.n : ALWAYS_CHECKED;
	r->n_heads = 0;
	for (uint32_t i = 0; i < r->n_new && r->n_heads < PST_MAX_HEADS; i++) {
		const pst_addr_t addr = r->stack.v[i].code;

		if (i > 0 && addr == r->stack.v[i - 1].code)
			continue;
		if (!have_head(r, addr))
			r->heads[r->n_heads++] = (struct pst_code_head){ .addr = addr };
	}
}

/* Through the target's own memory, not the view: the objects lie scattered. */
static int read_heads(const struct pst_python *py, struct pst_reading *r, struct pst_error *err)
{
	const size_t size = pst_code_head_size(&py->layout);
	struct pst_range ranges[PST_MAX_HEADS];
	size_t done = 0;

	if (size > sizeof(r->heads[0].bytes))
		return pst_error_set(
			err, PST_ERR_UNSUPPORTED, 0, "code objects of %zu bytes", size);
	for (size_t i = 0; i < r->n_heads; i++)
		ranges[i] = (struct pst_range){ r->heads[i].addr, size, r->heads[i].bytes };
	while (done < r->n_heads) {
		const int got =
			pst_mem_readv(py->target->mem, ranges + done, r->n_heads - done, err);

		if (got < 0)
			return -1;
		for (size_t i = 0; i < (size_t)got; i++)
			r->heads[done + i].there = true;
		done += (size_t)got + 1; /* a code object that is not mapped: the stack is torn */
	}
	return 0;
}

int pst_python_read(const struct pst_python *py, const struct pst_pythread *t, struct pst_mem *mem,
	struct pst_reading *r, struct pst_error *err)
{
	if (py->layout.frames(&py->layout, mem, t->state, &r->stack, err) < 0 ||
		pst_thread_check(py, t, mem, err) < 0)
		return -1;
	choose_heads(t, r);
	return read_heads(py, r, err);
}

/* ---- names and lines, while the target runs ---- */

static int torn_code(pst_addr_t addr, struct pst_error *err)
{
	return pst_error_set(
		err, PST_ERR_TORN, 0, "the code object at %#" PRIx64 " was replaced", addr);
}

static int read_name(struct pst_python *py, pst_addr_t text, pst_name_id *id, struct pst_error *err)
{
	char buf[MAX_NAME];
	size_t len;

	if (py->layout.text(&py->layout, py->target->mem, text, buf, sizeof(buf), &len, err) < 0)
		return -1;
	*id = pst_names_string(py->names, buf, len);
	return 0;
}

static int read_table(
	struct pst_python *py, pst_addr_t table, struct code *code, struct pst_error *err)
{
	struct pst_mem *mem = py->target->mem;
	uint64_t len;

	if (pst_object_size(&py->layout, mem, table, MAX_TABLE, &len, err) < 0)
		return -1;
	code->table = pst_xreallocarray(code->table, len, 1);
	code->table_len = len;
	return pst_mem_read(
		mem, table + (pst_addr_t)py->layout.off.bytes_data, code->table, len, err);
}

/* Is what lies at ADDR still the code object with this print? */
static int check_print(
	struct pst_python *py, pst_addr_t addr, const struct print *print, struct pst_error *err)
{
	unsigned char head[sizeof(((struct pst_code_head *)NULL)->bytes)];
	struct print now;

	if (pst_mem_read(py->target->mem, addr, head, pst_code_head_size(&py->layout), err) < 0)
		return -1;
	now = print_of(&py->layout, py->target->mem, head);
	return same_print(&now, print) ? 0 : torn_code(addr, err);
}

/* Name the code object at ADDR, whose print was copied together with the stack. */
static int name_code(
	struct pst_python *py, struct code *code, const struct print *print, struct pst_error *err)
{
	const pst_addr_t name = print->qualname ? print->qualname : print->name;
	struct pst_func func = { .line = print->firstlineno };
	bool is_code;

	code->func = 0;
	if (pst_object_is(&py->layout, py->target->mem, code->addr, "code", &is_code, err) < 0)
		return -1;
	if (!is_code)
		return torn_code(code->addr, err);
	if (read_name(py, name, &func.name, err) < 0 ||
		read_name(py, print->filename, &func.file, err) < 0 ||
		read_table(py, print->linetable, code, err) < 0 ||
		check_print(py, code->addr, print, err) < 0)
		return -1;
	code->print = *print;
	code->func = pst_names_func(py->names, &func);
	return 0;
}

/* Take a head that was copied with the stack: name its code object, unless that is known already. */
static int take_head(struct pst_python *py, const struct pst_code_head *head, struct pst_error *err)
{
	const struct print print = print_of(&py->layout, py->target->mem, head->bytes);
	struct code *code;
	int result;

	if (!head->there)
		return torn_code(head->addr, err);
	code = enter(py->codes, head->addr);
	if (code->func && same_print(&code->print, &print))
		return 0;
	py->codes->table_bytes -= code->table_len;
	code->table_len = 0;
	result = name_code(py, code, &print, err);
	py->codes->table_bytes += code->table_len;
	if (py->layout.off.code_firsttraceable != PST_ABSENT)
		memcpy(&code->first_traceable, head->bytes + py->layout.off.code_firsttraceable,
			sizeof(code->first_traceable));
	return result;
}

/* The code at ADDR, which is read now if its head was not copied with the stack. */
static const struct code *need_code(struct pst_python *py, pst_addr_t addr, struct pst_error *err)
{
	const struct code *code = find(py->codes, addr);
	struct pst_code_head head = { .addr = addr, .there = true };

	if (code && code->func)
		return code;
	if (pst_mem_read(py->target->mem, addr, head.bytes, pst_code_head_size(&py->layout), err) <
			0 ||
		take_head(py, &head, err) < 0)
		return NULL;
	return find(py->codes, addr);
}

/* A frame that has not reached its first traceable instruction is not shown by the interpreter either
 * (_PyFrame_IsIncomplete() in pycore_frame.h). */
static bool is_hidden(
	const struct pst_layout *layout, const struct pst_raw_frame *f, const struct code *code)
{
	return layout->off.code_firsttraceable != PST_ABSENT && f->owner != OWNER_GENERATOR &&
		f->lasti < 2 * (int64_t)code->first_traceable;
}

static int resolve_frame(struct pst_python *py, const struct pst_raw_frame *f,
	struct pst_frame *out, struct pst_error *err)
{
	const struct code *code = need_code(py, f->code, err);

	if (!code)
		return -1;
	*out = (struct pst_frame){ 0 };
	if (!is_hidden(&py->layout, f, code))
		*out = (struct pst_frame){ code->func,
			py->layout.lines(
				code->table, code->table_len, code->print.firstlineno, f->lasti) };
	return 0;
}

/* Now and then check the codes of the frames that are taken as they were: a frame holds its code, so a change
 * means that the frame is another one after all. */
static int recheck(struct pst_python *py, struct pst_pythread *t, const struct pst_reading *r,
	struct pst_error *err)
{
	const int64_t now_ns = pst_now_ns();
	pst_addr_t previous = 0;

	if (now_ns - t->checked_ns < RECHECK_NS)
		return 0;
	for (uint32_t i = r->n_new; i < r->stack.n; i++) {
		struct code *code = find(py->codes, r->stack.v[i].code);

		if (!code || !code->func || code->addr == previous)
			continue;
		previous = code->addr;
		if (check_print(py, code->addr, &code->print, err) < 0) {
			code->func = 0;
			return -1;
		}
	}
	t->checked_ns = now_ns;
	return 0;
}

/* The reading becomes the last accepted stack.  Its new frames were resolved to RESOLVED, its equal ones move
 * along in last_frames. */
static void keep_last(struct pst_python *py, struct pst_pythread *t, const struct pst_reading *r,
	const struct pst_frame *resolved)
{
	const uint32_t n = r->stack.n, n_equal = n - r->n_new, old = t->last.n;
	size_t cap = t->last.cap, frames_cap = cap;

	t->last.v = pst_grow(t->last.v, &cap, n, sizeof(*t->last.v));
	t->last_frames = pst_grow(t->last_frames, &frames_cap, n, sizeof(*t->last_frames));
	t->last.cap = (uint32_t)cap;
	if (n_equal)
		memmove(t->last_frames + r->n_new, t->last_frames + old - n_equal,
			n_equal * sizeof(*t->last_frames));
	t->last.n = n;
	t->last.truncated = r->stack.truncated;
	t->rested = false;
	t->serial = ++py->serial;
	if (!n)
		return;
	memcpy(t->last_frames, resolved, r->n_new * sizeof(*resolved));
	memcpy(t->last.v, r->stack.v, n * sizeof(*t->last.v));
}

static int resolve_new(struct pst_python *py, struct pst_pythread *t, const struct pst_reading *r,
	struct pst_frame *resolved, struct pst_error *err)
{
	for (size_t i = 0; i < r->n_heads; i++)
		if (take_head(py, &r->heads[i], err) < 0)
			return -1;
	for (uint32_t i = 0; i < r->n_new; i++)
		if (resolve_frame(py, &r->stack.v[i], &resolved[i], err) < 0)
			return -1;
	return recheck(py, t, r, err);
}

void pst_python_repeat(const struct pst_pythread *t, struct pst_frame *frames, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < t->last.n; i++)
		if (t->last_frames[i].func)
			frames[(*n)++] = t->last_frames[i];
}

int pst_python_resolve(struct pst_python *py, struct pst_pythread *t, const struct pst_reading *r,
	struct pst_frame *frames, uint32_t *n, struct pst_error *err)
{
	*n = 0;
	if (resolve_new(py, t, r, frames, err) < 0) {
		t->last.n = 0;
		t->rested = false;
		return -1;
	}
	keep_last(py, t, r, frames);
	pst_python_repeat(t, frames, n);
	if (py->codes->n > MAX_CODES || py->codes->table_bytes > MAX_TABLES)
		forget_all(py->codes);
	return 0;
}
