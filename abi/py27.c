/* CPython 2.7: where its structs keep what we read.  Printed by utils/gen-abi from the tables. */
#include "pystill/abi.h"

#include <elf.h>

const struct pst_abi pst_abi_py27 = {
	.name = "27",
	.first = PST_PY(2, 7, 0),
	.until = PST_PY(3, 0, 0),
	.flavour = PST_RELEASE,
	.word_bits = 64,
	.machine = EM_X86_64,
	.lasti_unit = 1,
	.frames = pst_frames_objects,
	.lines = pst_lines_lnotab_unsigned,
	.text = pst_text_bytes,
	.gil = pst_gil_statics,
	.at = {
		.interp_next = PST_AT(0),
		.interp_threads_head = PST_AT(8),
		.interp_modules = PST_AT(16),
		.thread_next = PST_AT(0),
		.thread_interp = PST_AT(8),
		.thread_frame = PST_AT(16),
		.thread_thread_id = PST_AT(144),
		.frame_previous = PST_AT(24),
		.frame_code = PST_AT(32),
		.frame_lasti = PST_AT(120),
		.code_filename = PST_AT(80),
		.code_name = PST_AT(88),
		.code_firstlineno = PST_AT(96),
		.code_linetable = PST_AT(104),
		.object_type = PST_AT(8),
		.type_name = PST_AT(24),
		.type_flags = PST_AT(168),
		.bytes_size = PST_AT(16),
		.bytes_data = PST_AT(36),
	},
};
