/* Runs the suites, or the one that is named.  The exit status is 1 when a test failed or none ran: what
 * CUnit's own run functions return does not tell. */
#include "unit.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

static const CU_SuiteInfo *const suites[] = {
#define X(name) &suite_##name,
	UNIT_SUITES(X)
#undef X
};

static bool add_suite(const CU_SuiteInfo *info)
{
	const CU_pSuite suite =
		CU_add_suite_with_setup_and_teardown(info->pName, NULL, NULL, unit_begin, NULL);

	for (const CU_TestInfo *t = info->pTests; suite && t->pName; t++)
		if (!CU_add_test(suite, t->pName, t->pTestFunc))
			return false;
	return suite != NULL;
}

static bool add_suites(const char *only)
{
	for (size_t i = 0; i < PST_ARRAY_SIZE(suites); i++)
		if ((!only || strcmp(suites[i]->pName, only) == 0) && !add_suite(suites[i]))
			return false;
	return true;
}

static bool all_passed(void)
{
	return CU_get_number_of_tests_run() > 0 && CU_get_number_of_tests_failed() == 0 &&
		CU_get_number_of_failures() == 0 && CU_get_number_of_suites_failed() == 0 &&
		CU_get_number_of_tests_inactive() == 0;
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	bool ok;

	if (CU_initialize_registry() != CUE_SUCCESS || !add_suites(only)) {
		fprintf(stderr, "unit: %s\n", CU_get_error_msg());
		return 99;
	}
	CU_basic_set_mode(CU_BRM_NORMAL);
	CU_basic_run_tests();
	ok = all_passed();
	if (CU_get_number_of_tests_run() == 0)
		fprintf(stderr, "unit: no test ran; is there a suite '%s'?\n", only ? only : "");
	CU_cleanup_registry();
	return ok ? 0 : 1;
}
