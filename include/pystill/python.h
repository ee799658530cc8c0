/* An interpreter found in a target: its threads, who holds its GIL, and the stacks.  Reading happens in two
 * steps: raw bytes first (safe while a thread is stopped: nothing is allocated), names and lines later. */
#ifndef PYSTILL_PYTHON_H
#define PYSTILL_PYTHON_H

#include "pystill/abi.h"
#include "pystill/sample.h"
#include "pystill/target.h"
#include "pystill/view.h"

struct pst_code_cache;
struct found;

/* One thread state of the target. */
struct pst_pythread {
	size_t index; /* in pst_python.threads */
	pst_addr_t state, interp;
	pst_addr_t ident;       /* pthread_self() */
	int32_t inner_tid;      /* the kernel's id in the target's pid namespace (3.11+) */
	pid_t tid;              /* in ours; 0 unknown */
	pst_name_id name;       /* as threading has it; see pst_python_find_names() */
	bool attached;          /* it ran Python when it was listed (free-threaded builds) */
	size_t gil;             /* index in pst_python.gils */
	struct pst_watch watch; /* open when tid is known */
	struct pst_pages pages; /* what its stack needed last time */
	/* Its last accepted stack, and what that was resolved to (func 0: not shown): frames that are equal need
	 * not be looked up again.  Their codes were checked last at checked_ns. */
	struct pst_raw_stack last;
	struct pst_frame *last_frames;
	int64_t checked_ns;
	/* While that was read the thread rested, and had been scheduled so often: as long as it has not been since, the
	 * stack is the same. */
	int64_t looked_ns; /* when it was read last with all pages known, in a stop; 0: not so */
	uint64_t serial;   /* of that stack, as in pst_thread_sample */
	bool rested;
	uint64_t rested_runs;
	uint64_t seen_runs; /* how often it had been scheduled at the last sample */
};

struct pst_python {
	struct pst_target *target; /* borrowed */
	struct pst_names *names;   /* borrowed */
	struct pst_layout layout;
	struct pst_roots roots;
	pst_addr_t head_word; /* its value is the newest interpreter */
	uint32_t version;     /* PY_VERSION_HEX */
	const char *abi_name; /* forced by the user, or NULL */
	bool found;           /* the above holds */
	bool seen;            /* it did so at some time */
	bool dormant; /* not found, but a Python was there, or may come, that is not initialised */
	struct found *pending; /* what was dormant, or NULL: it is looked at first */
	bool misfit;        /* not found, but one that makes no sense, as while it starts or ends */
	bool searched;      /* in vain, with the images that IMAGES stands for */
	uint32_t images;    /* what the map of the process showed when it was searched last */
	const char *finder; /* the row that found it */
	char *image;        /* the file it was found in */
	struct pst_pythread **threads;
	size_t n_threads, cap_threads;
	uint64_t list_changes; /* how often the list of threads was another one */
	struct pst_gil_words *gils;
	size_t n_gils, cap_gils;
	struct pst_pages list_pages; /* what listing the threads needed last time */
	int32_t tid_offset;          /* of the kernel's id in struct pthread; 0 unknown */
	int64_t find_tids_ns;        /* when ids that were not found are looked for again */
	struct pst_code_cache *codes;
	uint64_t serial; /* the last that was given to a stack; unique in the program */
};

/* Find the interpreter of TARGET.  ABI_NAME (may be NULL) forces a row; both pointers are borrowed, and so is
 * NAMES, where functions are interned.  The target keeps running.  Returns NULL with ERR set: NOTPYTHON,
 * UNSUPPORTED, GONE, PERM. */
struct pst_python *pst_python_attach(struct pst_target *target, const char *abi_name,
	struct pst_names *names, struct pst_error *err);
void pst_python_detach(struct pst_python *py);

/* One that is not attached to anything yet: layout, roots and head_word are for the caller to fill.  For what
 * brings its own memory: tests, images. */
struct pst_python *pst_python_new(struct pst_target *target, struct pst_names *names);

/* Find it (anew): in a process that may not be a Python yet, or after an exec.  Returns 0; or -1 with ERR set:
 * NOTPYTHON or UNSUPPORTED (not now; py->dormant: it will be soon), GONE, PERM.  Cheap when nothing has changed. */
int pst_python_search(struct pst_python *py, struct pst_error *err);

/* Has the process been replaced by another program since it was found? */
bool pst_python_replaced(const struct pst_python *py);

/* Bring the lists of threads and GILs up to date, reading through VIEW (which is reset).  The target keeps
 * running, and the list may be torn: TORN, try again. */
int pst_python_list(struct pst_python *py, struct pst_view *view, struct pst_error *err);

/* The thread whose state lies at STATE, or NULL. */
struct pst_pythread *pst_python_thread(const struct pst_python *py, pst_addr_t state);

/* Give every listed thread its name.  Best effort: the target runs. */
void pst_python_find_names(struct pst_python *py);

/* ---- the GIL ---- */

struct pst_gil_state {
	bool absent;            /* a free-threaded build without a GIL: the rest says nothing */
	pst_addr_t holder;      /* the thread state that holds it now; 0 when it is free */
	pst_addr_t last_holder; /* who took it last */
	uint64_t switches;      /* how often LAST_HOLDER changed */
	int32_t locked;
	bool counted; /* the version counts switches, and the GIL exists */
};

#define PST_GIL_RANGES 5

/* The words of one GIL on their way: pst_gil_ranges() fills RANGES (PST_GIL_RANGES of them) to be read in one
 * call into RAW, and returns how many; then pst_gil_decode(). */
struct pst_gil_raw {
	unsigned char last_holder[8], locked[8], switches[8], current[8], enabled[8];
};
size_t pst_gil_ranges(
	const struct pst_python *py, size_t gil, struct pst_gil_raw *raw, struct pst_range *ranges);
struct pst_gil_state pst_gil_decode(
	const struct pst_python *py, size_t gil, const struct pst_gil_raw *raw);

/* All three in one. */
int pst_gil_read(
	const struct pst_python *py, size_t gil, struct pst_gil_state *out, struct pst_error *err);

/* Did nobody but the last holder (if it is not TIDless STATE) run Python between two states?  Then the stack of
 * the thread state STATE stood still. */
bool pst_gil_proves(
	const struct pst_gil_state *before, const struct pst_gil_state *after, pst_addr_t state);

/* Has THREAD ended since it was listed, or just begun, so that its state is now another thread's?  The target runs. */
bool pst_thread_is_another(const struct pst_python *py, const struct pst_pythread *thread);

/* Does the thread whose state lies at STATE run Python, in a process without a GIL?  The target runs. */
bool pst_thread_is_attached(const struct pst_python *py, pst_addr_t state);

/* ---- stacks ---- */

#define PST_MAX_HEADS 256u

/* The beginning of a code object, copied together with the stack that it is on. */
struct pst_code_head {
	pst_addr_t addr;
	bool there;
	unsigned char bytes[256];
};

/* The raw reading of one stack. */
struct pst_reading {
	struct pst_raw_stack stack;
	struct pst_code_head *heads; /* room for PST_MAX_HEADS */
	size_t n_heads;
	uint32_t n_new; /* newest frames, which were not on the thread's last accepted stack */
};

/* Make room for a reading, and give it back. */
void pst_reading_init(struct pst_reading *reading);
void pst_reading_fini(struct pst_reading *reading);

/* Read the stack of THREAD through MEM, and the heads of the code objects on it that are not known to be
 * what they were.  The target is stopped, or the caller proves afterwards that the stack stood still.  Does
 * not allocate.  Returns 0, or -1 with ERR set: TORN, LATE (the view's limit), GONE, PERM. */
int pst_python_read(const struct pst_python *py, const struct pst_pythread *thread,
	struct pst_mem *mem, struct pst_reading *reading, struct pst_error *err);

/* Names and lines of a reading, as FRAMES (room for reading->stack.n) in *N; the target runs.  Hidden frames
 * are left out.  The reading becomes the last accepted one of THREAD.  Returns 0, or -1 with ERR set (TORN: a
 * code object was replaced before it could be named). */
int pst_python_resolve(struct pst_python *py, struct pst_pythread *thread,
	const struct pst_reading *reading, struct pst_frame *frames, uint32_t *n,
	struct pst_error *err);

/* The last accepted stack of THREAD once more, as FRAMES (room for thread->last.n) in *N. */
void pst_python_repeat(const struct pst_pythread *thread, struct pst_frame *frames, uint32_t *n);

/* The first descendant of PID that is a Python process, or 0. */
pid_t pst_python_child(pid_t pid);

#endif
