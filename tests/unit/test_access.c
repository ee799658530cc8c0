/* Why a process may not be looked at: what the rules say of this one, and of none. */
#include "unit.h"

#include "pystill/access.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Whatever applies here: the message says what, which process, why, and what to do. */
static void test_own(void)
{
	cleanup_free char *begin = pst_xasprintf("attaching, process %d: ", (int)getpid());
	struct pst_error err = { 0 };

	CHECK_ERROR(pst_access_explain(getpid(), "attaching", &err), &err, PST_ERR_PERM);
	CHECK(strncmp(err.msg, begin, strlen(begin)) == 0);
	CHECK(strlen(err.msg) > strlen(begin) + 20);
}

/* A process of another user, when we are one too: root's. */
static void test_other_user(void)
{
	struct pst_error err = { 0 };

	if (access("/proc/1/status", R_OK) < 0) { /* hidden from us */
		CU_PASS("hidden");
		return;
	}
	CHECK_ERROR(pst_access_explain(1, "attaching", &err), &err, PST_ERR_PERM);
	if (geteuid() != 0)
		CHECK(strstr(err.msg, "root") != NULL);
}

static void test_nobody(void)
{
	struct pst_error err = { 0 };

	CHECK_ERROR(pst_access_explain(INT_MAX, "attaching", &err), &err, PST_ERR_GONE);
}

static CU_TestInfo tests[] = {
	{ "this process", test_own },
	{ "a process of another user", test_other_user },
	{ "no process", test_nobody },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_access = { "access", NULL, NULL, NULL, NULL, tests };
