/* Interpreters in an image. */
#define _GNU_SOURCE
#include "process.h"

#include "unit.h"

#include <string.h>
#include <unistd.h>

static void make(struct process *w)
{
	w->target.mem = &w->o.image.mem;
	w->target.pid = getpid();
	w->py.target = &w->target;
	w->py.layout = w->o.layout;
	w->py.roots = (struct pst_roots){ .runtime = 0x9000000, .thread_current = 0x9100000 };
	w->py.head_word = image_alloc(&w->o.image, 4096);
	w->view = pst_view_new(&w->o.image.mem);
	unit_row("%s", w->o.layout.row->name);
}

void process_begin(struct process *w, uint32_t version)
{
	memset(w, 0, sizeof(*w));
	objects_init(&w->o, version);
	make(w);
}

void process_begin_flavour(struct process *w, uint32_t version, enum pst_flavour flavour)
{
	memset(w, 0, sizeof(*w));
	objects_init_flavour(&w->o, version, flavour);
	make(w);
}

void process_end(struct process *w)
{
	pst_threads_fini(&w->py);
	CHECK(!w->py.n_threads && !w->py.threads && !w->py.gils);
	pst_view_free(w->view);
	objects_fini(&w->o);
}

int process_list(struct process *w)
{
	return pst_python_list(&w->py, w->view, &w->err);
}

pst_addr_t process_page(struct process *w)
{
	return image_alloc(&w->o.image, 2 * 4096);
}

void process_put(struct process *w, pst_addr_t base, int32_t offset, pst_addr_t value)
{
	if (offset != PST_ABSENT)
		image_put_word(&w->o.image, base + (pst_addr_t)offset, value);
}

pst_addr_t process_interp(struct process *w, pst_addr_t next, pst_addr_t gil)
{
	const pst_addr_t interp = process_page(w);

	process_put(w, interp, w->o.layout.off.interp_next, next);
	process_put(w, interp, w->o.layout.off.interp_gil, gil);
	image_put_word(&w->o.image, w->py.head_word, interp);
	return interp;
}

pst_addr_t process_thread(struct process *w, pst_addr_t interp, pst_addr_t ident, int32_t tid)
{
	const struct pst_offsets *off = &w->o.layout.off;
	const pst_addr_t thread = process_page(w),
			 head = interp + (pst_addr_t)off->interp_threads_head;
	struct pst_error err = { 0 };
	pst_addr_t next = 0;

	MUST(pst_mem_read_addr(&w->o.image.mem, head, &next, &err) == 0);
	process_put(w, thread, off->thread_next, next);
	process_put(w, thread, off->thread_interp, interp);
	process_put(w, thread, off->thread_thread_id, ident);
	process_put(w, thread, off->thread_native_thread_id, (pst_addr_t)tid);
	if (next)
		process_put(w, next, off->thread_prev, thread);
	image_put_word(&w->o.image, head, thread);
	return thread;
}
