/* Generators: what they are doing, and their frames. */
#include "unit.h"

#include "objects.h"

#include <string.h>

#define ENDED     PST_GEN_ENDED
#define CREATED   PST_GEN_CREATED
#define SUSPENDED PST_GEN_SUSPENDED
#define EXECUTING PST_GEN_EXECUTING

/* A generator and a frame of its own, apart from it or in it. */
struct world {
	struct objects o;
	pst_addr_t gen, frame;
	enum pst_gen_run run;
	pst_addr_t found;
	struct pst_error err;
};

static void begin(struct world *w, uint32_t version, enum pst_flavour flavour)
{
	const struct frame_spec spec = { .code = 0x7000000 };

	memset(w, 0, sizeof(*w));
	objects_init_flavour(&w->o, version, flavour);
	unit_row("%s", w->o.layout.row->name);
	w->gen = objects_plain(&w->o, objects_type(&w->o, "generator", 0), 200);
	if (version >= PST_PY(3, 11, 0)) {
		w->frame = w->gen + (pst_addr_t)w->o.layout.off.gen_frame;
		return;
	}
	w->frame = image_alloc(&w->o.image, 200);
	objects_frame_put(&w->o, w->frame, &spec);
	objects_put(&w->o, w->gen, w->o.layout.off.gen_frame, w->frame);
}

static void end(struct world *w)
{
	objects_fini(&w->o);
}

static int read_gen(struct world *w)
{
	w->found = 0x1234;
	return pst_gen_read(&w->o.layout, &w->o.image.mem, w->gen, &w->run, &w->found, &w->err);
}

/* ---- to 3.9: a flag, and the instruction ---- */

static void test_flag(void)
{
	static const uint32_t versions[] = { 0x020406f0, 0x020712f0, 0x030206f0, 0x030307f0,
		0x03060ff0, 0x030919f0 };
	static const struct {
		uint8_t running;
		int32_t lasti;
		enum pst_gen_run run;
	} rows[] = { { 0, -1, CREATED }, { 0, 0, SUSPENDED }, { 0, 30, SUSPENDED },
		{ 1, 30, EXECUTING }, { 1, -1, EXECUTING }, { 1, 0, EXECUTING } };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++)
		for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
			struct world w;

			begin(&w, versions[v], PST_RELEASE);
			image_put_byte(&w.o.image, w.gen + (pst_addr_t)w.o.layout.off.gen_running,
				rows[i].running);
			objects_put_int(&w.o, w.frame, w.o.layout.off.frame_lasti, rows[i].lasti);
			unit_row("%s, running %d, at %d", w.o.layout.row->name, rows[i].running,
				rows[i].lasti);
			CHECK_DONE(read_gen(&w), &w.err);
			CHECK_INT(w.run, rows[i].run);
			CHECK_INT(w.found, w.frame);
			end(&w);
		}
}

/* To 3.10 one that has ended has no frame. */
static void test_no_frame(void)
{
	static const uint32_t versions[] = { 0x020712f0, 0x03060ff0, 0x030919f0, 0x030a05f0 };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct world w;

		begin(&w, versions[v], PST_RELEASE);
		objects_put(&w.o, w.gen, w.o.layout.off.gen_frame, 0);
		CHECK_DONE(read_gen(&w), &w.err);
		CHECK_INT(w.run, ENDED);
		CHECK_INT(w.found, 0);
		end(&w);
	}
}

/* ---- from 3.10 on: a state ---- */

/* As Include/internal/pycore_frame.h numbers them. */
static const struct {
	uint32_t version;
	enum pst_flavour flavour;
	int8_t state;
	enum pst_gen_run run;
} states[] = {
	{ 0x030a05f0, PST_RELEASE, -2, CREATED },
	{ 0x030a05f0, PST_RELEASE, -1, SUSPENDED },
	{ 0x030a05f0, PST_RELEASE, 0, EXECUTING },
	{ 0x030a05f0, PST_RELEASE, 1, ENDED }, /* returned */
	{ 0x030a05f0, PST_RELEASE, 2, ENDED }, /* unwinding */
	{ 0x030a05f0, PST_RELEASE, 3, ENDED }, /* raised */
	{ 0x030a05f0, PST_RELEASE, 4, ENDED }, /* cleared */
	{ 0x030b02f0, PST_RELEASE, -2, CREATED },
	{ 0x030b02f0, PST_RELEASE, -1, SUSPENDED },
	{ 0x030b02f0, PST_RELEASE, 0, EXECUTING },
	{ 0x030b02f0, PST_RELEASE, 1, ENDED },
	{ 0x030b02f0, PST_RELEASE, 4, ENDED },
	{ 0x030c03f0, PST_RELEASE, -2, CREATED },
	{ 0x030c03f0, PST_RELEASE, -1, SUSPENDED },
	{ 0x030c03f0, PST_RELEASE, 0, EXECUTING },
	{ 0x030c03f0, PST_RELEASE, 4, ENDED },
	{ 0x030d12f0, PST_RELEASE, -3, CREATED },
	{ 0x030d12f0, PST_RELEASE, -2, SUSPENDED },
	{ 0x030d12f0, PST_RELEASE, -1, SUSPENDED }, /* in `yield from` */
	{ 0x030d12f0, PST_RELEASE, 0, EXECUTING },
	{ 0x030d12f0, PST_RELEASE, 1, ENDED },
	{ 0x030d12f0, PST_RELEASE, 4, ENDED },
	{ 0x030d12f0, PST_FREE_THREADED, -3, CREATED },
	{ 0x030d12f0, PST_FREE_THREADED, 0, EXECUTING },
	{ 0x030e0af0, PST_RELEASE, -3, CREATED },
	{ 0x030e0af0, PST_RELEASE, -1, SUSPENDED },
	{ 0x030e0af0, PST_RELEASE, 0, EXECUTING },
	{ 0x030e0af0, PST_FREE_THREADED, 4, ENDED },
	{ 0x030f02f0, PST_RELEASE, 0, CREATED },
	{ 0x030f02f0, PST_RELEASE, 1, SUSPENDED },
	{ 0x030f02f0, PST_RELEASE, 2, SUSPENDED }, /* in `yield from` */
	{ 0x030f02f0, PST_RELEASE, 3, SUSPENDED }, /* the same, locked */
	{ 0x030f02f0, PST_RELEASE, 4, EXECUTING },
	{ 0x030f02f0, PST_RELEASE, 5, ENDED },
	{ 0x030f02f0, PST_FREE_THREADED, 4, EXECUTING },
};

static void test_states(void)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(states); i++) {
		const struct pst_offsets *off;
		bool in_frame;
		struct world w;

		begin(&w, states[i].version, states[i].flavour);
		off = &w.o.layout.off;
		in_frame = off->frame_state != PST_ABSENT;
		image_put_byte(&w.o.image,
			in_frame ? w.frame + (pst_addr_t)off->frame_state
				 : w.gen + (pst_addr_t)off->gen_state,
			(uint8_t)states[i].state);
		unit_row("%s, state %d", w.o.layout.row->name, states[i].state);
		CHECK_DONE(read_gen(&w), &w.err);
		CHECK_INT(w.run, states[i].run);
		if (states[i].run != ENDED)
			CHECK_INT(w.found, w.frame);
		else if (!in_frame)
			CHECK_INT(w.found, 0);
		end(&w);
	}
}

/* ---- what cannot be read ---- */

static void test_not_mapped(void)
{
	static const uint32_t versions[] = { 0x020712f0, 0x030919f0, 0x030a05f0, 0x030b02f0,
		0x030f02f0 };

	for (size_t v = 0; v < PST_ARRAY_SIZE(versions); v++) {
		struct world w;

		begin(&w, versions[v], PST_RELEASE);
		if (versions[v] < PST_PY(3, 11, 0)) {
			objects_put(&w.o, w.gen, w.o.layout.off.gen_frame, 0x50);
			CHECK_ERROR(read_gen(&w), &w.err, PST_ERR_TORN);
		}
		w.gen = 0x50;
		CHECK_ERROR(read_gen(&w), &w.err, PST_ERR_TORN);
		end(&w);
	}
}

static void test_errors(void)
{
	static const struct {
		uint32_t version;
		size_t reads;
	} rows[] = { { 0x020712f0, 3 }, { 0x030a05f0, 2 }, { 0x030d12f0, 1 } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct world w;
		size_t n = 1;

		begin(&w, rows[i].version, PST_RELEASE);
		for (; n < 10; n++) {
			image_fail(&w.o.image, n, PST_ERR_GONE);
			if (read_gen(&w) == 0)
				break;
			CHECK_INT(w.err.code, PST_ERR_GONE);
		}
		CHECK_INT(n, rows[i].reads + 1);
		end(&w);
	}
}

static CU_TestInfo tests[] = {
	{ "to 3.9: a flag", test_flag },
	{ "to 3.10: no frame", test_no_frame },
	{ "from 3.10 on: states", test_states },
	{ "not mapped", test_not_mapped },
	{ "errors", test_errors },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_gen = { "gen", NULL, NULL, NULL, NULL, tests };
