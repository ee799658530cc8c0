/* One run of sampling as the user asked for it, into a capture: shared by the commands. */
#ifndef PYSTILL_UI_SESSION_H
#define PYSTILL_UI_SESSION_H

#include "pystill/capture.h"
#include "pystill/launch.h"
#include "pystill/opt.h"

/* Sample process opts->pid until its time is over, it ends, or a signal tells us to end.  Returns 0, or -1 with ERR
 * set. */
int pst_session_attach(
	const struct pst_opts *opts, struct pst_capture *capture, struct pst_error *err);

/* Sample the launched program to its end.  Returns 0, or -1 with ERR set when it could not be sampled. */
int pst_session_trace(const struct pst_opts *opts, struct pst_launch *launch,
	struct pst_capture *capture, struct pst_error *err);

#endif
