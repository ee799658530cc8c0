/* The truth meter as text. */
#include "pystill/meter.h"

#include <stdarg.h>
#include <stdio.h>

struct line {
	char *text;
	size_t len;
};

static void PST_PRINTF(2, 3) append(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->len, PST_METER_TEXT - l->len, fmt, ap);
	va_end(ap);
	l->len += n < 0 ? 0 : (size_t)n;
	if (l->len >= PST_METER_TEXT)
		l->len = PST_METER_TEXT - 1;
}

static void append_reasons(struct line *l, const struct pst_meter *m)
{
	static const char *const reasons[] = {
#define X(name, text) text,
		PST_FAILS(X)
#undef X
	};
	const char *before = " (";

	for (size_t i = 0; i < PST_ARRAY_SIZE(reasons); i++) {
		if (!m->failed_by[i])
			continue;
		append(l, "%s%" PRIu64 ": %s", before, m->failed_by[i], reasons[i]);
		before = "; ";
	}
	append(l, "%s", *before == ';' ? ")" : "");
}

void pst_meter_text(const struct pst_meter *m, char text[PST_METER_TEXT])
{
	struct line l = { text, 0 };

	append(&l,
		"%.1f s: %" PRIu64 " of %.0f samples, %.1f Hz; stacks: %" PRIu64 " exact, %" PRIu64
		" unproved, %" PRIu64 " failed",
		m->seconds, m->samples, m->wanted, m->rate_hz, m->exact, m->unproved, m->failed);
	append_reasons(&l, m);
	append(&l, "; %" PRIu64 " stops", m->stops);
	if (m->stops)
		append(&l, " of %.1f us (median; p99 %.1f, longest %.1f), %.2f %% of the time",
			(double)m->stop_median_ns / 1e3, (double)m->stop_p99_ns / 1e3,
			(double)m->stop_max_ns / 1e3, 100 * m->stop_share);
	append(&l, "; own CPU %.1f %%", 100 * m->cpu_share);
}
