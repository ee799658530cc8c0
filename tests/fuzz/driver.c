/* Runs a fuzzer where there is no libFuzzer: over the files of a corpus, then over mutations of them.
 *     fuzz-x SECONDS FILE...
 * In 0 seconds each file is tried once, which keeps fuzzers alive in `make check`.  An input that crashes is
 * left behind as crash.bin. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "pystill/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INPUT 8192u

struct input {
	uint8_t *bytes;
	size_t size;
};

static uint64_t state = 88172645463325252u;

/* xorshift: the same sequence in every run. */
static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static struct input load(const char *path)
{
	struct input in = { pst_xmalloc(MAX_INPUT), 0 };
	FILE *f = fopen(path, "rbe");

	if (!f) {
		perror(path);
		exit(2);
	}
	in.size = fread(in.bytes, 1, MAX_INPUT, f);
	fclose(f);
	return in;
}

/* Values that lie at borders. */
static uint64_t odd_value(void)
{
	static const uint64_t values[] = { 0, 1, 7, 8, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff,
		UINT64_MAX, 1u << 20, 0x10000, 0x10008, INT64_MAX };

	return next_random() % 3 ? values[next_random() % PST_ARRAY_SIZE(values)]
				 : next_random() >> (next_random() % 64);
}

static void mutate_once(uint8_t *bytes, size_t *size)
{
	const uint64_t value = odd_value();
	size_t at = *size ? next_random() % *size : 0;

	switch (next_random() % 5) {
	case 0:
		if (*size)
			bytes[at] ^= (uint8_t)(1u << next_random() % 8);
		break;
	case 1:
		at &= ~(size_t)7;
		if (at + 8 <= *size)
			memcpy(bytes + at, &value, 8);
		break;
	case 2:
		if (at + 4 <= *size)
			memcpy(bytes + at, &value, 4);
		break;
	case 3: *size = at; break;
	case 4:
		if (*size + 8 <= MAX_INPUT) {
			memcpy(bytes + *size, &value, 8);
			*size += 8;
		}
		break;
	}
}

static void keep(const uint8_t *bytes, size_t size)
{
	FILE *f = fopen("crash.bin", "wbe");

	if (f) {
		fwrite(bytes, 1, size, f);
		fclose(f);
	}
}

static void fuzz(const struct input *corpus, size_t n, int64_t end_ns)
{
	uint64_t tries = 0;

	for (; pst_now_ns() < end_ns; tries++) {
		const struct input *seed = &corpus[next_random() % n];
		uint8_t *bytes = pst_xmalloc(MAX_INPUT), *exact;
		size_t size = seed->size;

		memcpy(bytes, seed->bytes, size);
		for (uint64_t i = next_random() % 8 + 1; i > 0; i--)
			mutate_once(bytes, &size);
		exact = pst_xmalloc(size); /* so that a sanitizer sees the end */
		memcpy(exact, bytes, size);
		keep(exact, size);
		LLVMFuzzerTestOneInput(exact, size);
		free(exact);
		free(bytes);
	}
	remove("crash.bin");
	printf("%llu inputs\n", (unsigned long long)tries);
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 0;
	const int first = 2;
	const size_t n = argc > first ? (size_t)(argc - first) : 0;
	struct input *corpus = pst_xcalloc(n, sizeof(*corpus));

	for (size_t i = 0; i < n; i++) {
		corpus[i] = load(argv[first + (int)i]);
		LLVMFuzzerTestOneInput(corpus[i].bytes, corpus[i].size);
	}
	if (n && seconds > 0)
		fuzz(corpus, n, pst_now_ns() + (int64_t)(seconds * 1e9));
	for (size_t i = 0; i < n; i++)
		free(corpus[i].bytes);
	free(corpus);
	return n == 0;
}
