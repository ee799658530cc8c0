/* Objects as the versions lay them out. */
#include "objects.h"

#include "unit.h"

#include <string.h>

static pst_addr_t plus(pst_addr_t base, int32_t offset)
{
	MUST(offset != PST_ABSENT);
	return base + (pst_addr_t)offset;
}

void objects_put(struct objects *o, pst_addr_t base, int32_t offset, pst_addr_t value)
{
	if (offset != PST_ABSENT)
		image_put_word(&o->image, plus(base, offset), value);
}

void objects_put_int(struct objects *o, pst_addr_t base, int32_t offset, int32_t value)
{
	if (offset != PST_ABSENT)
		image_put_int(&o->image, plus(base, offset), value);
}

/* Py_ssize_t came with 2.5 (PEP 353); before it was an int. */
void objects_put_size(struct objects *o, pst_addr_t base, int32_t offset, uint64_t value)
{
	if (o->version < PST_PY(2, 5, 0))
		objects_put_int(o, base, offset, (int32_t)value);
	else
		objects_put(o, base, offset, value);
}

static size_t end_of(const int32_t *offsets, size_t n, unsigned size)
{
	int32_t end = 0;

	for (size_t i = 0; i < n; i++)
		if (offsets[i] + (int32_t)size > end)
			end = offsets[i] + (int32_t)size;
	return (size_t)end;
}

static void make_types(struct objects *o)
{
	const bool v3 = o->version >= PST_PY(3, 0, 0);

	o->type_bytes = objects_type(o, v3 ? "bytes" : "str", FLAG_BYTES);
	o->type_str = objects_type(o, v3 ? "str" : "unicode", FLAG_STR);
	o->type_code = objects_type(o, "code", 0);
	o->type_none = objects_type(o, "NoneType", 0);
	image_forget(&o->image);
}

static void begin(struct objects *o, uint32_t version)
{
	memset(o, 0, sizeof(*o));
	image_init(&o->image, 8);
	o->version = version;
	o->unit = version >> 16 == PST_PY(3, 10, 0) >> 16 ? 2 : 1;
	o->kind_bit = 2;
}

void objects_init(struct objects *o, uint32_t version)
{
	begin(o, version);
	o->layout = layouts_resolve(&o->image, version);
	make_types(o);
}

/* Without the GIL `interned` has a byte to itself (3.14+). */
void objects_init_flavour(struct objects *o, uint32_t version, enum pst_flavour flavour)
{
	begin(o, version);
	if (flavour == PST_FREE_THREADED && version >= PST_PY(3, 14, 0))
		o->kind_bit = 8;
	o->layout = layouts_fixed(layouts_row_of(version, flavour));
	make_types(o);
}

void objects_fini(struct objects *o)
{
	image_fini(&o->image);
}

pst_addr_t objects_type(struct objects *o, const char *name, uint64_t flags)
{
	const struct pst_offsets *off = &o->layout.off;
	const int32_t members[] = { off->type_name, off->type_flags, off->type_basicsize,
		off->type_itemsize, off->type_dictoffset, off->type_cached_keys };
	const pst_addr_t type = image_alloc(&o->image, end_of(members, PST_ARRAY_SIZE(members), 8));

	objects_put(o, type, o->layout.off.type_name, image_string(&o->image, name));
	objects_put(o, type, o->layout.off.type_flags, flags);
	return type;
}

pst_addr_t objects_plain(struct objects *o, pst_addr_t type, size_t size)
{
	const pst_addr_t at = image_alloc(&o->image, size);

	objects_put(o, at, o->layout.off.object_type, type);
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

	objects_put(o, at, o->layout.off.str_length, length);
	objects_put_int(o, at, o->layout.off.str_state,
		(int32_t)((kind | (apart ? 0 : 1u << 3) | (storage == STORED_ASCII ? 1u << 4 : 0))
			<< o->kind_bit));
	if (apart)
		objects_put(o, at, o->layout.off.str_data, text);
	image_put(&o->image, text, units, size);
	return at;
}

pst_addr_t objects_ustr(struct objects *o, unsigned width, const void *units, size_t length)
{
	const struct pst_offsets *off = &o->layout.off;
	const int32_t members[] = { off->ustr_length, off->ustr_data };
	const pst_addr_t at = objects_plain(o, o->type_str, end_of(members, 2, 8)),
			 text = image_alloc(&o->image, (length + 1) * width);

	objects_put_size(o, at, off->ustr_length, length);
	objects_put(o, at, off->ustr_data, text);
	image_put(&o->image, text, units, length * width);
	return at;
}

/* Most builds are wide. */
static pst_addr_t make_ustr_name(struct objects *o, const char *text)
{
	const size_t len = strlen(text);
	cleanup_free uint32_t *units = pst_xcalloc(len + 1, sizeof(*units));

	for (size_t i = 0; i < len; i++)
		units[i] = (unsigned char)text[i];
	return objects_ustr(o, 4, units, len);
}

pst_addr_t objects_bytes(struct objects *o, const void *bytes, size_t size)
{
	const size_t head = (size_t)o->layout.off.bytes_data;
	const pst_addr_t at = objects_plain(o, o->type_bytes, head + size + 1);

	objects_put_size(o, at, o->layout.off.object_size, size);
	image_put(&o->image, at + head, bytes, size);
	return at;
}

pst_addr_t objects_name(struct objects *o, const char *text)
{
	if (o->version < PST_PY(3, 0, 0))
		return objects_bytes(o, text, strlen(text));
	if (o->version < PST_PY(3, 3, 0))
		return make_ustr_name(o, text);
	return objects_str(o, STORED_ASCII, 1, text, strlen(text));
}

static pst_addr_t make_number(struct objects *o, const char *name, unsigned item_bytes, size_t size)
{
	const pst_addr_t type = objects_type(o, name, 0);

	objects_put_int(o, type, o->layout.off.type_itemsize, (int32_t)item_bytes);
	return objects_plain(o, type, size);
}

/* lv_tag of 3.12+: the sign in two bits, one bit of other use, the number of digits. */
static void put_digit_count(struct objects *o, pst_addr_t at, bool negative, uint64_t n)
{
	const uint64_t sign = n == 0 ? 1 : negative ? 2 : 0;

	if (o->version >= PST_PY(3, 12, 0))
		objects_put(o, at, o->layout.off.long_tag, n << 3 | sign);
	else
		objects_put_size(o, at, o->layout.off.object_size, negative ? 0 - n : n);
}

pst_addr_t objects_long(
	struct objects *o, const char *type, unsigned bits, bool negative, uint64_t value)
{
	const unsigned bytes = bits == 15 ? 2 : 4;
	const size_t head = (size_t)o->layout.off.long_digits;
	const pst_addr_t at = make_number(o, type, bytes, head + 5 * bytes);
	uint64_t n = 0;

	for (; value; value >>= bits, n++) {
		const uint32_t digit = (uint32_t)(value & ((1u << bits) - 1));

		image_put(&o->image, at + head + n * bytes, &digit, bytes);
	}
	put_digit_count(o, at, negative, n);
	return at;
}

pst_addr_t objects_int(struct objects *o, int64_t value)
{
	const int32_t offset = o->layout.off.int_value;
	pst_addr_t at;

	if (o->version >= PST_PY(3, 0, 0))
		return objects_long(
			o, "int", 30, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
	at = make_number(o, "int", 0, (size_t)offset + 8);
	objects_put(o, at, offset, (pst_addr_t)value);
	return at;
}

void objects_code_put(struct objects *o, pst_addr_t code, const struct code_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;

	objects_put(o, code, off->object_type, o->type_code);
	objects_put(o, code, off->code_filename, objects_name(o, spec->file));
	objects_put(o, code, off->code_name, objects_name(o, spec->name));
	if (off->code_qualname != PST_ABSENT)
		objects_put(o, code, off->code_qualname, objects_name(o, spec->qualname));
	objects_put(o, code, off->code_linetable, objects_bytes(o, spec->table, spec->table_len));
	objects_put_int(o, code, off->code_firstlineno, spec->firstlineno);
	objects_put_int(o, code, off->code_firsttraceable, spec->firsttraceable);
}

/* The bytecode itself is never read: the block ends before it. */
pst_addr_t objects_code(struct objects *o, const struct code_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;
	const int32_t members[] = { off->object_type, off->code_filename, off->code_name,
		off->code_qualname, off->code_linetable, off->code_firstlineno,
		off->code_firsttraceable, off->code_tlbc };
	const pst_addr_t code = image_alloc(&o->image, end_of(members, PST_ARRAY_SIZE(members), 8));

	objects_code_put(o, code, spec);
	return code;
}

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

size_t objects_frame_size(const struct objects *o)
{
	const struct pst_offsets *off = &o->layout.off;
	const int32_t words[] = { off->frame_previous, off->frame_code, off->frame_lasti };
	const size_t end = end_of(words, 3, o->image.mem.word_bytes),
		     tlbc_end = (size_t)(off->frame_tlbc_index == PST_ABSENT
				     ? 0
				     : off->frame_tlbc_index + 4),
		     with_owner = (size_t)(off->frame_owner + 1);

	return max_size(max_size(end, tlbc_end), with_owner);
}

/* Heap frames count units of bytecode; later ones point into it. */
static void put_lasti(struct objects *o, pst_addr_t frame, const struct frame_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;

	if (off->code_bytecode == PST_ABSENT)
		objects_put_int(o, frame, off->frame_lasti,
			spec->lasti < 0 ? spec->lasti : spec->lasti / o->unit);
	else
		objects_put(o, frame, off->frame_lasti,
			spec->code + (pst_addr_t)off->code_bytecode +
				(pst_addr_t)(int64_t)spec->lasti);
}

void objects_frame_put(struct objects *o, pst_addr_t frame, const struct frame_spec *spec)
{
	const struct pst_offsets *off = &o->layout.off;

	objects_put(o, frame, off->frame_previous, spec->previous);
	objects_put(o, frame, off->frame_code, spec->code | spec->tag);
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

	objects_put(o, cframe, at, frame);
	return cframe;
}

void objects_thread_put(struct objects *o, pst_addr_t thread, pst_addr_t frame)
{
	objects_put(o, thread, o->layout.off.thread_frame,
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
