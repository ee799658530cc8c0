/* Where every version keeps what we read: numbers compiled from the headers of its tags, or read from the DWARF of a
 * build (x86-64, 64 bits).  They were taken from those tables by a way of their own, past utils/gen-abi and abi/, so
 * that a mistake there shows. */
#ifndef PYSTILL_TESTS_ROW_FACTS_H
#define PYSTILL_TESTS_ROW_FACTS_H

#include "pystill/abi.h"

/* The columns.  A member of PST_OFFSETS that is not here has no facts. */
/* clang-format off */
#define ROW_COLUMNS(C) \
	C(runtime_interpreters_head) \
	C(runtime_gil_last_holder) \
	C(runtime_gil_locked) \
	C(runtime_gil_switch_number) \
	C(interp_next) \
	C(interp_threads_head) \
	C(interp_id) \
	C(interp_modules) \
	C(interp_gil) \
	C(gil_last_holder) \
	C(gil_locked) \
	C(gil_switch_number) \
	C(gil_enabled) \
	C(thread_prev) \
	C(thread_next) \
	C(thread_interp) \
	C(thread_frame) \
	C(thread_thread_id) \
	C(thread_native_thread_id) \
	C(thread_base_frame) \
	C(thread_state) \
	C(cframe_current_frame) \
	C(frame_previous) \
	C(frame_code) \
	C(frame_lasti) \
	C(frame_owner) \
	C(frame_tlbc_index) \
	C(code_filename) \
	C(code_name) \
	C(code_qualname) \
	C(code_firstlineno) \
	C(code_linetable) \
	C(code_bytecode) \
	C(code_firsttraceable) \
	C(code_tlbc) \
	C(object_type) \
	C(object_size) \
	C(type_name) \
	C(type_flags) \
	C(type_basicsize) \
	C(type_itemsize) \
	C(type_dictoffset) \
	C(type_cached_keys) \
	C(bytes_data) \
	C(str_length) \
	C(str_state) \
	C(str_ascii) \
	C(str_compact) \
	C(str_data) \
	C(ustr_length) \
	C(ustr_data) \
	C(int_value) \
	C(long_tag) \
	C(long_digits) \
	C(module_dict) \
	C(dict_mask) \
	C(dict_table) \
	C(dict_keys) \
	C(dict_values) \
	C(keys_size) \
	C(keys_log2_index_bytes) \
	C(keys_kind) \
	C(keys_nentries) \
	C(keys_entries) \
	C(values_valid) \
	C(values_first) \
	C(gen_frame) \
	C(gen_state) \
	C(gen_running) \
	C(frame_state)
/* clang-format on */

enum {
#define C(member) ROW_##member,
	ROW_COLUMNS(C)
#undef C
		ROW_WIDTH
};

struct row_column {
	const char *name;
	size_t member; /* offset in struct pst_offsets */
};
extern const struct row_column row_columns[ROW_WIDTH];

/* One build of the micro versions FIRST to LAST. */
struct row_facts {
	const char *what;
	uint32_t first, last; /* PY_VERSION_HEX */
	enum pst_flavour served_as;
	unsigned size_bytes;   /* of ob_size */
	int kind_bit;          /* of str's state; PST_ABSENT: no such word */
	int32_t at[ROW_WIDTH]; /* PST_ABSENT: the version has no such member */
};
extern const struct row_facts row_facts[];
extern const size_t n_row_facts;

/* Where in its _PyRuntime a minor version publishes the offset of each member; PST_ABSENT: it does not. */
struct row_slots {
	const char *what;
	uint32_t first;
	int32_t at[ROW_WIDTH];
};
extern const struct row_slots row_slots[];
extern const size_t n_row_slots;

#endif
