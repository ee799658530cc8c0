/* Chains of frames. */
#include "chain.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

const uint32_t chain_versions[CHAIN_VERSIONS] = { 0x020712f0, 0x03060ff0, 0x030910f0, V310, V311,
	V312, V313, V314, V315 };

pst_addr_t chain_frame(const struct chain *c, size_t i)
{
	return c->frames + i * c->stride;
}

struct frame_spec chain_plain(const struct chain *c, size_t i)
{
	return (struct frame_spec){ .previous = i + 1 < c->n ? chain_frame(c, i + 1) : 0,
		.code = CODE(i),
		.lasti = (int32_t)(2 * i + 4) };
}

void chain_set_base(struct chain *c, pst_addr_t last)
{
	const int32_t at = c->o.layout.off.thread_base_frame;

	if (at != PST_ABSENT)
		image_put_word(&c->o.image, c->thread + (pst_addr_t)at, last);
}

static void make(struct chain *c, size_t n, uint32_t cap)
{
	c->n = n;
	c->stride = (objects_frame_size(&c->o) + 7) / 8 * 8;
	c->frames =
		n ? image_alloc(&c->o.image, (n - 1) * c->stride + objects_frame_size(&c->o)) : 0;
	for (size_t i = 0; i < n; i++) {
		const struct frame_spec spec = chain_plain(c, i);

		objects_frame_put(&c->o, chain_frame(c, i), &spec);
	}
	c->thread = objects_thread(&c->o, c->frames);
	chain_set_base(c, n ? chain_frame(c, n - 1) : 0x1234);
	c->out.v = pst_xcalloc(cap, sizeof(*c->out.v));
	c->out.cap = cap;
	unit_row("%s", c->o.layout.row->name);
}

void chain_begin(struct chain *c, uint32_t version, size_t n, uint32_t cap)
{
	memset(c, 0, sizeof(*c));
	objects_init(&c->o, version);
	make(c, n, cap);
}

void chain_begin_flavour(
	struct chain *c, uint32_t version, enum pst_flavour flavour, size_t n, uint32_t cap)
{
	memset(c, 0, sizeof(*c));
	objects_init_flavour(&c->o, version, flavour);
	make(c, n, cap);
}

void chain_end(struct chain *c)
{
	free(c->out.v);
	objects_fini(&c->o);
}

void chain_put(struct chain *c, size_t i, struct frame_spec spec)
{
	objects_frame_put(&c->o, chain_frame(c, i), &spec);
}

int chain_walk(struct chain *c)
{
	return c->o.layout.frames(&c->o.layout, &c->o.image.mem, c->thread, &c->out, &c->err);
}

bool chain_has_owner(const struct chain *c)
{
	return c->o.layout.off.frame_owner != PST_ABSENT;
}

void chain_check_plain(const struct chain *c, size_t index, size_t from, size_t n)
{
	for (size_t k = 0; k < n && index + k < c->out.n; k++) {
		const struct pst_raw_frame *f = &c->out.v[index + k];

		CHECK_INT(f->frame, chain_frame(c, from + k));
		CHECK_INT(f->code, CODE(from + k));
		CHECK_INT(f->lasti, 2 * (from + k) + 4);
		CHECK_INT(f->owner, 0);
	}
}
