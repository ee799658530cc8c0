/* Objects as the versions lay them out. */
#include "objects.h"

#include "unit.h"

#include <string.h>

static pst_addr_t plus(pst_addr_t base, int32_t offset)
{
	MUST(offset != PST_ABSENT);
	return base + (pst_addr_t)offset;
}

/* Write where the version has such a member. */
static void put_word(struct objects *o, pst_addr_t base, int32_t offset, pst_addr_t value)
{
	if (offset != PST_ABSENT)
		image_put_word(&o->image, plus(base, offset), value);
}

static void put_int(struct objects *o, pst_addr_t base, int32_t offset, int32_t value)
{
	if (offset != PST_ABSENT)
		image_put_int(&o->image, plus(base, offset), value);
}

static size_t end_of(const int32_t *offsets, size_t n, unsigned size)
{
	int32_t end = 0;

	for (size_t i = 0; i < n; i++)
		if (offsets[i] + (int32_t)size > end)
			end = offsets[i] + (int32_t)size;
	return (size_t)end;
}

void objects_init(struct objects *o, uint32_t version)
{
	memset(o, 0, sizeof(*o));
	image_init(&o->image, 8);
	o->layout = layouts_resolve(&o->image, version);
	o->unit = version >> 16 == PST_PY(3, 10, 0) >> 16 ? 2 : 1;
	o->type_bytes = objects_type(o, "bytes", FLAG_BYTES);
	o->type_str = objects_type(o, "str", FLAG_STR);
	o->type_code = objects_type(o, "code", 0);
	o->type_none = objects_type(o, "NoneType", 0);
	image_forget(&o->image);
}

void objects_fini(struct objects *o)
{
	image_fini(&o->image);
}

pst_addr_t objects_type(struct objects *o, const char *name, uint64_t flags)
{
	const int32_t members[] = { o->layout.off.type_name, o->layout.off.type_flags };
	const pst_addr_t type = image_alloc(&o->image, end_of(members, 2, 8));

	put_word(o, type, o->layout.off.type_name, image_string(&o->image, name));
	put_word(o, type, o->layout.off.type_flags, flags);
	return type;
}

pst_addr_t objects_plain(struct objects *o, pst_addr_t type, size_t size)
{
	const pst_addr_t at = image_alloc(&o->image, size);

	put_word(o, at, o->layout.off.object_type, type);
	return at;
}

static size_t text_offset(const struct objects *o, enum storage storage)
{
	const struct pst_offsets *off = &o->layout.off;

	return (size_t)(storage == STORED_ASCII   ? off->str_ascii
			: storage == STORED_APART ? off->str_data + 8
						  : off->str_compact);
}

pst_addr_t objects_str(
	struct objects *o, enum storage storage, unsigned kind, const void *units, size_t length)
{
	const size_t head = text_offset(o, storage), size = length * kind;
	const bool apart = storage == STORED_APART;
	const pst_addr_t at = objects_plain(o, o->type_str, apart ? head : head + size + kind);
	const pst_addr_t text = apart ? image_alloc(&o->image, size + kind) : at + head;

	put_word(o, at, o->layout.off.str_length, length);
	put_int(o, at, o->layout.off.str_state,
		(int32_t)(kind << 2 | (apart ? 0 : 1u << 5) |
			(storage == STORED_ASCII ? 1u << 6 : 0)));
	if (apart)
		put_word(o, at, o->layout.off.str_data, text);
	image_put(&o->image, text, units, size);
	return at;
}

pst_addr_t objects_bytes(struct objects *o, const void *bytes, size_t size)
{
	const size_t head = (size_t)o->layout.off.bytes_data;
	const pst_addr_t at = objects_plain(o, o->type_bytes, head + size + 1);

	put_word(o, at, o->layout.off.bytes_size, size);
	image_put(&o->image, at + head, bytes, size);
	return at;
}

pst_addr_t objects_name(struct objects *o, const char *text)
{
	if (o->layout.off.str_length == PST_ABSENT)
		return objects_bytes(o, text, strlen(text));
	return objects_str(o, STORED_ASCII, 1, text, strlen(text));
}

void objects_code_put(struct objects *o, pst_addr_t code, const struct code_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;

	put_word(o, code, off->object_type, o->type_code);
	put_word(o, code, off->code_filename, objects_name(o, spec->file));
	put_word(o, code, off->code_name, objects_name(o, spec->name));
	if (off->code_qualname != PST_ABSENT)
		put_word(o, code, off->code_qualname, objects_name(o, spec->qualname));
	put_word(o, code, off->code_linetable, objects_bytes(o, spec->table, spec->table_len));
	put_int(o, code, off->code_firstlineno, spec->firstlineno);
	put_int(o, code, off->code_firsttraceable, spec->firsttraceable);
}

/* The bytecode itself is never read: the block ends before it. */
pst_addr_t objects_code(struct objects *o, const struct code_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;
	const int32_t members[] = { off->object_type, off->code_filename, off->code_name,
		off->code_qualname, off->code_linetable, off->code_firstlineno,
		off->code_firsttraceable };
	const pst_addr_t code = image_alloc(&o->image, end_of(members, PST_ARRAY_SIZE(members), 8));

	objects_code_put(o, code, spec);
	return code;
}

size_t objects_frame_size(const struct objects *o)
{
	const struct pst_offsets *off = &o->layout.off;
	const int32_t words[] = { off->frame_previous, off->frame_code, off->frame_lasti };
	const size_t end = end_of(words, 3, o->image.mem.word_bytes),
		     with_owner = (size_t)(off->frame_owner + 1);

	return end > with_owner ? end : with_owner;
}

/* Heap frames count units of bytecode; later ones point into it. */
static void put_lasti(struct objects *o, pst_addr_t frame, const struct frame_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;

	if (off->code_bytecode == PST_ABSENT)
		put_int(o, frame, off->frame_lasti,
			spec->lasti < 0 ? spec->lasti : spec->lasti / o->unit);
	else
		put_word(o, frame, off->frame_lasti,
			spec->code + (pst_addr_t)off->code_bytecode +
				(pst_addr_t)(int64_t)spec->lasti);
}

void objects_frame_put(struct objects *o, pst_addr_t frame, const struct frame_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;

	put_word(o, frame, off->frame_previous, spec->previous);
	put_word(o, frame, off->frame_code, spec->code | spec->tag);
	put_lasti(o, frame, spec);
	if (off->frame_owner != PST_ABSENT)
		image_put_byte(&o->image, plus(frame, off->frame_owner), spec->owner);
}

pst_addr_t objects_frame(struct objects *o, const struct frame_spec *spec)
{
	const pst_addr_t frame = image_alloc(&o->image, objects_frame_size(o));

	objects_frame_put(o, frame, spec);
	return frame;
}

/* 3.11 and 3.12 keep the newest frame behind one more pointer. */
static pst_addr_t make_cframe(struct objects *o, pst_addr_t frame)
{
	const int32_t at = o->layout.off.cframe_current_frame;
	const pst_addr_t cframe = image_alloc(&o->image, (size_t)at + 8);

	put_word(o, cframe, at, frame);
	return cframe;
}

void objects_thread_put(struct objects *o, pst_addr_t thread, pst_addr_t frame)
{
	put_word(o, thread, o->layout.off.thread_frame,
		o->layout.off.cframe_current_frame == PST_ABSENT ? frame : make_cframe(o, frame));
}

pst_addr_t objects_thread(struct objects *o, pst_addr_t frame)
{
	const struct pst_offsets *off = &o->layout.off;
	const int32_t members[] = { off->thread_frame, off->thread_base_frame, off->thread_prev,
		off->thread_next, off->thread_interp, off->thread_thread_id,
		off->thread_native_thread_id };
	const pst_addr_t thread =
		image_alloc(&o->image, end_of(members, PST_ARRAY_SIZE(members), 8));

	objects_thread_put(o, thread, frame);
	return thread;
}
