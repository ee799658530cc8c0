/* What differs between Python versions: the offsets schema, the rows, and the functions that a row names.
 * A row says where things lie; resolving it (once, at attach) gives a layout, and after that no code can
 * tell one version from another.  Sources: each version's own headers or DWARF, by utils/gen-abi. */
#ifndef PYSTILL_ABI_H
#define PYSTILL_ABI_H

#include "pystill/error.h"
#include "pystill/mem.h"

/* The members that we read, as (group, member).  The list makes the row's places, the resolved offsets,
 * and the names in messages and tests.
 *   runtime  _PyRuntimeState; gil_* only where the one GIL lies in it
 *   interp   PyInterpreterState
 *   gil      struct _gil_runtime_state; `enabled` in free-threaded builds only
 *   thread   PyThreadState; `frame` is the newest frame, or the cframe that points to it
 *   cframe   _PyCFrame
 *   frame    PyFrameObject or _PyInterpreterFrame; `lasti` is f_lasti, prev_instr or instr_ptr
 *            `tlbc_index` says which copy of the bytecode it runs (free-threaded 3.14+)
 *   code     PyCodeObject; `bytecode` is co_code_adaptive, inside the object
 *   object   PyObject; `size` is ob_size of those that have one
 *   str      the str of 3.3+; `ascii` and `compact` are the places of the text behind the head
 *   ustr     the unicode of 2.x, which is the str of 3.0-3.2
 *   int      PyIntObject, the int of 2.x
 *   long     PyLongObject; `tag` is lv_tag, 3.12+
 *   dict     PyDictObject: mask and table to 3.2, then keys and values
 *   keys     PyDictKeysObject; `entries` is dk_entries, or dk_indices with the entries behind
 *   values   PyDictValues
 *   gen      PyGenObject; `frame` points to its frame, or from 3.11 on is the frame; `state` is gi_frame_state
 *            (3.11+), `running` gi_running (to 3.9); in between frame.state, f_state, tells
 */
#define PST_OFFSETS(F)                \
	F(runtime, interpreters_head) \
	F(runtime, gil_last_holder)   \
	F(runtime, gil_locked)        \
	F(runtime, gil_switch_number) \
	F(interp, next)               \
	F(interp, threads_head)       \
	F(interp, id)                 \
	F(interp, modules)            \
	F(interp, gil)                \
	F(gil, last_holder)           \
	F(gil, locked)                \
	F(gil, switch_number)         \
	F(gil, enabled)               \
	F(thread, prev)               \
	F(thread, next)               \
	F(thread, interp)             \
	F(thread, frame)              \
	F(thread, thread_id)          \
	F(thread, native_thread_id)   \
	F(thread, base_frame)         \
	F(thread, state)              \
	F(cframe, current_frame)      \
	F(frame, previous)            \
	F(frame, code)                \
	F(frame, lasti)               \
	F(frame, owner)               \
	F(frame, tlbc_index)          \
	F(code, filename)             \
	F(code, name)                 \
	F(code, qualname)             \
	F(code, firstlineno)          \
	F(code, linetable)            \
	F(code, bytecode)             \
	F(code, firsttraceable)       \
	F(code, tlbc)                 \
	F(object, type)               \
	F(object, size)               \
	F(type, name)                 \
	F(type, flags)                \
	F(type, basicsize)            \
	F(type, itemsize)             \
	F(type, dictoffset)           \
	F(type, cached_keys)          \
	F(bytes, data)                \
	F(str, length)                \
	F(str, state)                 \
	F(str, ascii)                 \
	F(str, compact)               \
	F(str, data)                  \
	F(ustr, length)               \
	F(ustr, data)                 \
	F(int, value)                 \
	F(long, tag)                  \
	F(long, digits)               \
	F(module, dict)               \
	F(dict, mask)                 \
	F(dict, table)                \
	F(dict, keys)                 \
	F(dict, values)               \
	F(keys, size)                 \
	F(keys, log2_index_bytes)     \
	F(keys, kind)                 \
	F(keys, nentries)             \
	F(keys, entries)              \
	F(values, valid)              \
	F(values, first)              \
	F(gen, frame)                 \
	F(gen, state)                 \
	F(gen, running)               \
	F(frame, state)

/* Where a row says a member is: at a fixed offset (PST_AT); or at the offset that the process itself publishes
 * at place SLOT of its _Py_DebugOffsets, which is N as far as the tables know (PST_SLOT).  Left out is absent,
 * never offset zero: both are stored plus one. */
struct pst_place {
	uint32_t at, slot;
};
/* clang-format off */
#define PST_AT(n)          { (n) + 1u, 0 }
#define PST_SLOT(slot, n)  { (n) + 1u, (slot) + 1u }
/* clang-format on */

struct pst_places {
#define F(group, member) struct pst_place group##_##member;
	PST_OFFSETS(F)
#undef F
};

/* Offsets in bytes; PST_ABSENT where the version has no such member. */
#define PST_ABSENT (-1)
struct pst_offsets {
#define F(group, member) int32_t group##_##member;
	PST_OFFSETS(F)
#undef F
};

enum pst_flavour { PST_RELEASE, PST_DEBUG, PST_FREE_THREADED };

/* PY_VERSION_HEX of the first pre-release of a micro version. */
#define PST_PY(major, minor, micro) \
	((uint32_t)(major) << 24 | (uint32_t)(minor) << 16 | (uint32_t)(micro) << 8)

struct pst_layout;

/* ---- what a version does, besides where it keeps things ---- */

/* One frame as it lies in the target. */
struct pst_raw_frame {
	pst_addr_t frame, code;
	int32_t lasti; /* bytes from the start of the bytecode; negative: not begun */
	uint8_t owner; /* 3.11+: who holds the frame; 1 is a generator (_frameowner) */
};

#define PST_MAX_FRAMES 65536u

/* One thread's frames, leaf first; V has room for CAP (PST_MAX_FRAMES at the most). */
struct pst_raw_stack {
	struct pst_raw_frame *v;
	uint32_t n, cap;
	bool truncated; /* there were more: the newest are here */
};

/* Walk the frames of the thread state THREAD into OUT, through MEM.  The target must be stopped or what was
 * read must be proved unchanged afterwards.  Does not allocate.  Returns 0, or -1 with ERR set: TORN when
 * the chain makes no sense, else what reading said. */
typedef int (*pst_frames_fn)(const struct pst_layout *layout, struct pst_mem *mem,
	pst_addr_t thread, struct pst_raw_stack *out, struct pst_error *err);

/* The line of the instruction at LASTI, from LEN bytes of line table and the code's FIRST line.  Returns 0;
 * *LINE is 0 where the table says that there is none, or breaks off. */
typedef int32_t (*pst_lines_fn)(const uint8_t *table, size_t len, int32_t first, int32_t lasti);

/* The text object at ADDR as UTF-8, at most CAP bytes (longer text is cut).  Returns 0 and *LEN, or -1 with
 * ERR set (TORN: no text object). */
typedef int (*pst_text_fn)(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	char *buf, size_t cap, size_t *len, struct pst_error *err);

/* What discovery found of the image: addresses in the target, 0 where there is no such symbol. */
struct pst_roots {
	pst_addr_t runtime;                                        /* _PyRuntime */
	pst_addr_t interp_head;                                    /* interp_head */
	pst_addr_t thread_current;                                 /* _PyThreadState_Current */
	pst_addr_t gil_last_holder, gil_locked, gil_switch_number; /* statics of ceval_gil.h */
	pst_addr_t unicode_ucs2,
		unicode_ucs4; /* a function of the C API, renamed by width to 3.2 */
};

/* The words that say who holds a GIL: addresses, 0 where the version has none.  CURRENT names the holder,
 * or is 0 when there is none; without it LOCKED (int) and LAST_HOLDER do.  SWITCHES counts the changes of
 * LAST_HOLDER.  Where ENABLED (int) is 0 there is no GIL (free-threaded builds). */
struct pst_gil_words {
	pst_addr_t current, last_holder, locked, switches, enabled;
};

/* Find the words of the GIL that INTERP uses.  The target may run. */
typedef int (*pst_gil_fn)(const struct pst_layout *layout, const struct pst_roots *roots,
	struct pst_mem *mem, pst_addr_t interp, struct pst_gil_words *out, struct pst_error *err);

/* What a visitor of a dict is given; it returns true to end the visit. */
typedef bool (*pst_entry_fn)(void *ctx, pst_addr_t key, pst_addr_t value);

/* Visit the entries of the dict at ADDR, in no order.  The target may run: entries may be missed.  Returns 1 when
 * the visitor ended it, 0 at the end, or -1 with ERR set (TORN: no dict). */
typedef int (*pst_dict_fn)(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	pst_entry_fn visit, void *ctx, struct pst_error *err);

/* The same for the attributes that the instance at ADDR has of its own. */
typedef pst_dict_fn pst_attr_fn;

/* ---- rows ---- */

struct pst_abi {
	const char *name;      /* as --abi takes it: "27", "311" */
	uint32_t first, until; /* versions served: PY_VERSION_HEX from FIRST up to below UNTIL */
	enum pst_flavour flavour;
	uint8_t word_bits;
	uint16_t machine;           /* EM_X86_64 ... */
	const struct pst_abi *base; /* what this row leaves out is there */
	unsigned lasti_unit;        /* bytes a unit of f_lasti */
	unsigned size_bytes;        /* of ob_size and the like; 0: a word */
	/* 3.3+: where in str's state word `kind` begins; `compact` and `ascii` follow it. */
	unsigned str_kind_bit;
	/* 3.10+: values of a generator's state; between them it is suspended, above the second ended. */
	int8_t gen_created, gen_executing;
	pst_frames_fn frames;
	pst_lines_fn lines;
	pst_text_fn text;
	pst_gil_fn gil;
	pst_dict_fn dict;
	pst_attr_fn attr;
	struct pst_places at;
};

/* A row resolved for one process. */
struct pst_layout {
	const struct pst_abi *row;
	struct pst_offsets off;
	unsigned lasti_unit, size_bytes, str_kind_bit;
	int8_t gen_created, gen_executing;
	unsigned unicode_bytes; /* of a unit of ustr: 2 or 4; 0 where it is not known */
	bool published;         /* offsets came from the process */
	pst_frames_fn frames;
	pst_lines_fn lines;
	pst_text_fn text;
	pst_gil_fn gil;
	pst_dict_fn dict;
	pst_attr_fn attr;
};

/* The rows of each minor version, ascending, with NULL behind the last.  The first row of a version is the whole
 * release build; of rows that serve the same interpreter the last wins.  An array ends with a row without name. */
extern const struct pst_abi *const pst_abi_table[];
#define PST_FOR_EACH_ABI(row)                                                        \
	for (const struct pst_abi *const *minor_ = pst_abi_table; *minor_; minor_++) \
		for (const struct pst_abi *row = *minor_; row->name; row++)

/* What is known of an interpreter before a row is chosen. */
struct pst_abi_key {
	uint32_t version; /* PY_VERSION_HEX */
	enum pst_flavour flavour;
	unsigned word_bits;
	unsigned machine;
};

/* The row that serves KEY.  For a version newer than all rows the newest, and *NEWER is set.  NULL when
 * there is none. */
const struct pst_abi *pst_abi_find(const struct pst_abi_key *key, bool *newer);

/* The row that --abi NAME means for this machine, width and flavour, or NULL.  With KEY's version inside the row of
 * that name, the micro version still decides. */
const struct pst_abi *pst_abi_by_name(const char *name, const struct pst_abi_key *key);

/* Turn ROW into a layout.  With PUBLISHED, members that the process publishes are read from its _PyRuntime (in
 * ROOTS); without, the row's own numbers are taken.  Returns 0, or -1 with ERR set: UNSUPPORTED when a published
 * value is out of bounds. */
int pst_abi_resolve(const struct pst_abi *row, struct pst_mem *mem, const struct pst_roots *roots,
	bool published, struct pst_layout *out, struct pst_error *err);

/* Does the row, or its base, have members that processes publish? */
bool pst_abi_has_slots(const struct pst_abi *row);

/* The word whose value is the first interpreter, given what discovery found; 0 if it found too little. */
pst_addr_t pst_abi_head_word(const struct pst_layout *layout, const struct pst_roots *roots);

/* "3.11.7" or "3.15.0rc1", from PY_VERSION_HEX, and back from text that begins so ("3.11.2+ (main ...").
 * pst_abi_version_parse() returns 0 when it is no version that we could know. */
void pst_abi_version_text(uint32_t version, char buf[24]);
uint32_t pst_abi_version_parse(const char *text);

/* The version in the text that Py_GetVersion() leaves in an image's memory ("3.9.2 (default, ...) \n[GCC
 * ...]"), searched in LEN bytes; 0 when it is not there. */
uint32_t pst_abi_version_search(const char *bytes, size_t len);

/* The self-description of 3.13 and later: _Py_DebugOffsets, at the start of _PyRuntime. */
#define PST_COOKIE "xdebugpy"
struct pst_self_description {
	char cookie[8];
	uint64_t version; /* PY_VERSION_HEX */
	uint64_t free_threaded;
};
bool pst_self_description_ok(const struct pst_self_description *d);

/* The symbols that discovery looks for, with the root that each gives. */
struct pst_root_symbol {
	const char *name;
	size_t root; /* offset in struct pst_roots */
};
extern const struct pst_root_symbol pst_root_symbols[];
extern const size_t pst_root_symbols_count;

/* ---- the functions that rows name ---- */

int pst_frames_objects(const struct pst_layout *, struct pst_mem *, pst_addr_t,
	struct pst_raw_stack *, struct pst_error *); /* heap frames, to 3.10 */
int pst_frames_cframe(const struct pst_layout *, struct pst_mem *, pst_addr_t,
	struct pst_raw_stack *, struct pst_error *); /* 3.11, 3.12 */
int pst_frames_current(const struct pst_layout *, struct pst_mem *, pst_addr_t,
	struct pst_raw_stack *, struct pst_error *); /* 3.13+ */

int32_t pst_lines_lnotab_unsigned(const uint8_t *, size_t, int32_t, int32_t); /* to 3.5 */
int32_t pst_lines_lnotab(const uint8_t *, size_t, int32_t, int32_t);          /* 3.6-3.9 */
int32_t pst_lines_ranges(const uint8_t *, size_t, int32_t, int32_t);          /* 3.10 */
int32_t pst_lines_locations(const uint8_t *, size_t, int32_t, int32_t);       /* 3.11+ */

int pst_text_bytes(const struct pst_layout *, struct pst_mem *, pst_addr_t, char *, size_t,
	size_t *, struct pst_error *); /* the str of 2.x */
int pst_text_wide(const struct pst_layout *, struct pst_mem *, pst_addr_t, char *, size_t, size_t *,
	struct pst_error *); /* the str of 3.0-3.2, the unicode of 2.x */
int pst_text_flexible(const struct pst_layout *, struct pst_mem *, pst_addr_t, char *, size_t,
	size_t *, struct pst_error *); /* the str of 3.3+ */

int pst_gil_statics(const struct pst_layout *, const struct pst_roots *, struct pst_mem *,
	pst_addr_t, struct pst_gil_words *, struct pst_error *); /* to 3.6 */
int pst_gil_runtime(const struct pst_layout *, const struct pst_roots *, struct pst_mem *,
	pst_addr_t, struct pst_gil_words *, struct pst_error *); /* 3.7-3.11 */
int pst_gil_interp(const struct pst_layout *, const struct pst_roots *, struct pst_mem *,
	pst_addr_t, struct pst_gil_words *, struct pst_error *); /* 3.12+ */

int pst_dict_table(const struct pst_layout *, struct pst_mem *, pst_addr_t, pst_entry_fn, void *,
	struct pst_error *); /* open table, to 3.2 */
int pst_dict_hashed(const struct pst_layout *, struct pst_mem *, pst_addr_t, pst_entry_fn, void *,
	struct pst_error *); /* keys object that is a table, 3.3-3.5 */
int pst_dict_compact(const struct pst_layout *, struct pst_mem *, pst_addr_t, pst_entry_fn, void *,
	struct pst_error *); /* indices, then entries, 3.6-3.10 */
int pst_dict_kinds(const struct pst_layout *, struct pst_mem *, pst_addr_t, pst_entry_fn, void *,
	struct pst_error *); /* entries of two kinds, 3.11+ */

int pst_attr_dictoffset(const struct pst_layout *, struct pst_mem *, pst_addr_t, pst_entry_fn,
	void *, struct pst_error *); /* a dict at tp_dictoffset, to 3.10 */
int pst_attr_managed_values(const struct pst_layout *, struct pst_mem *, pst_addr_t, pst_entry_fn,
	void *, struct pst_error *); /* values or dict before the object, 3.11 */
int pst_attr_managed_either(const struct pst_layout *, struct pst_mem *, pst_addr_t, pst_entry_fn,
	void *, struct pst_error *); /* one tagged word before it, 3.12 */
int pst_attr_inline_values(const struct pst_layout *, struct pst_mem *, pst_addr_t, pst_entry_fn,
	void *, struct pst_error *); /* dict before it, values behind it, 3.13+ */

/* ---- objects of any version ---- */

/* Bytes of ob_size and of other sizes. */
unsigned pst_size_bytes(const struct pst_layout *layout, const struct pst_mem *mem);

/* ob_size of the object at ADDR: never negative, at most MAX. */
int pst_object_size(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	uint64_t max, uint64_t *out, struct pst_error *err);

/* Is the object at ADDR of the type that calls itself NAME? */
int pst_object_is(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	const char *name, bool *is, struct pst_error *err);

/* The value of an int (or long) of at most 64 bits; larger ones and other objects are TORN. */
int pst_object_int(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	int64_t *out, struct pst_error *err);

/* What a generator, coroutine or asynchronous generator is doing. */
enum pst_gen_run { PST_GEN_CREATED, PST_GEN_SUSPENDED, PST_GEN_EXECUTING, PST_GEN_ENDED };

/* Of the one at ADDR: *RUN and the address of its frame (0 when it has none any more).  Only the frame of one
 * that is executing has a caller. */
int pst_gen_read(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr,
	enum pst_gen_run *run, pst_addr_t *frame, struct pst_error *err);

/* Does the text object at ADDR say exactly TEXT? */
bool pst_text_equals(
	const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t addr, const char *text);

#endif
