/* Reading images: text, line by line, then pages with the bytes that are known. */
#include "saved.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u

struct saved_page {
	pst_addr_t addr;
	size_t n_known;
	unsigned char *bytes, *known; /* PAGE of each */
};

struct saved_piece {
	pst_addr_t addr;
	size_t size;
	size_t first; /* number of its first byte */
};

/* What was there before. */
struct saved_change {
	pst_addr_t addr;
	unsigned char byte, known;
};

/* ---- pages ---- */

static struct saved_page *find_page(const struct saved *s, pst_addr_t addr)
{
	const pst_addr_t page = addr - addr % PAGE;
	size_t lo = 0, hi = s->n_pages;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (s->pages[mid].addr < page)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n_pages && s->pages[lo].addr == page ? &s->pages[lo] : NULL;
}

/* Are N bytes of PAGE, from number AT on, there for a read of this kind? */
static bool are_there(
	const struct saved *s, const struct saved_page *page, size_t at, size_t n, bool whole_pages)
{
	if (!page || !page->n_known)
		return false;
	return whole_pages || !s->exact || !memchr(page->known + at, 0, n);
}

static bool read_range(const struct saved *s, const struct pst_range *r)
{
	const bool whole_pages = r->addr % PAGE == 0 && r->size % PAGE == 0;
	size_t n;

	for (size_t done = 0; done < r->size; done += n) {
		const struct saved_page *page = find_page(s, r->addr + done);
		const size_t at = (r->addr + done) % PAGE;

		n = r->size - done < PAGE - at ? r->size - done : PAGE - at;
		if (!are_there(s, page, at, n, whole_pages))
			return false;
		memcpy((char *)r->buf + done, page->bytes + at, n);
	}
	return true;
}

static int saved_readv(
	struct pst_mem *mem, const struct pst_range *ranges, size_t n, struct pst_error *err)
{
	struct saved *s = (struct saved *)mem;

	if (++s->calls >= s->limit && s->limit)
		return pst_error_set(err, PST_ERR_GONE, 0, "the image was read too often");
	for (size_t i = 0; i < n; i++)
		if (!read_range(s, &ranges[i]))
			return (int)i;
	return (int)n;
}

static void do_nothing(struct pst_mem *mem)
{
	(void)mem;
}

static const struct pst_mem_ops saved_ops = {
	.name = "saved image",
	.readv = saved_readv,
	.close = do_nothing,
};

void saved_fill(struct saved *s, int value)
{
	uint64_t state = 1;

	for (size_t i = 0; i < s->n_pages; i++)
		for (size_t k = 0; k < PAGE; k++)
			if (!s->pages[i].known[k])
				s->pages[i].bytes[k] =
					(unsigned char)(value < 0 ? unit_random(&state) >> 8
								  : (uint32_t)value);
}

size_t saved_run(const struct saved *s, pst_addr_t addr)
{
	const struct saved_page *page = find_page(s, addr);
	size_t n = 0;

	while (page && page->known[(addr + n) % PAGE])
		page = find_page(s, addr + ++n);
	return n;
}

/* ---- changes ---- */

static void change(struct saved *s, pst_addr_t addr, unsigned char byte, bool known)
{
	struct saved_page *page = find_page(s, addr);
	const size_t at = addr % PAGE;

	MUST(page != NULL);
	s->changes = pst_grow(s->changes, &s->cap_changes, s->n_changes + 1, sizeof(*s->changes));
	s->changes[s->n_changes++] =
		(struct saved_change){ addr, page->bytes[at], page->known[at] };
	page->n_known += known - page->known[at];
	page->bytes[at] = byte;
	page->known[at] = known;
}

void saved_put(struct saved *s, pst_addr_t addr, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (find_page(s, addr + i))
			change(s, addr + i, ((const unsigned char *)bytes)[i], true);
}

/* The piece that FROM is in becomes unknown, and with REST all behind it. */
static void forget(struct saved *s, pst_addr_t from, bool rest)
{
	for (size_t i = 0; i < s->n_pieces; i++) {
		const struct saved_piece *p = &s->pieces[i];

		if (p->addr + p->size <= from)
			continue;
		for (size_t k = 0; k < p->size; k++)
			change(s, p->addr + k, 0xdb, false);
		if (!rest)
			return;
	}
}

void saved_undo(struct saved *s)
{
	while (s->n_changes) {
		const struct saved_change *c = &s->changes[--s->n_changes];
		struct saved_page *page = find_page(s, c->addr);
		const size_t at = c->addr % PAGE;

		page->n_known += c->known - page->known[at];
		page->bytes[at] = c->byte;
		page->known[at] = c->known;
	}
}

/* ---- damage ---- */

/* The address of known byte NUMBER. */
static pst_addr_t known_address(const struct saved *s, size_t number)
{
	size_t lo = 0, hi = s->n_pieces;

	while (hi - lo > 1) {
		const size_t mid = lo + (hi - lo) / 2;

		if (s->pieces[mid].first <= number)
			lo = mid;
		else
			hi = mid;
	}
	return s->pieces[lo].addr + (number - s->pieces[lo].first);
}

static size_t choose(uint64_t *state, size_t n)
{
	return unit_random(state) % n;
}

/* Words that lead somewhere, nowhere or too far. */
static uint64_t choose_word(const struct saved *s, uint64_t *state)
{
	static const uint64_t words[] = { 0, 1, 2, 3, 7, 8, 64, 255, 4096, 65535, 65536, 1u << 20,
		0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, INT64_MAX, 1ull << 63, UINT64_MAX,
		UINT64_MAX - 7 };
	const size_t n = choose(state, 2 * PST_ARRAY_SIZE(words));

	return n < PST_ARRAY_SIZE(words) ? words[n]
					 : known_address(s, choose(state, s->n_bytes)) & ~7ull;
}

/* The address of a word that points to something known, and the word; 0 when none was met. */
static pst_addr_t choose_pointer(const struct saved *s, uint64_t *state, pst_addr_t *word)
{
	for (int tries = 0; tries < 64; tries++) {
		const pst_addr_t at = known_address(s, choose(state, s->n_bytes)) & ~7ull;

		if (saved_run(s, at) < sizeof(*word))
			continue;
		memcpy(word, find_page(s, at)->bytes + at % PAGE, sizeof(*word));
		if (saved_run(s, *word) >= sizeof(*word))
			return at;
	}
	return 0;
}

/* A pointer that leads to where another one leads, or to itself: rings, and objects of another kind. */
static void damage_pointer(struct saved *s, uint64_t *state)
{
	pst_addr_t word;
	const pst_addr_t other = choose_pointer(s, state, &word),
			 at = choose(state, 4) ? choose_pointer(s, state, &(pst_addr_t){ 0 }) : 0;

	if (other)
		saved_put(s, at ? at : other, at ? &word : &other, sizeof(word));
}

void saved_damage(struct saved *s, uint64_t *state)
{
	const size_t how = choose(state, 16);
	const pst_addr_t addr = known_address(s, choose(state, s->n_bytes));
	const uint64_t word = choose_word(s, state);
	const unsigned char byte = (unsigned char)unit_random(state);

	if (how == 0)
		forget(s, addr, true);
	else if (how <= 2)
		forget(s, addr, false);
	else if (how <= 6)
		saved_put(s, addr, &byte, sizeof(byte));
	else if (how <= 10)
		saved_put(s, addr & ~7ull, &word, sizeof(word));
	else
		damage_pointer(s, state);
}

/* ---- the file ---- */

/* Images are ascending: a new page is the last one. */
static void add_byte(struct saved *s, pst_addr_t addr, unsigned char byte)
{
	struct saved_page *page = find_page(s, addr);

	if (!page) {
		MUST(!s->n_pages || s->pages[s->n_pages - 1].addr < addr);
		s->pages = pst_grow(s->pages, &s->cap_pages, s->n_pages + 1, sizeof(*s->pages));
		page = &s->pages[s->n_pages++];
		*page = (struct saved_page){ addr - addr % PAGE, 0, pst_xcalloc(PAGE, 1),
			pst_xcalloc(PAGE, 1) };
	}
	MUST(!page->known[addr % PAGE]);
	page->bytes[addr % PAGE] = byte;
	page->known[addr % PAGE] = 1;
	page->n_known++;
}

static unsigned nibble(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	MUST(at != NULL);
	return (unsigned)(at - digits);
}

/* ADDRESS BYTES */
static void take_mem(struct saved *s, char *value)
{
	char *hex;
	const pst_addr_t addr = strtoull(value, &hex, 16);
	struct saved_piece *piece;

	MUST(*hex++ == ' ' && *hex && strlen(hex) % 2 == 0);
	s->pieces = pst_grow(s->pieces, &s->cap_pieces, s->n_pieces + 1, sizeof(*s->pieces));
	piece = &s->pieces[s->n_pieces++];
	*piece = (struct saved_piece){ addr, strlen(hex) / 2, s->n_bytes };
	s->n_bytes += piece->size;
	for (size_t i = 0; i < piece->size; i++)
		add_byte(s, addr + i,
			(unsigned char)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1])));
}

/* IDENT NAME */
static void take_thread(struct saved *s, char *value)
{
	struct saved_thread *t;
	char *name;

	s->threads = pst_grow(s->threads, &s->cap_threads, s->n_threads + 1, sizeof(*s->threads));
	t = &s->threads[s->n_threads++];
	*t = (struct saved_thread){ .ident = strtoull(value, &name, 10) };
	MUST(*name == ' ');
	t->name = name + 1;
}

/* FILE, FUNCTION and LINE, with tabs between them */
static void take_frame(struct saved *s, char *value)
{
	char *function = strchr(value, '\t'), *line = function ? strchr(function + 1, '\t') : NULL;
	struct saved_thread *t;

	MUST(s->n_threads && line);
	t = &s->threads[s->n_threads - 1];
	*function++ = *line++ = '\0';
	t->frames = pst_grow(t->frames, &t->cap, t->n + 1, sizeof(*t->frames));
	t->frames[t->n++] = (struct saved_frame){ value, function, atoi(line) };
}

/* SYMBOL ADDRESS */
static void take_root(struct saved *s, char *value)
{
	char *addr = strchr(value, ' ');
	bool known = false;

	MUST(addr != NULL);
	*addr++ = '\0';
	for (size_t i = 0; i < pst_root_symbols_count; i++) {
		if (strcmp(pst_root_symbols[i].name, value) != 0)
			continue;
		*(pst_addr_t *)((char *)&s->roots + pst_root_symbols[i].root) =
			strtoull(addr, NULL, 16);
		known = true;
	}
	MUST(known);
}

static void take_version(struct saved *s, char *value)
{
	s->key.version = (uint32_t)strtoul(value, NULL, 16);
}

static void take_abi(struct saved *s, char *value)
{
	s->abi = value;
}

static void take_flavour(struct saved *s, char *value)
{
	s->key.flavour = (enum pst_flavour)atoi(value);
}

static void take_machine(struct saved *s, char *value)
{
	s->key.machine = (unsigned)atoi(value);
}

static void take_word_bytes(struct saved *s, char *value)
{
	s->mem.word_bytes = (unsigned)atoi(value);
	s->key.word_bits = s->mem.word_bytes * 8;
}

static const struct {
	const char *key;
	void (*take)(struct saved *s, char *value);
} keys[] = {
	{ "thread", take_thread },
	{ "frame", take_frame },
	{ "version", take_version },
	{ "abi", take_abi },
	{ "flavour", take_flavour },
	{ "machine", take_machine },
	{ "word_bytes", take_word_bytes },
	{ "root", take_root },
	{ "mem", take_mem },
};

static void take_line(struct saved *s, char *line)
{
	char *value = strchr(line, ' ');
	bool known = false;

	MUST(value != NULL);
	*value++ = '\0';
	for (size_t i = 0; i < PST_ARRAY_SIZE(keys) && !known; i++) {
		known = strcmp(keys[i].key, line) == 0;
		if (known)
			keys[i].take(s, value);
	}
	MUST(known);
}

/* From the build, which may be anywhere, or from the top of the source tree. */
char *saved_folder(void)
{
	const char *top = getenv("top_srcdir");

	if (!top)
		top = getenv("srcdir");
	return pst_xasprintf("%s/tests/images", top ? top : ".");
}

bool saved_open(struct saved *s, const char *name)
{
	cleanup_free char *folder = saved_folder();
	cleanup_free char *file = pst_xasprintf("%s.image", name);
	cleanup_free char *path = unit_path(folder, file);
	char *rest, *line;

	memset(s, 0, sizeof(*s));
	s->mem.ops = &saved_ops;
	s->text = unit_read_file(path, NULL);
	if (!s->text)
		return false;
	rest = s->text;
	for (line = strsep(&rest, "\n"); rest; line = strsep(&rest, "\n"))
		take_line(s, line);
	MUST(!*line); /* nothing was cut off */
	MUST(s->abi && s->n_threads && s->n_pieces && s->mem.word_bytes);
	saved_fill(s, 0xdb);
	return true;
}

void saved_close(struct saved *s)
{
	for (size_t i = 0; i < s->n_threads; i++)
		free(s->threads[i].frames);
	for (size_t i = 0; i < s->n_pages; i++) {
		free(s->pages[i].bytes);
		free(s->pages[i].known);
	}
	free(s->threads);
	free(s->pages);
	free(s->pieces);
	free(s->changes);
	free(s->text);
	memset(s, 0, sizeof(*s));
}
