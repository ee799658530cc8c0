/* A program that looks like Python from outside and is none: fake MODE.  With -DSYMBOL=name the block is found by
 * that symbol, else only by what is in it. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef SYMBOL
#define SYMBOL some_data
#endif

uint64_t SYMBOL[1024] = { 1 }; /* not zero, so that it lies in .data */

static void describe(uint64_t *at, uint64_t version)
{
	memcpy(at, "xdebugpy", 8);
	at[1] = version;
	at[2] = 0;
}

static void fill(uint64_t value)
{
	for (size_t i = 3; i < 1024; i++)
		SYMBOL[i] = value;
}

/* Numbers that are small enough for offsets, and pointers into the block itself. */
static void fill_plausible(void)
{
	for (size_t i = 3; i < 1024; i++)
		SYMBOL[i] = i < 128 ? (i * 8) % 4096 : (uint64_t)(uintptr_t)&SYMBOL[i % 512];
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "zeros";

	describe(SYMBOL, 0x030d05f0);
	fill(0);
	if (!strcmp(mode, "garbage"))
		for (size_t i = 3; i < 1024; i++)
			SYMBOL[i] = i * 0x9e3779b97f4a7c15u;
	else if (!strcmp(mode, "huge"))
		fill(UINT64_MAX);
	else if (!strcmp(mode, "large"))
		fill(1u << 20);
	else if (!strcmp(mode, "plausible"))
		fill_plausible();
	else if (!strcmp(mode, "version-9.9"))
		describe(SYMBOL, 0x090900f0);
	else if (!strcmp(mode, "version-3.99"))
		describe(SYMBOL, 0x036300f0);
	else if (!strcmp(mode, "no-cookie"))
		memset(SYMBOL, 0, sizeof(SYMBOL));
	else if (!strcmp(mode, "wrong-place")) {
		memset(SYMBOL, 0, sizeof(SYMBOL));
		describe(SYMBOL + 1000, 0x030e0af0);
	} else if (!strcmp(mode, "end")) {
		memset(SYMBOL, 0, sizeof(SYMBOL));
		memcpy(SYMBOL + 1023, "xdebugpy", 8);
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
