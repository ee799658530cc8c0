/* Fuzz what a process publishes of itself: the input is the beginning of its _PyRuntime, and all of its memory
 * besides.  Whatever it says, there is an answer, soon. */
#include "fuzz.h"

#include "pystill/python.h"

#include <string.h>

#define BASE 0x10000u
#define SIZE (1u << 20)

/* Memory at BASE that holds the input again and again. */
struct fuzz_mem {
	struct pst_mem mem;
	const uint8_t *data;
	size_t size;
};

static int fuzz_readv(
	struct pst_mem *mem, const struct pst_range *ranges, size_t n, struct pst_error *err)
{
	const struct fuzz_mem *f = (const struct fuzz_mem *)mem;

	(void)err;
	for (size_t i = 0; i < n; i++) {
		const pst_addr_t at = ranges[i].addr - BASE;

		if (at >= SIZE || ranges[i].size > SIZE - at)
			return (int)i;
		for (size_t k = 0; k < ranges[i].size; k++)
			((uint8_t *)ranges[i].buf)[k] = f->data[(at + k) % f->size];
	}
	return (int)n;
}

static const struct pst_mem_ops fuzz_ops = { .name = "fuzz", .readv = fuzz_readv };

/* List the threads and read their stacks by the layout of one row. */
static void read_by(struct pst_python *py, struct pst_view *view)
{
	struct pst_error err = { 0 };
	struct pst_reading reading;
	struct pst_frame *frames = pst_xmalloc(PST_MAX_FRAMES * sizeof(*frames));
	uint32_t n;

	pst_reading_init(&reading);
	if (pst_python_list(py, view, &err) == 0)
		pst_python_find_names(py);
	for (size_t i = 0; i < py->n_threads && i < 4; i++)
		if (pst_python_read(py, py->threads[i], pst_view_mem(view), &reading, &err) == 0)
			pst_python_resolve(py, py->threads[i], &reading, frames, &n, &err);
	pst_reading_fini(&reading);
	pst_cleanup_free(&frames);
}

static void try_row(const struct pst_abi *row, struct pst_target *target)
{
	struct pst_names *names = pst_names_new();
	struct pst_error err = { 0 };
	struct pst_python *py = pst_python_new(target, names);
	struct pst_view *view = pst_view_new(target->mem);

	py->roots.runtime = BASE;
	if (pst_abi_resolve(row, target->mem, &py->roots, true, &py->layout, &err) == 0) {
		py->head_word = pst_abi_head_word(&py->layout, &py->roots);
		read_by(py, view);
	}
	pst_view_free(view);
	pst_python_detach(py);
	pst_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_mem mem = { { &fuzz_ops, 8 }, data, size };
	struct pst_target target = { .pid = 0, .mem = &mem.mem };
	struct pst_self_description description;

	if (size < sizeof(description))
		return 0;
	memcpy(&description, data, sizeof(description));
	pst_self_description_ok(&description);
	PST_FOR_EACH_ABI(row)
	if (pst_abi_has_slots(row))
		try_row(row, &target);
	return 0;
}
