/* CPython 3.7: where its structs keep what we read.  Printed by utils/gen-abi from the tables. */
#include "pystill/abi.h"

#include <elf.h>

const struct pst_abi pst_abi_py37 = {
	.name = "37",
	.first = PST_PY(3, 7, 0),
	.until = PST_PY(3, 8, 0),
	.flavour = PST_RELEASE,
	.word_bits = 64,
	.machine = EM_X86_64,
	.lasti_unit = 1,
	.frames = pst_frames_objects,
	.lines = pst_lines_lnotab,
	.text = pst_text_flexible,
	.gil = pst_gil_runtime,
	.at = {
		.runtime_interpreters_head = PST_AT(24),
		.runtime_gil_last_holder = PST_AT(1272),
		.runtime_gil_locked = PST_AT(1280),
		.runtime_gil_switch_number = PST_AT(1288),
		.interp_next = PST_AT(0),
		.interp_threads_head = PST_AT(8),
		.interp_id = PST_AT(16),
		.interp_modules = PST_AT(40),
		.thread_prev = PST_AT(0),
		.thread_next = PST_AT(8),
		.thread_interp = PST_AT(16),
		.thread_frame = PST_AT(24),
		.thread_thread_id = PST_AT(176),
		.frame_previous = PST_AT(24),
		.frame_code = PST_AT(32),
		.frame_lasti = PST_AT(104),
		.code_filename = PST_AT(96),
		.code_name = PST_AT(104),
		.code_firstlineno = PST_AT(36),
		.code_linetable = PST_AT(112),
		.object_type = PST_AT(8),
		.type_name = PST_AT(24),
		.type_flags = PST_AT(168),
		.bytes_size = PST_AT(16),
		.bytes_data = PST_AT(32),
		.str_length = PST_AT(16),
		.str_state = PST_AT(32),
		.str_ascii = PST_AT(48),
		.str_compact = PST_AT(72),
		.str_data = PST_AT(72),
	},
};

/* 3.7.0-3.7.3 */
const struct pst_abi pst_abi_py37_0 = {
	.name = "37",
	.first = PST_PY(3, 7, 0),
	.until = PST_PY(3, 7, 4),
	.flavour = PST_RELEASE,
	.word_bits = 64,
	.machine = EM_X86_64,
	.base = &pst_abi_py37,
	.at = {
		.runtime_gil_last_holder = PST_AT(1184),
		.runtime_gil_locked = PST_AT(1192),
		.runtime_gil_switch_number = PST_AT(1200),
	},
};
