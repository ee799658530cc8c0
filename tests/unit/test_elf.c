/* ELF files: this program itself, files that are made up here, and broken ones. */
#define _GNU_SOURCE
#include "elf_file.h"
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A symbol of this program that the tests look for. */
int unit_landmark = 42;

static struct pst_elf *open_path(const char *path)
{
	struct pst_error err = { 0 };
	struct pst_elf *elf = pst_elf_open(open(path, O_RDONLY | O_CLOEXEC), path, &err);

	REQUIRE(elf != NULL);
	return elf;
}

/* ---- this program ---- */

static pst_addr_t own_bias(const struct pst_elf *elf)
{
	struct pst_error err = { 0 };
	struct pst_maps maps;
	const struct pst_map *map;
	pst_addr_t bias = 1;

	REQUIRE(pst_maps_load(&maps, getpid(), &err) == 0);
	map = pst_maps_find(&maps, (pst_addr_t)(uintptr_t)&unit_landmark);
	REQUIRE(map != NULL);
	CHECK_DONE(pst_elf_bias(elf, &maps, map, &bias, &err), &err);
	pst_maps_fini(&maps);
	return bias;
}

static void test_own_symbols(void)
{
	const char *names[] = { "unit_landmark", "no_such_symbol_anywhere", "main", "CU_add_test" };
	struct pst_elf *elf = open_path("/proc/self/exe");
	const pst_addr_t bias = own_bias(elf);
	struct pst_symbol found[4];

	CHECK_INT(pst_elf_symbols(elf, names, 4, found), 2);
	CHECK(bias + found[0].value == (pst_addr_t)(uintptr_t)&unit_landmark);
	CHECK_INT(found[0].size, sizeof(unit_landmark));
	CHECK_INT(found[1].value, 0);
	CHECK(found[2].value != 0 && found[2].size > 0);
	CHECK_INT(found[3].value, 0);
	CHECK_INT(pst_elf_symbols(elf, names, 0, found), 0);
	pst_elf_close(elf);
	pst_elf_close(NULL);
}

static void test_own_sections(void)
{
	struct pst_elf *elf = open_path("/proc/self/exe");
	const pst_addr_t at = (pst_addr_t)(uintptr_t)&unit_landmark - own_bias(elf);
	struct pst_symbol section = { 0 };

	CHECK(pst_elf_section(elf, ".data", &section));
	CHECK(at >= section.value && at < section.value + section.size);
	CHECK(pst_elf_section(elf, ".text", &section));
	CHECK(section.value && section.size);
	CHECK(!pst_elf_section(elf, ".symtab", &section)); /* not in memory */
	CHECK(!pst_elf_section(elf, ".tex", &section));
	CHECK(!pst_elf_section(elf, "", &section));
	pst_elf_close(elf);
}

static void test_own_segments(void)
{
	struct pst_elf *elf = open_path("/proc/self/exe");
	const pst_addr_t at = (pst_addr_t)(uintptr_t)&unit_landmark - own_bias(elf);
	const struct pst_segment *v;
	const size_t n = pst_elf_segments(elf, &v);
	size_t holds = 0, executable = 0;

	for (size_t i = 0; i < n; i++) {
		executable += v[i].executable;
		if (at < v[i].vaddr || at >= v[i].vaddr + v[i].mem_size)
			continue;
		CHECK(v[i].writable && !v[i].executable);
		holds++;
	}
	CHECK_INT(holds, 1);
	CHECK(executable >= 1);
	CHECK_INT(pst_elf_word_bits(elf), 8 * sizeof(void *));
	pst_elf_close(elf);
}

/* ---- a file that is made up ---- */

static struct pst_elf *open_bytes(const void *bytes, size_t len, struct pst_error *err)
{
	const int fd = memfd_create("unit", MFD_CLOEXEC);

	REQUIRE(fd >= 0);
	REQUIRE(write(fd, bytes, len) == (ssize_t)len);
	return pst_elf_open(fd, "made up", err);
}

static struct pst_elf *open_made(const struct elf_file *file)
{
	struct pst_error err = { 0 };
	struct pst_elf *elf = open_bytes(file, sizeof(*file), &err);

	REQUIRE(elf != NULL);
	return elf;
}

static void test_made_symbols(void)
{
	static const struct {
		const char *name;
		pst_addr_t value;
		uint64_t size;
	} rows[] = { { "in_dynsym", 0x404010, 100 }, { "in_both", 0x404020, 7 },
		{ "in_symtab", 0x404030, 8 }, { "undefined", 0, 0 }, { "at_zero", 0, 0 },
		{ "in_dyn", 0, 0 }, { "", 0, 0 } };
	const struct elf_file file = elf_file_make();
	struct pst_elf *elf = open_made(&file);
	const char *names[PST_ARRAY_SIZE(rows)];
	struct pst_symbol found[PST_ARRAY_SIZE(rows)];

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++)
		names[i] = rows[i].name;
	CHECK_INT(pst_elf_symbols(elf, names, PST_ARRAY_SIZE(rows), found), 3);
	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		unit_row("%s", rows[i].name);
		CHECK_INT(found[i].value, rows[i].value);
		CHECK_INT(found[i].size, rows[i].size);
	}
	pst_elf_close(elf);
}

static void test_made_parts(void)
{
	static const struct pst_segment wanted[] = {
		{ 0, 0x400000, 0x800, 0x800, false, false },
		{ 0x1234, 0x402234, 0x100, 0x100, false, true },
		{ 0x2010, 0x404010, 0x10, 0x500, true, false },
	};
	const struct elf_file file = elf_file_make();
	struct pst_elf *elf = open_made(&file);
	const struct pst_segment *v;
	struct pst_symbol section;

	CHECK_INT(pst_elf_word_bits(elf), 64);
	CHECK_INT(pst_elf_machine(elf), EM_AARCH64);
	REQUIRE(pst_elf_segments(elf, &v) == 3);
	for (size_t i = 0; i < 3; i++) {
		unit_row("segment %zu", i);
		CHECK_INT(v[i].offset, wanted[i].offset);
		CHECK_INT(v[i].vaddr, wanted[i].vaddr);
		CHECK_INT(v[i].file_size, wanted[i].file_size);
		CHECK_INT(v[i].mem_size, wanted[i].mem_size);
		CHECK_INT(v[i].writable, wanted[i].writable);
		CHECK_INT(v[i].executable, wanted[i].executable);
	}
	CHECK(pst_elf_section(elf, ".PyRuntime", &section));
	CHECK_INT(section.value, 0x404100);
	CHECK_INT(section.size, 0x300);
	CHECK(!pst_elf_section(elf, ".symtab", &section));
	pst_elf_close(elf);
}

static void test_32_bits(void)
{
	const Elf32_Ehdr head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32,
					  ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_386,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(head) };
	struct pst_error err = { 0 };
	struct pst_elf *elf = open_bytes(&head, sizeof(head), &err);
	const struct pst_segment *v;
	struct pst_symbol section;

	REQUIRE(elf != NULL);
	CHECK_INT(pst_elf_word_bits(elf), 32);
	CHECK_INT(pst_elf_machine(elf), EM_386);
	CHECK_INT(pst_elf_segments(elf, &v), 0);
	CHECK(!pst_elf_section(elf, ".text", &section));
	pst_elf_close(elf);
}

/* ---- where it lies ---- */

#define FILE_1 .dev = 1, .inode = 5, .path = "/x"
#define FILE_2 .dev = 1, .inode = 6, .path = "/y"
#define R_X    PST_MAP_READ | PST_MAP_EXEC

/* The executable mapping of the file decides. */
static void test_bias(void)
{
	struct pst_map v[] = {
		{ 0x10000, 0x13000, 0, .flags = PST_MAP_READ, FILE_1 },      /* as data, lower */
		{ 0x20000, 0x22000, 0x1000, .flags = PST_MAP_READ, FILE_1 }, /* its code, as data */
		{ 0x30000, 0x32000, 0x1000, .flags = R_X, FILE_2 },          /* another file */
		{ 0x40000, 0x41000, 0x3000, .flags = R_X, FILE_1 },          /* another part */
		{ 0x7f0000400000, 0x7f0000401000, 0, .flags = PST_MAP_READ, FILE_1 },
		{ 0x7f0000402000, 0x7f0000403000, 0x1000, .flags = R_X, FILE_1 },
		{ 0x7f0000404000, 0x7f0000405000, 0x2000, .flags = PST_MAP_WRITE, FILE_1 },
	};
	const struct pst_maps maps = { .v = v, .n = PST_ARRAY_SIZE(v) };
	const struct elf_file file = elf_file_make();
	struct pst_elf *elf = open_made(&file);
	struct pst_error err = { 0 };

	for (size_t i = 0; i < maps.n; i++) {
		pst_addr_t bias = 1;

		unit_row("mapping %zu", i);
		if (v[i].inode == 6)
			continue;
		CHECK_DONE(pst_elf_bias(elf, &maps, &v[i], &bias, &err), &err);
		CHECK_INT(bias, 0x7f0000000000);
	}
	pst_elf_close(elf);
}

/* An image at its link-time addresses has bias 0; one below them a "negative" one. */
static void test_bias_low(void)
{
	const struct elf_file file = elf_file_make();
	struct pst_elf *elf = open_made(&file);
	struct pst_map v = { 0x402000, 0x403000, 0x1000, .flags = R_X, FILE_1 };
	const struct pst_maps maps = { .v = &v, .n = 1 };
	struct pst_error err = { 0 };
	pst_addr_t bias = 1;

	CHECK_DONE(pst_elf_bias(elf, &maps, &v, &bias, &err), &err);
	CHECK_INT(bias, 0);
	v.start = 0x302000;
	CHECK_DONE(pst_elf_bias(elf, &maps, &v, &bias, &err), &err);
	CHECK(bias + 0x402234 == 0x302234);
	pst_elf_close(elf);
}

static void test_no_bias(void)
{
	const struct elf_file file = elf_file_make();
	struct pst_elf *elf = open_made(&file);
	struct pst_map v[] = {
		{ 0x10000, 0x13000, 0x1000, .flags = PST_MAP_READ, FILE_1 },
		{ 0x30000, 0x32000, 0x1000, .flags = R_X, FILE_2 },
		{ 0x40000, 0x42000, 0x2000, .flags = R_X, FILE_1 },
	};
	const struct pst_maps maps = { .v = v, .n = 3 }, none = { 0 };
	struct pst_error err = { 0 };
	pst_addr_t bias = 1;

	CHECK_ERROR(pst_elf_bias(elf, &maps, &v[0], &bias, &err), &err, PST_ERR_OTHER);
	CHECK(strstr(err.msg, "/x") != NULL);
	CHECK_ERROR(pst_elf_bias(elf, &none, &v[0], &bias, &err), &err, PST_ERR_OTHER);
	pst_elf_close(elf);
}

/* ---- broken files ---- */

/* Nothing may be believed of such a file but what is looked up in it, and nothing may crash. */
static void use(struct pst_elf *elf)
{
	const char *names[] = { "in_dynsym", "in_symtab", "unit_landmark" };
	const struct pst_map map = { 0x1000, 0x2000, 0x1000, .flags = R_X, FILE_1 };
	struct pst_map copy = map;
	const struct pst_maps maps = { .v = &copy, .n = 1 };
	const struct pst_segment *v;
	struct pst_symbol found[3];
	struct pst_error err = { 0 };
	pst_addr_t bias;

	CHECK(pst_elf_symbols(elf, names, 3, found) <= 3);
	pst_elf_section(elf, ".PyRuntime", &found[0]);
	CHECK(pst_elf_segments(elf, &v) < 5000);
	pst_elf_bias(elf, &maps, &map, &bias, &err);
	CHECK(pst_elf_word_bits(elf) == 64 || pst_elf_word_bits(elf) == 32);
}

static void test_no_elf(void)
{
	static const char *const texts[] = { "", "x", "#!/usr/bin/python3\n",
		"\x7f"
		"ELF",
		"\x7f"
		"ELF\2\1\1",
		"!<arch>\nfoo/            0           0     0     644     0         `\n" };

	for (size_t i = 0; i < PST_ARRAY_SIZE(texts); i++) {
		const int fd = memfd_create("unit", MFD_CLOEXEC);
		struct pst_error err = { 0 };

		REQUIRE(fd >= 0);
		REQUIRE(write(fd, texts[i], strlen(texts[i])) >= 0);
		unit_row("%zu", i);
		CHECK(pst_elf_open(fd, "/a/file", &err) == NULL);
		CHECK_INT(err.code, PST_ERR_OTHER);
		CHECK(strstr(err.msg, "/a/file") != NULL);
		CHECK(fcntl(fd, F_GETFD) == -1 && errno == EBADF);
	}
}

static void test_descriptor_is_taken(void)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct pst_error err = { 0 };
	struct pst_elf *elf = pst_elf_open(fd, "x", &err);

	CHECK(fcntl(fd, F_GETFD) >= 0);
	pst_elf_close(elf);
	CHECK_INT(fcntl(fd, F_GETFD), -1);
}

/* A copy that ends early opens or is refused; what is found in it is right. */
static void check_cut(const char *bytes, size_t len, pst_addr_t landmark)
{
	const char *name = "unit_landmark";
	struct pst_error err = { 0 };
	struct pst_elf *elf = open_bytes(bytes, len, &err);
	struct pst_symbol found;

	unit_row("cut to %zu bytes", len);
	if (!elf) {
		CHECK_INT(err.code, PST_ERR_OTHER);
		return;
	}
	CHECK(len >= sizeof(Elf64_Ehdr));
	if (pst_elf_symbols(elf, &name, 1, &found))
		CHECK_INT(found.value, landmark);
	use(elf);
	pst_elf_close(elf);
}

static void test_cut(void)
{
	static const size_t first[] = { 0, 1, 3, 4, 15, 16, 20, 51, 52, 63, 64, 65, 100, 119, 120,
		200, 500, 1000, 4095, 4096, 4097 };
	size_t len;
	cleanup_free char *bytes = unit_read_file("/proc/self/exe", &len);
	const char *name = "unit_landmark";
	struct pst_elf *elf = open_path("/proc/self/exe");
	struct pst_symbol found;

	REQUIRE(bytes != NULL);
	CHECK_INT(pst_elf_symbols(elf, &name, 1, &found), 1);
	pst_elf_close(elf);
	for (size_t i = 0; i < PST_ARRAY_SIZE(first); i++)
		check_cut(bytes, first[i], found.value);
	for (size_t tenth = 1; tenth < 10; tenth++)
		check_cut(bytes, len / 10 * tenth, found.value);
	for (size_t less = 0; less < 200; less += 7)
		check_cut(bytes, len - less, found.value);
}

static void test_made_cut(void)
{
	const struct elf_file file = elf_file_make();

	for (size_t len = 0; len < sizeof(file); len++)
		check_cut((const char *)&file, len, 0);
}

/* Any byte may be wrong, and several at once. */
static void test_damaged(void)
{
	const struct elf_file good = elf_file_make();
	uint64_t seed = 7;

	for (int round = 0; round < 6000; round++) {
		struct elf_file file = good;
		struct pst_error err = { 0 };
		struct pst_elf *elf;

		for (uint32_t n = 1 + unit_random(&seed) % 3; n > 0; n--)
			((unsigned char *)&file)[5 + unit_random(&seed) % (sizeof(file) - 5)] =
				(unsigned char)(unit_random(&seed) % 4 ? unit_random(&seed) : 0xff);
		elf = open_bytes(&file, sizeof(file), &err);
		if (elf)
			use(elf);
		pst_elf_close(elf);
	}
}

static CU_TestInfo tests[] = {
	{ "this program: symbols", test_own_symbols },
	{ "this program: sections", test_own_sections },
	{ "this program: segments", test_own_segments },
	{ "made up: symbols", test_made_symbols },
	{ "made up: segments and sections", test_made_parts },
	{ "made up: 32 bits", test_32_bits },
	{ "bias", test_bias },
	{ "bias of a low image", test_bias_low },
	{ "no bias", test_no_bias },
	{ "no ELF file", test_no_elf },
	{ "the descriptor is taken over", test_descriptor_is_taken },
	{ "this program, cut off", test_cut },
	{ "made up, cut off", test_made_cut },
	{ "made up, damaged", test_damaged },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_elf = { "elf", NULL, NULL, NULL, NULL, tests };
