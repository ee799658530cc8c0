/* The capture in memory: a call tree with a root for each thread, and counts of what had no stack. */
#include "pystill/capture.h"

#include "pystill/profile.h"

#include <stdlib.h>
#include <string.h>

/* The roots of threads, and the frame that stands for those cut off, are nodes without a function. */
#define TRUNCATED_LINE (-1)

struct thread {
	pid_t tid;
	pst_addr_t ident;
	pst_node_id root;
};

struct pst_capture {
	struct pst_names *names;
	struct pst_profile *profile;
	struct thread *threads;
	size_t n_threads, cap_threads;
	struct pst_capture_counts counts;
};

struct pst_capture *pst_capture_create(void)
{
	struct pst_capture *c = pst_xcalloc(1, sizeof(*c));

	c->names = pst_names_new();
	c->profile = pst_profile_new();
	return c;
}

void pst_capture_close(struct pst_capture *c)
{
	if (!c)
		return;
	pst_names_free(c->names);
	pst_profile_free(c->profile);
	free(c->threads);
	free(c);
}

struct pst_names *pst_capture_names(struct pst_capture *c)
{
	return c->names;
}

const struct pst_capture_counts *pst_capture_counts(const struct pst_capture *c)
{
	return &c->counts;
}

/* The newest threads are the likeliest. */
static pst_node_id thread_root(struct pst_capture *c, const struct pst_thread_sample *t)
{
	struct thread *new;

	for (size_t i = c->n_threads; i > 0; i--)
		if (c->threads[i - 1].tid == t->tid && c->threads[i - 1].ident == t->ident)
			return c->threads[i - 1].root;
	c->threads = pst_grow(c->threads, &c->cap_threads, c->n_threads + 1, sizeof(*c->threads));
	new = &c->threads[c->n_threads++];
	*new = (struct thread){ .tid = t->tid, .ident = t->ident };
	new->root =
		pst_profile_child(c->profile, 0, (struct pst_frame){ 0, (int32_t)c->n_threads });
	return new->root;
}

static bool add_thread(struct pst_capture *c, const struct pst_thread_sample *t)
{
	pst_node_id root;

	if (t->proof == PST_FAILED) {
		pst_capture_fail(c, t->fail);
		return true;
	}
	if (t->stack.n == 0)
		return false;
	root = thread_root(c, t);
	if (t->stack.truncated)
		root = pst_profile_child(c->profile, root, (struct pst_frame){ 0, TRUNCATED_LINE });
	pst_profile_add(c->profile, root, &t->stack, 1);
	if (t->proof == PST_EXACT)
		c->counts.exact++;
	else
		c->counts.unproved++;
	return true;
}

void pst_capture_add(struct pst_capture *c, const struct pst_sample *sample)
{
	bool any = false;

	for (size_t i = 0; i < sample->n; i++)
		any |= add_thread(c, &sample->threads[i]);
	c->counts.idle += !any;
	c->counts.samples++;
}

void pst_capture_fail(struct pst_capture *c, enum pst_fail why)
{
	c->counts.failed[why]++;
	c->counts.failures++;
}

void pst_capture_missed(struct pst_capture *c, uint64_t n)
{
	c->counts.missed += n;
}

struct pst_capture_reader {
	const struct pst_capture *capture;
	pst_node_id next; /* nodes first, then idle, then failed */
	struct pst_frame *frames;
	size_t cap;
};

struct pst_capture_reader *pst_capture_open(const struct pst_capture *c)
{
	struct pst_capture_reader *r = pst_xcalloc(1, sizeof(*r));

	r->capture = c;
	pst_capture_rewind(r);
	return r;
}

void pst_capture_reader_close(struct pst_capture_reader *r)
{
	if (!r)
		return;
	free(r->frames);
	free(r);
}

void pst_capture_rewind(struct pst_capture_reader *r)
{
	r->next = 1;
}

const struct pst_names *pst_capture_reader_names(const struct pst_capture_reader *r)
{
	return r->capture->names;
}

/* The stack that ends at node ID. */
static void make_stack(struct pst_capture_reader *r, pst_node_id id, struct pst_record *out)
{
	const struct pst_node *node;
	uint32_t n = 0;

	while ((node = pst_profile_node(r->capture->profile, id)) && node->frame.func) {
		r->frames = pst_grow(r->frames, &r->cap, n + 1, sizeof(*r->frames));
		r->frames[n++] = node->frame;
		id = node->parent;
	}
	out->stack = (struct pst_stack){ r->frames, n, false };
	if (node && node->frame.line == TRUNCATED_LINE) {
		out->stack.truncated = true;
		node = pst_profile_node(r->capture->profile, node->parent);
	}
	if (node)
		out->tid = r->capture->threads[node->frame.line - 1].tid;
}

int pst_capture_next(struct pst_capture_reader *r, struct pst_record *out)
{
	const struct pst_capture *c = r->capture;
	const size_t n_nodes = pst_profile_count(c->profile);

	memset(out, 0, sizeof(*out));
	while (r->next <= n_nodes) {
		const pst_node_id id = r->next++;

		out->count = pst_profile_node(c->profile, id)->self;
		if (!out->count)
			continue;
		out->kind = PST_RECORD_STACK;
		make_stack(r, id, out);
		return 1;
	}
	while (r->next <= n_nodes + 2) {
		out->kind = r->next++ == n_nodes + 1 ? PST_RECORD_IDLE : PST_RECORD_FAILED;
		out->count = out->kind == PST_RECORD_IDLE ? c->counts.idle : c->counts.failures;
		if (out->count)
			return 1;
	}
	return 0;
}
