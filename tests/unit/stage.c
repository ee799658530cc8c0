/* A thread to be read. */
#include "stage.h"

#include "python/internal.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* A line table of STAGE_STEPS lines, as the version has it. */
static void make_table(struct stage *s)
{
	const bool entries = s->o.layout.lines == pst_lines_locations;

	for (uint8_t i = 0; i < STAGE_STEPS; i++) {
		const uint8_t location[] = { i ? 0xd8 : 0xd0, 0, 0 }, range[] = { 2, i > 0 },
			      pair[] = { i ? 2 : 0, i > 0 };
		const size_t size = entries ? 3 : 2;

		memcpy(s->table + s->table_len,
			entries                                         ? location
				: s->o.layout.lines == pst_lines_ranges ? range
									: pair,
			size);
		s->table_len += size;
	}
}

static void make(struct stage *s)
{
	s->target.mem = &s->o.image.mem;
	s->py.target = &s->target;
	s->py.layout = s->o.layout;
	s->py.names = pst_names_new();
	s->py.codes = pst_codes_new();
	s->thread.state = objects_thread(&s->o, 0);
	pst_reading_init(&s->reading);
	s->frames = pst_xcalloc(PST_MAX_FRAMES, sizeof(*s->frames));
	make_table(s);
	unit_row("%s", s->o.layout.row->name);
}

void stage_begin(struct stage *s, uint32_t version)
{
	memset(s, 0, sizeof(*s));
	objects_init(&s->o, version);
	make(s);
}

void stage_begin_flavour(struct stage *s, uint32_t version, enum pst_flavour flavour)
{
	memset(s, 0, sizeof(*s));
	objects_init_flavour(&s->o, version, flavour);
	make(s);
}

void stage_end(struct stage *s)
{
	pst_codes_free(s->py.codes);
	pst_names_free(s->py.names);
	pst_reading_fini(&s->reading);
	free(s->frames);
	free(s->thread.last.v);
	free(s->thread.last_frames);
	objects_fini(&s->o);
}

struct code_spec stage_spec(const struct stage *s, const char *name, int32_t first)
{
	static char file[64], plain[64];
	const char *dot = strrchr(name, '.');

	snprintf(file, sizeof(file), "%s.py", name);
	snprintf(plain, sizeof(plain), "%s", dot ? dot + 1 : name);
	return (struct code_spec){ file, s->o.layout.off.code_qualname == PST_ABSENT ? name : plain,
		name, first, s->table, s->table_len, 0 };
}

pst_addr_t stage_code(struct stage *s, const char *name, int32_t first)
{
	const struct code_spec spec = stage_spec(s, name, first);

	return objects_code(&s->o, &spec);
}

/* The word that holds the newest frame. */
static pst_addr_t newest_word(const struct stage *s)
{
	const struct pst_offsets *off = &s->o.layout.off;
	struct pst_mem *mem = s->target.mem;
	pst_addr_t word = s->thread.state + (pst_addr_t)off->thread_frame;
	struct pst_error err = { 0 };

	if (off->cframe_current_frame == PST_ABSENT)
		return word;
	MUST(pst_mem_read_addr(mem, word, &word, &err) == 0);
	return word + (pst_addr_t)off->cframe_current_frame;
}

pst_addr_t stage_newest(const struct stage *s)
{
	struct pst_error err = { 0 };
	pst_addr_t frame = 0;

	MUST(pst_mem_read_addr(s->target.mem, newest_word(s), &frame, &err) == 0);
	return frame;
}

pst_addr_t stage_push(struct stage *s, pst_addr_t code, int32_t lasti, uint8_t owner)
{
	const int32_t base = s->o.layout.off.thread_base_frame;
	const struct frame_spec spec = {
		.previous = stage_newest(s), .code = code, .lasti = lasti, .owner = owner
	};
	const pst_addr_t frame = objects_frame(&s->o, &spec);

	if (!spec.previous && base != PST_ABSENT)
		image_put_word(&s->o.image, s->thread.state + (pst_addr_t)base, frame);
	image_put_word(&s->o.image, newest_word(s), frame);
	return frame;
}

static pst_addr_t previous_of(const struct stage *s, pst_addr_t frame)
{
	struct pst_error err = { 0 };
	pst_addr_t previous = 0;

	MUST(pst_mem_read_addr(s->target.mem, frame + (pst_addr_t)s->o.layout.off.frame_previous,
		     &previous, &err) == 0);
	return previous;
}

void stage_pop(struct stage *s)
{
	image_put_word(&s->o.image, newest_word(s), previous_of(s, stage_newest(s)));
}

void stage_step(struct stage *s, pst_addr_t code, int32_t lasti)
{
	const pst_addr_t frame = stage_newest(s);
	const struct frame_spec spec = {
		.previous = previous_of(s, frame), .code = code, .lasti = lasti
	};

	objects_frame_put(&s->o, frame, &spec);
}

int stage_read(struct stage *s)
{
	return pst_python_read(&s->py, &s->thread, s->target.mem, &s->reading, &s->err);
}

int stage_resolve(struct stage *s)
{
	return pst_python_resolve(&s->py, &s->thread, &s->reading, s->frames, &s->n, &s->err);
}

void stage_take(struct stage *s)
{
	s->n = 0;
	if (CHECK_DONE(stage_read(s), &s->err))
		CHECK_DONE(stage_resolve(s), &s->err);
}

void stage_check(const struct stage *s, uint32_t i, const char *name, int32_t first, int32_t line)
{
	const struct pst_frame *f = &s->frames[i];
	const struct pst_func func = pst_names_func_get(s->py.names, f->func);
	cleanup_free char *file = pst_xasprintf("%s.py", name);

	if (!CHECK(i < s->n))
		return;
	CHECK_TEXT(pst_names_get(s->py.names, func.name, NULL), name);
	CHECK_TEXT(pst_names_get(s->py.names, func.file, NULL), file);
	CHECK_INT(func.line, first);
	CHECK_INT(f->line, line);
}

bool stage_is(const struct stage *s, uint32_t i, const char *name, int32_t first, int32_t line)
{
	const struct pst_func func = pst_names_func_get(s->py.names, s->frames[i].func);
	const size_t len = strlen(name);
	const char *file = pst_names_get(s->py.names, func.file, NULL);

	return i < s->n && strcmp(pst_names_get(s->py.names, func.name, NULL), name) == 0 &&
		strncmp(file, name, len) == 0 && strcmp(file + len, ".py") == 0 &&
		func.line == first && s->frames[i].line == line;
}
