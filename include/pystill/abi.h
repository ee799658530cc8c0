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
 *   gil      struct _gil_runtime_state
 *   thread   PyThreadState; `frame` is the newest frame, or the cframe that points to it
 *   cframe   _PyCFrame
 *   frame    PyFrameObject or _PyInterpreterFrame; `lasti` is f_lasti, prev_instr or instr_ptr
 *   code     PyCodeObject; `bytecode` is co_code_adaptive, inside the object
 *   str      the str of 3.3+; `ascii` and `compact` are the places of the text behind the head
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
	F(thread, prev)               \
	F(thread, next)               \
	F(thread, interp)             \
	F(thread, frame)              \
	F(thread, thread_id)          \
	F(thread, native_thread_id)   \
	F(thread, base_frame)         \
	F(cframe, current_frame)      \
	F(frame, previous)            \
	F(frame, code)                \
	F(frame, lasti)               \
	F(frame, owner)               \
	F(code, filename)             \
	F(code, name)                 \
	F(code, qualname)             \
	F(code, firstlineno)          \
	F(code, linetable)            \
	F(code, bytecode)             \
	F(code, firsttraceable)       \
	F(object, type)               \
	F(type, name)                 \
	F(type, flags)                \
	F(bytes, size)                \
	F(bytes, data)                \
	F(str, length)                \
	F(str, state)                 \
	F(str, ascii)                 \
	F(str, compact)               \
	F(str, data)

/* Where a row says a member is: at a fixed offset (PST_AT), or at the offset that the process itself
 * publishes at place n of its _Py_DebugOffsets (PST_SLOT).  Left out is absent, never offset zero. */
struct pst_place {
	uint32_t code;
};
#define PST_SLOT_BIT 0x80000000u
/* clang-format off */
#define PST_AT(n)    { (n) + 1u }
#define PST_SLOT(n)  { PST_SLOT_BIT | ((n) + 1u) }
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
};

/* The words that say who holds a GIL: addresses, 0 where the version has none.  CURRENT names the holder,
 * or is 0 when there is none; without it LOCKED (int) and LAST_HOLDER do.  SWITCHES counts the changes of
 * LAST_HOLDER. */
struct pst_gil_words {
	pst_addr_t current, last_holder, locked, switches;
};

/* Find the words of the GIL that INTERP uses.  The target may run. */
typedef int (*pst_gil_fn)(const struct pst_layout *layout, const struct pst_roots *roots,
	struct pst_mem *mem, pst_addr_t interp, struct pst_gil_words *out, struct pst_error *err);

/* ---- rows ---- */

struct pst_abi {
	const char *name;      /* as --abi takes it: "27", "311" */
	uint32_t first, until; /* versions served: PY_VERSION_HEX from FIRST up to below UNTIL */
	enum pst_flavour flavour;
	uint8_t word_bits;
	uint16_t machine;           /* EM_X86_64 ... */
	const struct pst_abi *base; /* what this row leaves out is there */
	unsigned lasti_unit;        /* bytes a unit of f_lasti */
	pst_frames_fn frames;
	pst_lines_fn lines;
	pst_text_fn text;
	pst_gil_fn gil;
	struct pst_places at;
};

/* A row resolved for one process. */
struct pst_layout {
	const struct pst_abi *row;
	struct pst_offsets off;
	unsigned lasti_unit;
	pst_frames_fn frames;
	pst_lines_fn lines;
	pst_text_fn text;
	pst_gil_fn gil;
};

/* All rows, ascending, with NULL behind the last. */
extern const struct pst_abi *const pst_abi_table[];

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

/* The row that --abi NAME means for this machine and width, or NULL.  With KEY's version inside the row of
 * that name, the micro version still decides. */
const struct pst_abi *pst_abi_by_name(const char *name, const struct pst_abi_key *key);

/* Turn ROW into a layout.  RUNTIME is the address of the process's _PyRuntime, read only when the row has
 * slots.  Returns 0, or -1 with ERR set: UNSUPPORTED when a published value is out of bounds. */
int pst_abi_resolve(const struct pst_abi *row, struct pst_mem *mem, pst_addr_t runtime,
	struct pst_layout *out, struct pst_error *err);

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
int pst_text_flexible(const struct pst_layout *, struct pst_mem *, pst_addr_t, char *, size_t,
	size_t *, struct pst_error *); /* the str of 3.3+ */

int pst_gil_statics(const struct pst_layout *, const struct pst_roots *, struct pst_mem *,
	pst_addr_t, struct pst_gil_words *, struct pst_error *); /* to 3.6 */
int pst_gil_runtime(const struct pst_layout *, const struct pst_roots *, struct pst_mem *,
	pst_addr_t, struct pst_gil_words *, struct pst_error *); /* 3.7-3.11 */
int pst_gil_interp(const struct pst_layout *, const struct pst_roots *, struct pst_mem *,
	pst_addr_t, struct pst_gil_words *, struct pst_error *); /* 3.12+ */

#endif
