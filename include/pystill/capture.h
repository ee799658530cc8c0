/* What a run saw, as every writer reads it.  Samples go in one by one and come out as records; this capture
 * lives in memory, bounded by distinct stacks, unless it is asked to keep the order of time too. */
#ifndef PYSTILL_CAPTURE_H
#define PYSTILL_CAPTURE_H

#include "pystill/error.h"
#include "pystill/meter.h"
#include "pystill/sample.h"

struct pst_capture;

/* With TIMELINE it can be read in order of time: some 6 bytes more for each thread in each sample. */
struct pst_capture *pst_capture_create(bool timeline);
void pst_capture_close(struct pst_capture *capture);

/* The names that the ids of added samples belong to. */
struct pst_names *pst_capture_names(struct pst_capture *capture);

/* Count one sample.  A sample without threads to show is idle, and so is a thread without frames. */
void pst_capture_add(struct pst_capture *capture, const struct pst_sample *sample);

/* Count a sample that was wanted at TIME_NS (CLOCK_MONOTONIC) and not got. */
void pst_capture_fail(struct pst_capture *capture, enum pst_fail why, int64_t time_ns);

/* How many of what there are. */
struct pst_capture_counts {
	uint64_t samples;         /* moments at which the process was looked at */
	uint64_t exact, unproved; /* stacks */
	uint64_t idle;            /* moments without a stack */
	uint64_t failed[PST_FAIL_COUNT];
	uint64_t failures; /* the sum of these */
	uint64_t missed;   /* moments that were skipped since we were late */
};
const struct pst_capture_counts *pst_capture_counts(const struct pst_capture *capture);
void pst_capture_missed(struct pst_capture *capture, uint64_t n);

struct pst_run_stats;

/* Say how the runs went that filled it; until then the meter knows the counts alone. */
void pst_capture_set_stats(struct pst_capture *capture, const struct pst_run_stats *stats);
struct pst_meter pst_capture_meter(const struct pst_capture *capture);

/* ---- reading ---- */

enum pst_record_kind { PST_RECORD_STACK, PST_RECORD_IDLE, PST_RECORD_FAILED };

/* One distinct thing that was seen COUNT times; in order of time one thread in one sample (COUNT is 1), or a
 * moment that was idle or failed.  Pointers are valid until the next call. */
struct pst_record {
	enum pst_record_kind kind;
	uint64_t count;
	int64_t epoch_us; /* microseconds since the epoch; in order of time only */
	pid_t tid;        /* of a stack, as the next ones */
	pst_addr_t ident;
	pst_name_id name;
	bool holds_gil;         /* in order of time only */
	struct pst_stack stack; /* may be empty in order of time: a thread without Python frames */
};

struct pst_capture_reader;

/* Read by distinct stacks, or in order of time (only a capture with a timeline).  CAPTURE is borrowed, and must
 * not be added to while it is read. */
enum pst_order { PST_BY_STACK, PST_BY_TIME };
struct pst_capture_reader *pst_capture_open(
	const struct pst_capture *capture, enum pst_order order);
void pst_capture_reader_close(struct pst_capture_reader *reader);

/* The next record.  Returns 1, or 0 at the end. */
int pst_capture_next(struct pst_capture_reader *reader, struct pst_record *out);
void pst_capture_rewind(struct pst_capture_reader *reader);
const struct pst_names *pst_capture_reader_names(const struct pst_capture_reader *reader);
struct pst_meter pst_capture_reader_meter(const struct pst_capture_reader *reader);

#endif
