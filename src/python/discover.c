/* Finding the interpreter in a process: images of the process, most likely first, times rows of finders.
 * What a finder gives is a candidate; only back pointers make it an interpreter. */
#define _GNU_SOURCE
#include "internal.h"

#include "pystill/elf.h"
#include "pystill/nspace.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MAX_IMAGE_DATA (64u << 20) /* of writable memory of one image that is searched */
#define MAX_INTERPS    4096u
#define MAX_THREADS    100000u
#define OTHER_RANK     3 /* of an image that is neither the program nor named as Python is */

/* A program or library of the target. */
struct image {
	const struct pst_map *map;
	struct pst_elf *elf;
	pst_addr_t bias;
	int rank; /* less is more likely */
};

/* What a finder knows of an interpreter. */
struct candidate {
	struct pst_roots roots;
	pst_addr_t version_word; /* Py_Version, 0 when there is none */
};

struct finder {
	const char *name;
	bool (*find)(struct pst_target *target, const struct image *image, struct candidate *out);
};

/* ---- finders ---- */

/* PyInterpreterState_Head() up to 3.6 is "mov interp_head(%rip), %rax; ret" on x86-64: it is exported
 * where interp_head, a static, was stripped.  Without optimisation a frame is set up before it. */
static pst_addr_t decode_head_function(struct pst_target *target, pst_addr_t function)
{
	static const unsigned char mov[] = { 0x48, 0x8b, 0x05 };
	unsigned char code[24];
	int32_t distance;

	if (pst_mem_read(target->mem, function, code, sizeof(code), &(struct pst_error){ 0 }) < 0)
		return 0;
	for (size_t i = 0; i + sizeof(mov) + sizeof(distance) <= sizeof(code); i++) {
		if (memcmp(code + i, mov, sizeof(mov)) != 0)
			continue;
		memcpy(&distance, code + i + sizeof(mov), sizeof(distance));
		return function + i + sizeof(mov) + sizeof(distance) +
			(pst_addr_t)(int64_t)distance;
	}
	return 0;
}

static bool find_by_symbol(
	struct pst_target *target, const struct image *image, struct candidate *out)
{
	const char *names[16] = { "Py_Version", "PyInterpreterState_Head" };
	struct pst_symbol symbols[PST_ARRAY_SIZE(names)];
	const size_t first = 2, n = first + pst_root_symbols_count;

	for (size_t i = 0; i < pst_root_symbols_count; i++)
		names[first + i] = pst_root_symbols[i].name;
	pst_elf_symbols(image->elf, names, n, symbols);
	for (size_t i = first; i < n; i++) {
		pst_addr_t *root =
			(pst_addr_t *)((char *)&out->roots + pst_root_symbols[i - first].root);

		*root = symbols[i].value ? image->bias + symbols[i].value : 0;
	}
	out->version_word = symbols[0].value ? image->bias + symbols[0].value : 0;
	if (!out->roots.runtime && !out->roots.interp_head && symbols[1].value)
		out->roots.interp_head =
			decode_head_function(target, image->bias + symbols[1].value);
	return out->roots.runtime || out->roots.interp_head || symbols[1].value;
}

/* The section that holds _PyRuntime at its start: its header survives strip. */
static bool find_by_section(
	struct pst_target *target, const struct image *image, struct candidate *out)
{
	struct pst_symbol section;

	(void)target;
	if (!pst_elf_section(image->elf, ".PyRuntime", &section))
		return false;
	out->roots.runtime = image->bias + section.value;
	return true;
}

/* Visit the writable memory of an image, in one piece a segment. */
typedef bool (*visit_fn)(const char *bytes, size_t len, pst_addr_t addr, void *ctx);

static bool visit_data(
	struct pst_target *target, const struct image *image, visit_fn visit, void *ctx)
{
	const struct pst_segment *segments;
	const size_t n = pst_elf_segments(image->elf, &segments);

	for (size_t i = 0; i < n; i++) {
		const size_t size = segments[i].mem_size;
		const pst_addr_t addr = image->bias + segments[i].vaddr;
		cleanup_free char *bytes = NULL;

		if (!segments[i].writable || size > MAX_IMAGE_DATA)
			continue;
		bytes = pst_xmalloc(size);
		if (pst_mem_read(target->mem, addr, bytes, size, &(struct pst_error){ 0 }) == 0 &&
			visit(bytes, size, addr, ctx))
			return true;
	}
	return false;
}

static bool visit_cookie(const char *bytes, size_t len, pst_addr_t addr, void *ctx)
{
	struct pst_self_description d;

	for (size_t i = 0; i + sizeof(d) <= len; i += 8) {
		if (bytes[i] != PST_COOKIE[0])
			continue;
		memcpy(&d, bytes + i, sizeof(d));
		if (pst_self_description_ok(&d)) {
			*(pst_addr_t *)ctx = addr + i;
			return true;
		}
	}
	return false;
}

static bool find_by_cookie(
	struct pst_target *target, const struct image *image, struct candidate *out)
{
	return visit_data(target, image, visit_cookie, &out->roots.runtime);
}

static const struct finder finders[] = {
	{ "symbol", find_by_symbol },
	{ "section .PyRuntime", find_by_section },
	{ "debug-offsets cookie", find_by_cookie },
};

/* ---- what a candidate is ---- */

static bool visit_version(const char *bytes, size_t len, pst_addr_t addr, void *ctx)
{
	(void)addr;
	*(uint32_t *)ctx = pst_abi_version_search(bytes, len);
	return *(uint32_t *)ctx != 0;
}

/* The version in a file name ("libpython3.9.so.1.0"); its micro version is then unknown, taken as 0. */
static uint32_t version_of_name(const char *path)
{
	const char *base = strrchr(path, '/');
	char text[32];
	size_t len;

	base = strstr(base ? base : path, "python");
	if (!base)
		return 0;
	len = strspn(base + 6, "0123456789.");
	len -= len && base[6 + len - 1] == '.'; /* of ".so" */
	snprintf(text, sizeof(text), "%.*s.0 ", (int)len, base + 6);
	return pst_abi_version_parse(text);
}

/* Where the process says its version, the surest word first. */
static uint32_t find_version(struct pst_target *target, const struct image *image,
	const struct candidate *c, enum pst_flavour *flavour)
{
	struct pst_self_description d;
	struct pst_error ignored;
	int32_t word;
	uint32_t version = 0;

	*flavour = PST_RELEASE;
	if (c->roots.runtime &&
		pst_mem_read(target->mem, c->roots.runtime, &d, sizeof(d), &ignored) == 0 &&
		pst_self_description_ok(&d)) {
		*flavour = d.free_threaded ? PST_FREE_THREADED : PST_RELEASE;
		return (uint32_t)d.version;
	}
	if (c->version_word && pst_mem_read_i32(target->mem, c->version_word, &word, &ignored) == 0)
		return (uint32_t)word;
	if (visit_data(target, image, visit_version, &version))
		return version;
	return version_of_name(image->map->path);
}

static int no_row(const struct pst_target *target, const struct image *image, uint32_t version,
	const struct pst_abi_key *key, struct pst_error *err)
{
	char text[24];

	pst_abi_version_text(version, text);
	if (!version)
		return pst_error_set(err, PST_ERR_UNSUPPORTED, 0,
			"process %d runs a Python whose version was not found in %s; name it with --abi",
			target->pid, image->map->path);
	return pst_error_set(err, PST_ERR_UNSUPPORTED, 0,
		"process %d runs Python %s%s (%u-bit), which this build cannot read; "
		"pystill -v lists those that it can",
		target->pid, text, key->flavour == PST_FREE_THREADED ? " free-threaded" : "",
		key->word_bits);
}

/* What the user forced, with a warning when the process says that it is something else. */
static const struct pst_abi *choose_forced(const struct pst_target *target,
	const struct pst_abi_key *key, const char *abi_name, const struct pst_abi *own,
	struct found *f, struct pst_error *err)
{
	const struct pst_abi *forced = pst_abi_by_name(abi_name, key);
	char text[24];

	pst_abi_version_text(key->version, text);
	if (!forced)
		pst_error_set(err, PST_ERR_UNSUPPORTED, 0,
			"process %d runs a %s %u-bit build, Python %s: ABI %s cannot be that; "
			"pystill -v lists all",
			target->pid, key->flavour == PST_FREE_THREADED ? "free-threaded" : "usual",
			key->word_bits, text, abi_name);
	else if (forced != own)
		snprintf(f->warning, sizeof(f->warning),
			"process %d says that it is Python %s; --abi %s is used as you ask",
			target->pid, text, abi_name);
	return forced;
}

/* The row for this interpreter. */
static const struct pst_abi *choose_row(struct pst_target *target, const struct image *image,
	const struct pst_abi_key *key, const char *abi_name, struct found *f, struct pst_error *err)
{
	bool newer;
	const struct pst_abi *row = pst_abi_find(key, &newer);
	char text[24];

	f->warning[0] = '\0';
	if (abi_name)
		return choose_forced(target, key, abi_name, row, f, err);
	pst_abi_version_text(key->version, text);
	f->misfit |= !row && !key->version;
	if (!row)
		no_row(target, image, key->version, key, err);
	else if (newer)
		snprintf(f->warning, sizeof(f->warning),
			"process %d runs Python %s, newer than this build knows; it is read as %s",
			target->pid, text, row->name);
	return row;
}

/* ---- back pointers ---- */

static int not_ours(struct pst_error *err, const char *what, pst_addr_t addr)
{
	return pst_error_set(err, PST_ERR_TORN, 0, "%s at %#" PRIx64 " is not one", what, addr);
}

/* Every thread state of INTERP points back to it, and to the one before it where the version has that. */
static int check_threads(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t interp,
	size_t *n, struct pst_error *err)
{
	const struct pst_offsets *o = &layout->off;
	pst_addr_t state, owner, previous = 0, before;
	size_t here = 0;

	if (pst_mem_read_addr(mem, interp + (pst_addr_t)o->interp_threads_head, &state, err) < 0)
		return -1;
	while (state) {
		if (pst_mem_read_addr(mem, state + (pst_addr_t)o->thread_interp, &owner, err) < 0)
			return -1;
		if (owner != interp || ++here > MAX_THREADS)
			return not_ours(err, "the thread state", state);
		if (o->thread_prev != PST_ABSENT) {
			if (pst_mem_read_addr(
				    mem, state + (pst_addr_t)o->thread_prev, &before, err) < 0)
				return -1;
			if (before != previous)
				return not_ours(err, "the thread state", state);
		}
		previous = state;
		if (pst_mem_read_addr(mem, state + (pst_addr_t)o->thread_next, &state, err) < 0)
			return -1;
	}
	*n += here;
	return 0;
}

/* sys.modules is a dict: without this test the ends of a doubly linked list pass for threads. */
static int check_modules(const struct pst_layout *layout, struct pst_mem *mem, pst_addr_t interp,
	bool *ready, struct pst_error *err)
{
	pst_addr_t modules;
	bool is_dict;

	if (pst_mem_read_addr(mem, interp + (pst_addr_t)layout->off.interp_modules, &modules, err) <
			0 ||
		(modules && pst_object_is(layout, mem, modules, "dict", &is_dict, err) < 0))
		return -1;
	if (!modules) { /* while the interpreter starts, and when it ends */
		*ready = false;
		return 0;
	}
	return is_dict ? 0 : not_ours(err, "sys.modules", modules);
}

/* Walk all interpreters from the head word; *N counts their threads, and is 0 when one is not ready. */
static int check_interps(
	const struct found *f, struct pst_mem *mem, size_t *n, struct pst_error *err)
{
	bool ready = true;
	pst_addr_t interp;

	*n = 0;
	if (pst_mem_read_addr(mem, f->head_word, &interp, err) < 0)
		return -1;
	for (size_t count = 0; interp; count++) {
		if (count == MAX_INTERPS)
			return not_ours(err, "the interpreter", interp);
		if (check_threads(&f->layout, mem, interp, n, err) < 0 ||
			check_modules(&f->layout, mem, interp, &ready, err) < 0 ||
			pst_mem_read_addr(mem, interp + (pst_addr_t)f->layout.off.interp_next,
				&interp, err) < 0)
			return -1;
	}
	if (!ready)
		*n = 0;
	return 0;
}

/* Walk with the layout of F.  The target runs: a list may change under our eyes, so a few tries are due. */
static int validate(struct found *f, struct pst_target *target, struct pst_error *err)
{
	char text[24];
	size_t n = 0;

	pst_abi_version_text(f->version, text);
	for (int tries = 0; tries < 5; tries++) {
		if (check_interps(f, target->mem, &n, err) < 0) {
			if (err->code == PST_ERR_GONE || err->code == PST_ERR_PERM)
				return -1;
			continue;
		}
		if (n)
			return 0;
		return pst_error_set(err, PST_ERR_NOTPYTHON, 0,
			"process %d has Python %s in it, but not initialised: try again when it "
			"runs Python",
			target->pid, text);
	}
	f->misfit = true;
	return pst_error_set(err, PST_ERR_UNSUPPORTED, 0,
		"process %d: Python %s in %s does not look as ABI %s does; is it patched?",
		target->pid, text, f->image, f->layout.row->name);
}

/* Try ROW with what the process publishes of itself, or with the row's own numbers. */
static int try_row(struct pst_target *target, const struct pst_abi *row, bool published,
	struct found *f, struct pst_error *err)
{
	if (pst_abi_resolve(row, target->mem, &f->roots, published, &f->layout, err) < 0)
		return pst_error_wrap(err, "process %d", target->pid);
	f->head_word = pst_abi_head_word(&f->layout, &f->roots);
	if (!f->head_word)
		return pst_error_set(err, PST_ERR_UNSUPPORTED, 0,
			"process %d: %s has no symbols that lead to its interpreter", target->pid,
			f->image);
	return validate(f, target, err);
}

/* What a process publishes of itself wins over the tables, unless it leads nowhere and they do not. */
static int try_both(struct pst_target *target, const struct pst_abi *row, struct found *f,
	struct pst_error *err)
{
	struct pst_error tables_err = { 0 };
	const size_t len = strlen(f->warning);

	if (try_row(target, row, true, f, err) == 0)
		return 0;
	if (err->code != PST_ERR_UNSUPPORTED || !pst_abi_has_slots(row) ||
		try_row(target, row, false, f, &tables_err) < 0)
		return -1;
	snprintf(f->warning + len, sizeof(f->warning) - len,
		"%sthe _Py_DebugOffsets of process %d do not fit; the tables of ABI %s are used",
		len ? "; " : "", target->pid, row->name);
	return 0;
}

/* A debug build that says no such thing of itself is told by its objects, which have a longer head. */
static int try_flavours(struct pst_target *target, const struct image *image,
	struct pst_abi_key *key, const char *abi_name, struct found *f, struct pst_error *err)
{
	const struct pst_abi *row = choose_row(target, image, key, abi_name, f, err);
	struct pst_error debug_err = { 0 };
	bool newer = false;

	if (!row)
		return -1;
	if (try_both(target, row, f, err) == 0)
		return 0;
	if (err->code != PST_ERR_UNSUPPORTED || key->flavour != PST_RELEASE)
		return -1;
	key->flavour = PST_DEBUG;
	row = abi_name ? pst_abi_by_name(abi_name, key) : pst_abi_find(key, &newer);
	return row && !newer ? try_both(target, row, f, &debug_err) : -1;
}

static int try_candidate(struct pst_target *target, const struct image *image,
	const struct candidate *c, const char *abi_name, struct found *out, struct pst_error *err)
{
	struct pst_abi_key key = {
		.word_bits = pst_elf_word_bits(image->elf),
		.machine = pst_elf_machine(image->elf),
	};

	target->mem->word_bytes = key.word_bits / 8;
	key.version = find_version(target, image, c, &key.flavour);
	free(out->image);
	out->image = pst_xstrdup(image->map->path);
	out->roots = c->roots;
	out->version = key.version;
	return try_flavours(target, image, &key, abi_name, out, err);
}

/* ---- images ---- */

static bool is_exe(const struct pst_target *target, const struct pst_map *map)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", target->pid);
	return stat(path, &st) == 0 && st.st_ino == map->inode;
}

static const char *base_name(const struct pst_map *map)
{
	const char *slash = strrchr(map->path, '/');

	return slash ? slash + 1 : map->path;
}

/* How likely is it in there?  0 is the program itself. */
static int rank(const struct pst_target *target, const struct pst_map *map)
{
	if (is_exe(target, map))
		return 0;
	if (strncmp(base_name(map), "libpython", 9) == 0)
		return 1;
	return strstr(base_name(map), "python") ? 2 : OTHER_RANK;
}

static int by_rank(const void *a, const void *b)
{
	return ((const struct image *)a)->rank - ((const struct image *)b)->rank;
}

/* Files that are mapped to be run, each once, from malloc.  Returns how many. */
static size_t list_images(const struct pst_target *target, struct image **out)
{
	struct image *v = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < target->maps.n; i++) {
		const struct pst_map *map = &target->maps.v[i];
		bool known = !(map->flags & PST_MAP_EXEC) || !map->inode;

		for (size_t k = 0; k < n && !known; k++)
			known = pst_map_same_file(v[k].map, map);
		if (known)
			continue;
		v = pst_grow(v, &cap, n + 1, sizeof(*v));
		v[n++] = (struct image){ .map = map, .rank = rank(target, map) };
	}
	if (n)
		qsort(v, n, sizeof(*v), by_rank);
	*out = v;
	return n;
}

static int open_image(struct pst_target *target, struct image *image, struct pst_error *err)
{
	const int fd = pst_nspace_open_map(target->pid, image->map, err);

	if (fd < 0)
		return -1;
	image->elf = pst_elf_open(fd, image->map->path, err);
	if (!image->elf)
		return -1;
	return pst_elf_bias(image->elf, &target->maps, image->map, &image->bias, err);
}

/* Try all finders on one image.  Returns 0 when an interpreter was found, else -1 with ERR set (NOTPYTHON: there
 * is no trace of one). */
static int search_image(struct pst_target *target, struct image *image, const char *abi_name,
	struct found *out, struct pst_error *err)
{
	pst_error_set(err, PST_ERR_NOTPYTHON, 0, "no Python in %s", image->map->path);
	for (size_t i = 0; i < PST_ARRAY_SIZE(finders); i++) {
		struct candidate c = { 0 };

		if (!finders[i].find(target, image, &c))
			continue;
		out->finder = finders[i].name;
		if (try_candidate(target, image, &c, abi_name, out, err) == 0)
			return 0;
		out->dormant |= err->code == PST_ERR_NOTPYTHON || err->code == PST_ERR_GONE;
		if (err->code == PST_ERR_GONE || err->code == PST_ERR_PERM)
			return -1;
	}
	return -1;
}

static int not_python(struct pst_target *target, struct pst_error *err)
{
	cleanup_free char *exe = pst_procfs_readlink(target->pid, "exe", NULL);

	return pst_error_set(err, PST_ERR_NOTPYTHON, 0, "process %d (%s) is not a Python process",
		target->pid, exe ? exe : "?");
}

/* Does an image say more than that there is no Python in it? */
static bool says_something(const struct pst_error *err, const struct found *f)
{
	return err->code != PST_ERR_NOTPYTHON || f->dormant;
}

/* What is read of a process that ends meanwhile makes no sense, and says nothing.  Its memory is the first to go. */
static bool has_ended(struct pst_target *target)
{
	struct pst_error err = { 0 };
	unsigned char byte;

	if (target->maps.n == 0)
		return true;
	pst_mem_read(target->mem, target->maps.v[0].start, &byte, 1, &err);
	return err.code == PST_ERR_GONE;
}

int pst_discover(
	struct pst_target *target, const char *abi_name, struct found *out, struct pst_error *err)
{
	cleanup_free struct image *images = NULL;
	const size_t n = list_images(target, &images);
	bool said = false;
	int result = -1;

	memset(out, 0, sizeof(*out));
	not_python(target, err);
	for (size_t i = 0; i < n && result < 0; i++) {
		struct pst_error here = { 0 };

		if (open_image(target, &images[i], &here) == 0)
			result = search_image(target, &images[i], abi_name, out, &here);
		pst_elf_close(images[i].elf);
		if (result < 0 && !said && says_something(&here, out)) {
			*err = here;
			said = true;
		}
		if (err->code == PST_ERR_GONE || err->code == PST_ERR_PERM)
			break;
	}
	out->dormant |=
		n && images[0].rank < OTHER_RANK && strstr(base_name(images[0].map), "python");
	if (result < 0 && has_ended(target)) {
		out->dormant |= said;
		pst_error_set(err, PST_ERR_GONE, 0, "process %d has ended", target->pid);
	}
	if (result < 0 && abi_name && err->code != PST_ERR_GONE)
		pst_error_wrap(err, "--abi %s", abi_name);
	if (result < 0)
		free(pst_steal(&out->image));
	else if (out->warning[0])
		pst_note_warn(&target->note, "%s", out->warning);
	return result;
}

bool pst_discover_still_dormant(const struct found *f, struct pst_target *target)
{
	struct pst_error ignored = { 0 };
	size_t n = 0;

	return f->head_word && check_interps(f, target->mem, &n, &ignored) == 0 && n == 0;
}

/* ---- children ---- */

static bool is_python(pid_t pid)
{
	struct pst_error ignored = { 0 };
	struct pst_target *target = pst_target_open(pid, NULL, &ignored);
	struct found found;
	bool yes;

	if (!target)
		return false;
	yes = pst_discover(target, NULL, &found, &ignored) == 0;
	free(found.image);
	pst_target_close(target);
	return yes;
}

/* Breadth first, and not without end: a process tree is the target's to grow. */
pid_t pst_python_child(pid_t pid)
{
	pid_t queue[256];
	size_t head = 0, tail = 0;

	queue[tail++] = pid;
	while (head < tail) {
		cleanup_free pid_t *children = NULL;
		const int n = pst_procfs_children(queue[head++], &children);

		for (int i = 0; i < n; i++) {
			if (is_python(children[i]))
				return children[i];
			if (tail < PST_ARRAY_SIZE(queue))
				queue[tail++] = children[i];
		}
	}
	return 0;
}
