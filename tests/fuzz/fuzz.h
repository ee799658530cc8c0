/* What a fuzzer has: the entry that both libFuzzer and our own driver (driver.c) call. */
#ifndef PYSTILL_FUZZ_H
#define PYSTILL_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
