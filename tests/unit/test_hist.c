/* Histograms: borders of slots, and quantiles against sorted values. */
#include "unit.h"

#include "pystill/hist.h"

#include <stdlib.h>

static void test_empty(void)
{
	struct pst_hist h = { 0 };

	CHECK_INT(pst_hist_quantile(&h, 0.5), 0);
	CHECK_INT(pst_hist_quantile(&h, 1), 0);
}

/* One value is given back to within 1/16, whatever its size. */
static void test_one(void)
{
	static const int64_t values[] = { 0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 1000, 123456789,
		INT64_MAX / 2, INT64_MAX };

	for (size_t i = 0; i < PST_ARRAY_SIZE(values); i++) {
		struct pst_hist h = { 0 };

		unit_row("%" PRId64, values[i]);
		pst_hist_add(&h, values[i]);
		CHECK_INT(pst_hist_quantile(&h, 0.5), values[i]);
		CHECK_INT(h.max, values[i]);
		CHECK_INT(h.sum, values[i]);
		if (values[i] == INT64_MAX)
			continue;
		h.max = INT64_MAX; /* what the slot alone says */
		CHECK(pst_hist_quantile(&h, 0.5) >= values[i]);
		CHECK(pst_hist_quantile(&h, 0.5) - values[i] <= values[i] / 16);
	}
}

static void test_negative(void)
{
	struct pst_hist h = { 0 };

	pst_hist_add(&h, -5);
	CHECK_INT(h.n, 1);
	CHECK_INT(h.sum, 0);
	CHECK_INT(pst_hist_quantile(&h, 1), 0);
}

static int ascending(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void test_quantiles(void)
{
	static const double shares[] = { 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
	static int64_t values[5000];
	struct pst_hist h = { 0 };
	uint64_t state = 1;

	for (size_t i = 0; i < PST_ARRAY_SIZE(values); i++) {
		values[i] = unit_random(&state) >> unit_random(&state) % 28;
		pst_hist_add(&h, values[i]);
	}
	qsort(values, PST_ARRAY_SIZE(values), sizeof(values[0]), ascending);
	for (size_t i = 0; i < PST_ARRAY_SIZE(shares); i++) {
		const size_t rank = (size_t)(shares[i] * PST_ARRAY_SIZE(values));
		const int64_t wanted = values[rank - 1];
		const int64_t got = pst_hist_quantile(&h, shares[i]);

		unit_row("%g", shares[i]);
		if (!CHECK(got >= wanted && got - wanted <= wanted / 16 + 1))
			CHECK_INT(got, wanted);
	}
	CHECK_INT(h.max, values[PST_ARRAY_SIZE(values) - 1]);
}

static CU_TestInfo tests[] = {
	{ "empty", test_empty },
	{ "one value", test_one },
	{ "a negative value", test_negative },
	{ "quantiles", test_quantiles },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_hist = { "hist", NULL, NULL, NULL, NULL, tests };
