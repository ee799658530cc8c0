/* One column a version: x86-64, release builds. */
#include "abi_facts.h"

#include <string.h>

const uint32_t fact_versions[FACT_VERSIONS] = { 0x020712f0, 0x03060ff0, 0x030700f0, 0x030711f0,
	0x030814f0, 0x030919f0, 0x030a15f0, 0x030b10f0, 0x030c0ef0, 0x030d12f0, 0x030e0af0,
	0x030f02f0 };

#define M(name) #name, offsetof(struct pst_offsets, name)
#define NO      PST_ABSENT

/* clang-format off */
const struct fact facts[] = {
	/*  2.7, 3.6, 3.7.0, 3.7.4, 3.8, 3.9, 3.10, 3.11, 3.12, 3.13, 3.14, 3.15 */
	{ M(runtime_interpreters_head), { NO, NO, 24, 24, 32, 32, 32, 40, 40, 632, 808, 936 } },
	{ M(runtime_gil_last_holder), { NO, NO, 1184, 1272, 1160, 360, 360, 368, NO, NO, NO, NO } },
	{ M(runtime_gil_locked), { NO, NO, 1192, 1280, 1168, 368, 368, 376, NO, NO, NO, NO } },
	{ M(runtime_gil_switch_number), { NO, NO, 1200, 1288, 1176, 376, 376, 384, NO, NO, NO, NO } },
	{ M(interp_next), { 0, 0, 0, 0, 0, 0, 0, 0, 0, 7264, 7272, 7264 } },
	{ M(interp_threads_head), { 8, 8, 8, 8, 8, 8, 8, 16, 72, 7344, 7344, 7336 } },
	{ M(interp_id), { NO, NO, 16, 16, 16, 24, 24, 48, 8, 7272, 7280, 7272 } },
	{ M(interp_modules), { 16, 16, 40, 40, 56, 856, 856, 888, 944, 7656, 7688, 7592 } },
	{ M(interp_gil), { NO, NO, NO, NO, NO, NO, NO, NO, 384, 16, 16, 16 } },
	{ M(gil_last_holder), { NO, NO, NO, NO, NO, NO, NO, NO, 8, 8, 8, 8 } },
	{ M(gil_locked), { NO, NO, NO, NO, NO, NO, NO, NO, 16, 16, 16, 16 } },
	{ M(gil_switch_number), { NO, NO, NO, NO, NO, NO, NO, NO, 24, 24, 24, 24 } },
	{ M(thread_prev), { NO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ M(thread_next), { 0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 } },
	{ M(thread_interp), { 8, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16 } },
	{ M(thread_frame), { 16, 24, 24, 24, 24, 24, 24, 56, 56, 72, 72, 72 } },
	{ M(thread_thread_id), { 144, 152, 176, 176, 176, 176, 176, 152, 136, 152, 152, 176 } },
	{ M(thread_native_thread_id), { NO, NO, NO, NO, NO, NO, NO, 160, 144, 160, 160, 184 } },
	{ M(thread_base_frame), { NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 80 } },
	{ M(cframe_current_frame), { NO, NO, NO, NO, NO, NO, NO, 8, 0, NO, NO, NO } },
	{ M(frame_previous), { 24, 24, 24, 24, 24, 24, 24, 48, 8, 8, 8, 8 } },
	{ M(frame_code), { 32, 32, 32, 32, 32, 32, 32, 32, 0, 0, 0, 0 } },
	{ M(frame_lasti), { 120, 120, 104, 104, 104, 104, 96, 56, 56, 56, 56, 56 } },
	{ M(frame_owner), { NO, NO, NO, NO, NO, NO, NO, 69, 70, 70, 74, 74 } },
	{ M(code_filename), { 80, 96, 96, 96, 104, 104, 104, 112, 112, 112, 112, 112 } },
	{ M(code_name), { 88, 104, 104, 104, 112, 112, 112, 120, 120, 120, 120, 120 } },
	{ M(code_qualname), { NO, NO, NO, NO, NO, NO, NO, 128, 128, 128, 128, 128 } },
	{ M(code_firstlineno), { 96, 36, 36, 36, 40, 40, 40, 72, 68, 68, 68, 68 } },
	{ M(code_linetable), { 104, 112, 112, 112, 120, 120, 120, 136, 136, 136, 136, 136 } },
	{ M(code_bytecode), { NO, NO, NO, NO, NO, NO, NO, 184, 192, 200, 208, 208 } },
	{ M(code_firsttraceable), { NO, NO, NO, NO, NO, NO, NO, 168, 176, 184, 192, 192 } },
	{ M(object_type), { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 } },
	{ M(type_name), { 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24 } },
	{ M(type_flags), { 168, 168, 168, 168, 168, 168, 168, 168, 168, 168, 168, 168 } },
	{ M(object_size), { 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16 } },
	{ M(bytes_data), { 36, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32 } },
	{ M(str_length), { NO, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16 } },
	{ M(str_state), { NO, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32 } },
	{ M(str_ascii), { NO, 48, 48, 48, 48, 48, 48, 48, 40, 40, 40, 40 } },
	{ M(str_compact), { NO, 72, 72, 72, 72, 72, 72, 72, 56, 56, 56, 56 } },
	{ M(str_data), { NO, 72, 72, 72, 72, 72, 72, 72, 56, 56, 56, 56 } },
};
/* clang-format on */
const size_t n_facts = PST_ARRAY_SIZE(facts);

int32_t fact_of(const struct pst_layout *layout, const struct fact *fact)
{
	int32_t at;

	memcpy(&at, (const char *)&layout->off + fact->member, sizeof(at));
	return at;
}
