/* What every row must have: the functions of its era, and the members that they want. */
#include "unit.h"

#include "layouts.h"

#include <string.h>

#define BEGIN PST_PY(2, 3, 0)
#define END   PST_PY(4, 0, 0)
#define V(n)  PST_PY(3, n, 0)

/* From version FIRST on. */
static const struct era {
	uint32_t first;
	unsigned lasti_unit, size_bytes, str_kind_bit;
	int8_t gen_created, gen_executing;
	pst_frames_fn frames;
	pst_lines_fn lines;
	pst_text_fn text;
	pst_gil_fn gil;
	pst_dict_fn dict;
	pst_attr_fn attr;
} eras[] = {
	{ BEGIN, 1, 4, 0, 0, 0, pst_frames_objects, pst_lines_lnotab_unsigned, pst_text_bytes,
		pst_gil_statics, pst_dict_table, pst_attr_dictoffset },
	{ PST_PY(2, 5, 0), 1, 0, 0, 0, 0, pst_frames_objects, pst_lines_lnotab_unsigned,
		pst_text_bytes, pst_gil_statics, pst_dict_table, pst_attr_dictoffset },
	{ V(0), 1, 0, 0, 0, 0, pst_frames_objects, pst_lines_lnotab_unsigned, pst_text_wide,
		pst_gil_statics, pst_dict_table, pst_attr_dictoffset },
	{ V(3), 1, 0, 2, 0, 0, pst_frames_objects, pst_lines_lnotab_unsigned, pst_text_flexible,
		pst_gil_statics, pst_dict_hashed, pst_attr_dictoffset },
	{ V(6), 1, 0, 2, 0, 0, pst_frames_objects, pst_lines_lnotab, pst_text_flexible,
		pst_gil_statics, pst_dict_compact, pst_attr_dictoffset },
	{ V(7), 1, 0, 2, 0, 0, pst_frames_objects, pst_lines_lnotab, pst_text_flexible,
		pst_gil_runtime, pst_dict_compact, pst_attr_dictoffset },
	{ V(10), 2, 0, 2, -2, 0, pst_frames_objects, pst_lines_ranges, pst_text_flexible,
		pst_gil_runtime, pst_dict_compact, pst_attr_dictoffset },
	{ V(11), 1, 0, 2, -2, 0, pst_frames_cframe, pst_lines_locations, pst_text_flexible,
		pst_gil_runtime, pst_dict_kinds, pst_attr_managed_values },
	{ V(12), 1, 0, 2, -2, 0, pst_frames_cframe, pst_lines_locations, pst_text_flexible,
		pst_gil_interp, pst_dict_kinds, pst_attr_managed_either },
	{ V(13), 1, 0, 2, -3, 0, pst_frames_current, pst_lines_locations, pst_text_flexible,
		pst_gil_interp, pst_dict_kinds, pst_attr_inline_values },
	{ V(15), 1, 0, 2, 0, 4, pst_frames_current, pst_lines_locations, pst_text_flexible,
		pst_gil_interp, pst_dict_kinds, pst_attr_inline_values },
};

static const struct era *era_of(uint32_t version)
{
	const struct era *era = eras;

	for (size_t i = 0; i < PST_ARRAY_SIZE(eras); i++)
		if (eras[i].first <= version)
			era = &eras[i];
	return era;
}

/* Without the GIL `interned` has a byte to itself, so that it can be changed alone (3.14). */
static unsigned kind_bit_of(const struct pst_abi *row, const struct era *era)
{
	return row->flavour == PST_FREE_THREADED && row->first >= V(14) ? 8 : era->str_kind_bit;
}

static void test_functions(void)
{
	PST_FOR_EACH_ABI(row)
	{
		const struct pst_layout layout = layouts_fixed(row);
		const struct era *era = era_of(row->first);

		unit_row("%s, flavour %d", row->name, (int)row->flavour);
		CHECK(layout.frames == era->frames && layout.lines == era->lines);
		CHECK(layout.text == era->text && layout.gil == era->gil);
		CHECK(layout.dict == era->dict && layout.attr == era->attr);
		CHECK_INT(layout.lasti_unit, era->lasti_unit);
		CHECK_INT(layout.size_bytes, era->size_bytes);
		CHECK_INT(layout.str_kind_bit, kind_bit_of(row, era));
		CHECK_INT(layout.gen_created, era->gen_created);
		CHECK_INT(layout.gen_executing, era->gen_executing);
	}
}

/* Which versions have a member; BARE: free-threaded builds alone. */
#define M(group, member) #group "." #member, offsetof(struct pst_offsets, group##_##member)
#define ALL              BEGIN, END, false
static const struct presence {
	const char *name;
	size_t at;
	uint32_t first, until;
	bool bare;
} members[] = {
	{ M(runtime, interpreters_head), V(7), END, false },
	{ M(runtime, gil_last_holder), V(7), V(12), false },
	{ M(runtime, gil_locked), V(7), V(12), false },
	{ M(runtime, gil_switch_number), V(7), V(12), false },
	{ M(interp, next), ALL },
	{ M(interp, threads_head), ALL },
	{ M(interp, id), V(7), END, false },
	{ M(interp, modules), ALL },
	{ M(interp, gil), V(12), END, false },
	{ M(gil, last_holder), V(12), END, false },
	{ M(gil, locked), V(12), END, false },
	{ M(gil, switch_number), V(12), END, false },
	{ M(gil, enabled), V(13), END, true },
	{ M(thread, prev), V(4), END, false },
	{ M(thread, next), ALL },
	{ M(thread, interp), ALL },
	{ M(thread, frame), ALL },
	{ M(thread, thread_id), ALL },
	{ M(thread, native_thread_id), V(11), END, false },
	{ M(thread, base_frame), V(15), END, false },
	{ M(thread, state), V(13), END, false },
	{ M(cframe, current_frame), V(11), V(13), false },
	{ M(frame, previous), ALL },
	{ M(frame, code), ALL },
	{ M(frame, lasti), ALL },
	{ M(frame, owner), V(11), END, false },
	{ M(frame, tlbc_index), V(14), END, true },
	{ M(frame, state), V(10), V(11), false },
	{ M(code, filename), ALL },
	{ M(code, name), ALL },
	{ M(code, qualname), V(11), END, false },
	{ M(code, firstlineno), ALL },
	{ M(code, linetable), ALL },
	{ M(code, bytecode), V(11), END, false },
	{ M(code, firsttraceable), V(11), END, false },
	{ M(code, tlbc), V(14), END, true },
	{ M(object, type), ALL },
	{ M(object, size), ALL },
	{ M(type, name), ALL },
	{ M(type, flags), PST_PY(2, 6, 0), END, false },
	{ M(type, basicsize), ALL },
	{ M(type, itemsize), ALL },
	{ M(type, dictoffset), ALL },
	{ M(type, cached_keys), V(11), END, false },
	{ M(bytes, data), ALL },
	{ M(str, length), V(3), END, false },
	{ M(str, state), V(3), END, false },
	{ M(str, ascii), V(3), END, false },
	{ M(str, compact), V(3), END, false },
	{ M(str, data), V(3), END, false },
	{ M(ustr, length), BEGIN, V(3), false },
	{ M(ustr, data), BEGIN, V(3), false },
	{ M(int, value), BEGIN, V(0), false },
	{ M(long, tag), V(12), END, false },
	{ M(long, digits), ALL },
	{ M(module, dict), ALL },
	{ M(dict, mask), BEGIN, V(3), false },
	{ M(dict, table), BEGIN, V(3), false },
	{ M(dict, keys), V(3), END, false },
	{ M(dict, values), V(3), END, false },
	{ M(keys, size), V(3), V(11), false },
	{ M(keys, log2_index_bytes), V(11), END, false },
	{ M(keys, kind), V(11), END, false },
	{ M(keys, nentries), V(6), END, false },
	{ M(keys, entries), V(3), END, false },
	{ M(values, valid), V(13), END, false },
	{ M(values, first), V(11), END, false },
	{ M(gen, frame), PST_PY(2, 4, 0), END, false },
	{ M(gen, state), V(11), END, false },
	{ M(gen, running), PST_PY(2, 4, 0), V(10), false },
};

static bool is_wanted(const struct pst_abi *row, const struct presence *m)
{
	return row->first >= m->first && row->until <= m->until &&
		(!m->bare || row->flavour == PST_FREE_THREADED);
}

static int32_t offset_at(const struct pst_layout *layout, size_t at)
{
	int32_t offset;

	memcpy(&offset, (const char *)&layout->off + at, sizeof(offset));
	return offset;
}

static void test_members(void)
{
	PST_FOR_EACH_ABI(row)
	{
		const struct pst_layout layout = layouts_fixed(row);

		for (size_t i = 0; i < PST_ARRAY_SIZE(members); i++) {
			unit_row("%s, flavour %d: %s", row->name, (int)row->flavour,
				members[i].name);
			CHECK_INT(offset_at(&layout, members[i].at) != PST_ABSENT,
				is_wanted(row, &members[i]));
		}
	}
}

/* The list above has every member once. */
static void test_all_members(void)
{
	unsigned char seen[sizeof(struct pst_offsets)] = { 0 };

	CHECK_INT(PST_ARRAY_SIZE(members), sizeof(struct pst_offsets) / sizeof(int32_t));
	for (size_t i = 0; i < PST_ARRAY_SIZE(members); i++) {
		unit_row("%s", members[i].name);
		CHECK(!seen[members[i].at]);
		seen[members[i].at] = 1;
	}
}

static CU_TestInfo tests[] = {
	{ "functions of every row", test_functions },
	{ "members that are, and are not, there", test_members },
	{ "every member is looked at", test_all_members },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_eras = { "eras", NULL, NULL, NULL, NULL, tests };
