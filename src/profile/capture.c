/* The capture in memory: a call tree with a root for each thread, counts of what had no stack, and if wanted a
 * timeline of small numbers. */
#include "pystill/capture.h"

#include "pystill/profile.h"
#include "pystill/sampler.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The roots of threads, and the frame that stands for those cut off, are nodes without a function. */
#define TRUNCATED_LINE (-1)

struct thread {
	pid_t tid;
	pst_addr_t ident;
	pst_name_id name;
	pst_node_id root;
	uint64_t serial; /* of its last stack, which ended at node LAST */
	pst_node_id last;
};

/* Events one after the other, each of four numbers in groups of 7 bits: kind and flags, microseconds since the
 * event before, thread, node. */
struct timeline {
	uint8_t *bytes;
	size_t n, cap;
	int64_t last_us; /* since the start */
};

#define EVENT_HOLDS_GIL 4u /* beside enum pst_record_kind */

struct pst_capture {
	struct pst_names *names;
	struct pst_profile *profile;
	struct thread *threads;
	size_t n_threads, cap_threads;
	size_t found_last; /* the number of the thread that was looked for last */
	struct pst_capture_counts counts;
	struct pst_meter meter; /* what the stats say */
	bool has_timeline;
	struct timeline timeline;
	int64_t start_ns, start_epoch_us; /* the same moment */
};

struct pst_capture *pst_capture_create(bool timeline)
{
	struct pst_capture *c = pst_xcalloc(1, sizeof(*c));
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	c->start_ns = pst_now_ns();
	c->start_epoch_us = now.tv_sec * 1000000LL + now.tv_nsec / 1000;
	c->has_timeline = timeline;
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
	free(c->timeline.bytes);
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

static void put_number(struct timeline *t, uint64_t value)
{
	t->bytes = pst_grow(t->bytes, &t->cap, t->n + 10, 1);
	for (; value >= 0x80; value >>= 7)
		t->bytes[t->n++] = (uint8_t)(value | 0x80);
	t->bytes[t->n++] = (uint8_t)value;
}

static uint64_t get_number(const struct timeline *t, size_t *at)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *at < t->n; shift += 7) {
		const uint8_t byte = t->bytes[(*at)++];

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return value;
}

/* THREAD is an index plus 1, or 0. */
static void add_event(
	struct pst_capture *c, unsigned kind, int64_t time_ns, size_t thread, pst_node_id node)
{
	struct timeline *t = &c->timeline;
	int64_t us = (time_ns - c->start_ns) / 1000;

	if (!c->has_timeline)
		return;
	if (us < t->last_us)
		us = t->last_us;
	put_number(t, kind);
	put_number(t, (uint64_t)(us - t->last_us));
	put_number(t, thread);
	put_number(t, node);
	t->last_us = us;
}

static bool is_thread(const struct thread *a, const struct pst_thread_sample *t)
{
	return a->tid == t->tid && a->ident == t->ident;
}

/* Threads come in the same order in each sample: try the next one, then the newest first. */
static size_t find_thread(struct pst_capture *c, const struct pst_thread_sample *t)
{
	const size_t next = c->found_last % (c->n_threads ? c->n_threads : 1);

	if (c->n_threads && is_thread(&c->threads[next], t))
		return next + 1;
	for (size_t i = c->n_threads; i > 0; i--)
		if (is_thread(&c->threads[i - 1], t))
			return i;
	return 0;
}

/* The number of a thread (from 1 on), which is entered if need be. */
static size_t thread_number(struct pst_capture *c, const struct pst_thread_sample *t)
{
	struct thread *new;

	c->found_last = find_thread(c, t);
	if (c->found_last) {
		if (t->name)
			c->threads[c->found_last - 1].name = t->name;
		return c->found_last;
	}
	c->threads = pst_grow(c->threads, &c->cap_threads, c->n_threads + 1, sizeof(*c->threads));
	new = &c->threads[c->n_threads++];
	*new = (struct thread){ .tid = t->tid, .ident = t->ident, .name = t->name };
	new->root =
		pst_profile_child(c->profile, 0, (struct pst_frame){ 0, (int32_t)c->n_threads });
	return c->n_threads;
}

/* Enter a stack; one that was there the last time is not walked again.  Returns its node. */
static pst_node_id add_stack(
	struct pst_capture *c, struct thread *thread, const struct pst_thread_sample *t)
{
	pst_node_id node = thread->root;

	if (t->serial && t->serial == thread->serial) {
		pst_profile_count_again(c->profile, thread->last, t->stack.n > 0);
		return thread->last;
	}
	if (t->stack.truncated)
		node = pst_profile_child(c->profile, node, (struct pst_frame){ 0, TRUNCATED_LINE });
	thread->last = pst_profile_add(c->profile, node, &t->stack, t->stack.n > 0);
	thread->serial = t->serial;
	return thread->last;
}

/* Returns whether there was anything to show of the thread. */
static bool add_thread(struct pst_capture *c, const struct pst_thread_sample *t, int64_t time_ns)
{
	const unsigned flags = t->holds_gil ? EVENT_HOLDS_GIL : 0;
	const size_t number = thread_number(c, t);
	pst_node_id node;

	if (t->proof == PST_FAILED) {
		c->counts.failed[t->fail]++;
		c->counts.failures++;
		add_event(c, PST_RECORD_FAILED | flags, time_ns, number, 0);
		return true;
	}
	node = add_stack(c, &c->threads[number - 1], t);
	add_event(c, PST_RECORD_STACK | flags, time_ns, number, node);
	if (t->stack.n == 0)
		return false;
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
		any |= add_thread(c, &sample->threads[i], sample->time_ns);
	if (!any)
		add_event(c, PST_RECORD_IDLE, sample->time_ns, 0, 0);
	c->counts.idle += !any;
	c->counts.samples++;
}

void pst_capture_fail(struct pst_capture *c, enum pst_fail why, int64_t time_ns)
{
	c->counts.failed[why]++;
	c->counts.failures++;
	add_event(c, PST_RECORD_FAILED, time_ns, 0, 0);
}

void pst_capture_missed(struct pst_capture *c, uint64_t n)
{
	c->counts.missed += n;
}

void pst_capture_set_stats(struct pst_capture *c, const struct pst_run_stats *s)
{
	struct pst_meter *m = &c->meter;
	const double wall_ns = (double)s->wall_ns;

	m->seconds = wall_ns / 1e9;
	m->wanted = s->wanted;
	m->stops = s->stops.n;
	m->stop_median_ns = pst_hist_quantile(&s->stops, 0.5);
	m->stop_p99_ns = pst_hist_quantile(&s->stops, 0.99);
	m->stop_max_ns = s->stops.max;
	if (s->wall_ns <= 0)
		return;
	m->stop_share = (double)s->stops.sum / wall_ns;
	m->cpu_share = (double)s->cpu_ns / wall_ns;
	m->rate_hz = (double)c->counts.samples * 1e9 / wall_ns;
}

struct pst_meter pst_capture_meter(const struct pst_capture *c)
{
	struct pst_meter m = c->meter;

	m.samples = c->counts.samples;
	m.exact = c->counts.exact;
	m.unproved = c->counts.unproved;
	m.failed = c->counts.failures;
	memcpy(m.failed_by, c->counts.failed, sizeof(m.failed_by));
	return m;
}

struct pst_capture_reader {
	const struct pst_capture *capture;
	enum pst_order order;
	pst_node_id next; /* by stack: nodes first, then idle, then failed */
	size_t at;        /* by time: in the timeline */
	int64_t us;
	struct pst_frame *frames;
	size_t cap;
};

struct pst_capture_reader *pst_capture_open(const struct pst_capture *c, enum pst_order order)
{
	struct pst_capture_reader *r = pst_xcalloc(1, sizeof(*r));

	r->capture = c;
	r->order = order;
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
	r->at = 0;
	r->us = 0;
}

const struct pst_names *pst_capture_reader_names(const struct pst_capture_reader *r)
{
	return r->capture->names;
}

struct pst_meter pst_capture_reader_meter(const struct pst_capture_reader *r)
{
	return pst_capture_meter(r->capture);
}

static void set_thread(struct pst_record *out, const struct thread *t)
{
	out->tid = t->tid;
	out->ident = t->ident;
	out->name = t->name;
}

/* The stack that ends at node ID, and whose it is. */
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
		set_thread(out, &r->capture->threads[node->frame.line - 1]);
}

static int next_by_stack(struct pst_capture_reader *r, struct pst_record *out)
{
	const struct pst_capture *c = r->capture;
	const size_t n_nodes = pst_profile_count(c->profile);

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

static int next_by_time(struct pst_capture_reader *r, struct pst_record *out)
{
	const struct timeline *t = &r->capture->timeline;
	uint64_t kind, thread;

	if (r->at >= t->n)
		return 0;
	kind = get_number(t, &r->at);
	r->us += (int64_t)get_number(t, &r->at);
	thread = get_number(t, &r->at);
	out->kind = (enum pst_record_kind)(kind & ~EVENT_HOLDS_GIL);
	out->holds_gil = kind & EVENT_HOLDS_GIL;
	out->epoch_us = r->capture->start_epoch_us + r->us;
	out->count = 1;
	make_stack(r, (pst_node_id)get_number(t, &r->at), out);
	if (thread)
		set_thread(out, &r->capture->threads[thread - 1]);
	return 1;
}

int pst_capture_next(struct pst_capture_reader *r, struct pst_record *out)
{
	memset(out, 0, sizeof(*out));
	return r->order == PST_BY_TIME ? next_by_time(r, out) : next_by_stack(r, out);
}
