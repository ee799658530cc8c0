/* Save the few bytes of a running Python that its stacks live in, as the program itself reads them, so that unit
 * tests can read them again without that Python: capture-image PID > image.  utils/capture-images adds what the
 * process says of itself.
 *
 * An image is text: `key value` lines, and `mem ADDRESS BYTES` lines.  The process must be at rest. */
#define _GNU_SOURCE
#include "pystill/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_A_LINE 64u

/* ---- a memory that remembers what was read through it ---- */

struct piece {
	pst_addr_t addr;
	size_t size;
};

struct recorder {
	struct pst_mem mem;
	struct pst_mem *base;
	struct piece *pieces;
	size_t n, cap;
};

static int record_readv(
	struct pst_mem *mem, const struct pst_range *ranges, size_t n, struct pst_error *err)
{
	struct recorder *r = (struct recorder *)mem;
	const int got = pst_mem_readv(r->base, ranges, n, err);

	for (int i = 0; i < got; i++) {
		r->pieces = pst_grow(r->pieces, &r->cap, r->n + 1, sizeof(*r->pieces));
		r->pieces[r->n++] = (struct piece){ ranges[i].addr, ranges[i].size };
	}
	return got;
}

static const struct pst_mem_ops record_ops = { .name = "recorder", .readv = record_readv };

/* ---- a view that copies no pages: the pieces would be whole pages ---- */

struct pst_view {
	struct pst_mem *mem;
};

struct pst_view *pst_view_new(struct pst_mem *base)
{
	struct pst_view *v = pst_xcalloc(1, sizeof(*v));

	v->mem = base;
	return v;
}

void pst_view_free(struct pst_view *v)
{
	free(v);
}

void pst_view_reset(struct pst_view *v)
{
	(void)v;
}

int pst_view_fetch(struct pst_view *v, const struct pst_range *first, size_t n_first,
	const struct pst_pages *pages, const struct pst_range *last, size_t n_last,
	struct pst_error *err)
{
	(void)v, (void)first, (void)n_first, (void)pages, (void)last, (void)n_last, (void)err;
	return 0;
}

void pst_view_limit(struct pst_view *v, int64_t deadline_ns)
{
	(void)v, (void)deadline_ns;
}

struct pst_mem *pst_view_mem(struct pst_view *v)
{
	return v->mem;
}

size_t pst_view_misses(const struct pst_view *v)
{
	(void)v;
	return 0;
}

size_t pst_view_mark(struct pst_view *v)
{
	(void)v;
	return 0;
}

void pst_view_touched(const struct pst_view *v, size_t from, size_t to, struct pst_pages *pages)
{
	(void)v, (void)from, (void)to, (void)pages;
}

void pst_pages_fini(struct pst_pages *pages)
{
	(void)pages;
}

/* ---- the image ---- */

static int by_addr(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Make the pieces disjoint, ascending and as long as they can be. */
static void merge_pieces(struct recorder *r)
{
	size_t n = 0;

	qsort(r->pieces, r->n, sizeof(*r->pieces), by_addr);
	for (size_t i = 0; i < r->n; i++) {
		struct piece *last = n ? &r->pieces[n - 1] : NULL;
		const pst_addr_t end = r->pieces[i].addr + r->pieces[i].size;

		if (!last || r->pieces[i].addr > last->addr + last->size)
			r->pieces[n++] = r->pieces[i];
		else if (end > last->addr + last->size)
			last->size = end - last->addr;
	}
	r->n = n;
}

static int print_piece(struct pst_mem *mem, const struct piece *p, struct pst_error *err)
{
	for (size_t at = 0; at < p->size; at += BYTES_A_LINE) {
		const size_t n = p->size - at < BYTES_A_LINE ? p->size - at : BYTES_A_LINE;
		unsigned char bytes[BYTES_A_LINE];

		if (pst_mem_read(mem, p->addr + at, bytes, n, err) < 0)
			return -1;
		printf("mem %" PRIx64 " ", p->addr + at);
		for (size_t i = 0; i < n; i++)
			printf("%02x", bytes[i]);
		putchar('\n');
	}
	return 0;
}

static void print_roots(const struct pst_python *py)
{
	for (size_t i = 0; i < pst_root_symbols_count; i++) {
		pst_addr_t value;

		memcpy(&value, (const char *)&py->roots + pst_root_symbols[i].root, sizeof(value));
		if (value)
			printf("root %s %" PRIx64 "\n", pst_root_symbols[i].name, value);
	}
}

static void print_key(const struct pst_python *py)
{
	printf("version %x\nabi %s\nflavour %d\nmachine %u\nword_bytes %u\n", py->version,
		py->layout.row->name, (int)py->layout.row->flavour, py->layout.row->machine,
		py->target->mem->word_bytes);
}

/* Read everything once through the recorder. */
static int read_all(struct pst_python *py, struct pst_error *err)
{
	struct pst_view *view = pst_view_new(py->target->mem);
	struct pst_layout layout;
	struct pst_reading reading;
	int result = 0;

	pst_reading_init(&reading);
	result = pst_abi_resolve(
		py->layout.row, py->target->mem, &py->roots, py->layout.published, &layout, err);
	if (result == 0)
		result = pst_python_list(py, view, err);
	if (result == 0)
		pst_python_find_names(py);
	for (size_t i = 0; result == 0 && i < py->n_threads; i++) {
		struct pst_frame frames[1024];
		struct pst_gil_state gil;
		uint32_t n;

		result = pst_python_read(py, py->threads[i], pst_view_mem(view), &reading, err);
		if (result == 0 && reading.stack.n <= PST_ARRAY_SIZE(frames))
			result = pst_python_resolve(py, py->threads[i], &reading, frames, &n, err);
		if (result == 0)
			result = pst_gil_read(py, py->threads[i]->gil, &gil, err);
	}
	pst_reading_fini(&reading);
	pst_view_free(view);
	return result;
}

static int capture(struct pst_target *target, struct pst_error *err)
{
	struct recorder r = { .mem = { &record_ops, target->mem->word_bytes },
		.base = target->mem };
	struct pst_names *names = pst_names_new();
	struct pst_python *py = pst_python_attach(target, NULL, names, err);
	int result = -1;

	if (py) {
		r.mem.word_bytes = target->mem->word_bytes;
		target->mem = &r.mem;
		result = read_all(py, err);
		target->mem = r.base;
		merge_pieces(&r);
		print_key(py);
		print_roots(py);
		for (size_t i = 0; result == 0 && i < r.n; i++)
			result = print_piece(target->mem, &r.pieces[i], err);
	}
	pst_python_detach(py);
	pst_names_free(names);
	free(r.pieces);
	return result;
}

int main(int argc, char **argv)
{
	struct pst_error err = { 0 };
	struct pst_target *target;
	int result = -1;

	if (argc != 2) {
		fprintf(stderr, "usage: capture-image PID > image\n");
		return 2;
	}
	target = pst_target_open(atoi(argv[1]), NULL, &err);
	if (target)
		result = capture(target, &err);
	pst_target_close(target);
	if (result < 0)
		fprintf(stderr, "capture-image: %s\n", err.msg);
	return result < 0;
}
