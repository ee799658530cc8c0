/* Rows resolved for tests: what a process of such a version publishes about itself is made up here. */
#ifndef PYSTILL_TESTS_LAYOUTS_H
#define PYSTILL_TESTS_LAYOUTS_H

#include "image.h"
#include "pystill/abi.h"

/* The first of the values in _Py_DebugOffsets that are offsets and sizes. */
#define PUBLISHED_FIRST 24u

/* A _Py_DebugOffsets, as VERSION publishes it, in a block of its own; 0 when that version has none. */
pst_addr_t layouts_publish(struct image *image, uint32_t version);

/* Bytes of that block. */
size_t layouts_published_size(uint32_t version);

/* The row for a release build of VERSION on x86-64, or for another build; none fails the test. */
const struct pst_abi *layouts_row(uint32_t version);
const struct pst_abi *layouts_row_of(uint32_t version, enum pst_flavour flavour);

/* The release row, resolved with what such a process publishes; and any row, with its own numbers. */
struct pst_layout layouts_resolve(struct image *image, uint32_t version);
struct pst_layout layouts_fixed(const struct pst_abi *row);

#endif
