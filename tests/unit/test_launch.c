/* Launching: the program's end, and what we do with signals meanwhile. */
#define _GNU_SOURCE
#include "unit.h"

#include "pystill/identity.h"
#include "pystill/launch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pst_launch *start(const char *script)
{
	static char shell[] = "sh", option[] = "-c";
	char *argv[] = { shell, option, (char *)script, NULL };
	struct pst_error err = { 0 };
	struct pst_launch *l;
	int status;

	l = pst_launch_start(argv, true, &status, &err);
	MUST(l);
	return l;
}

static int64_t later(int seconds)
{
	return pst_now_ns() + seconds * PST_NSEC_PER_SEC;
}

static void test_ends(void)
{
	static const struct {
		const char *script;
		int status;
	} rows[] = {
		{ "exit 0", 0 },
		{ "exit 3", 3 },
		{ "exit 255", 255 },
		{ "kill -TERM $$", 128 + SIGTERM },
		{ "kill -KILL $$", 128 + SIGKILL },
	};

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		struct pst_launch *l = start(rows[i].script);

		unit_row("%s", rows[i].script);
		CHECK_INT(pst_launch_wait(l, NULL, later(20)), PST_LAUNCH_ENDED);
		CHECK_INT(pst_launch_status(l), rows[i].status);
		CHECK_INT(pst_launch_wait(l, NULL, later(20)), PST_LAUNCH_ENDED);
		pst_launch_free(l);
	}
}

static void test_not_run(void)
{
	static const struct {
		const char *word;
		int status;
	} rows[] = { { "/nonexistent/program", 127 }, { "no-such-word", 127 }, { "/", 126 } };

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		char *argv[] = { (char *)rows[i].word, NULL };
		struct pst_error err = { 0 };
		int status;

		unit_row("%s", rows[i].word);
		CHECK(!pst_launch_start(argv, true, &status, &err));
		CHECK_INT(status, rows[i].status);
		CHECK(strstr(err.msg, rows[i].word));
	}
}

/* The script says that it is ready by stopping; then SIGNAL is sent to us. */
static struct pst_launch *start_and_signal(const char *script, int signal)
{
	struct pst_launch *l = start(script);
	struct pst_status st = { 0 };
	const int64_t until_ns = later(10);

	while (st.state != 'T' && pst_now_ns() < until_ns)
		pst_procfs_status(pst_launch_pid(l), 0, &st, NULL);
	kill(pst_launch_pid(l), SIGCONT);
	kill(getpid(), signal);
	return l;
}

static void test_passed_on(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2 };

	for (size_t i = 0; i < PST_ARRAY_SIZE(signals); i++) {
		struct pst_launch *l = start_and_signal(
			"trap 'exit 7' INT TERM HUP QUIT USR2; kill -STOP $$; sleep 20 & wait",
			signals[i]);

		unit_row("%s", strsignal(signals[i]));
		CHECK_INT(pst_launch_wait(l, NULL, later(10)), PST_LAUNCH_ENDED);
		CHECK_INT(pst_launch_status(l), 7);
		pst_launch_free(l);
	}
}

static void test_dropped(void)
{
	struct pst_launch *l = start_and_signal("kill -STOP $$; sleep 0.1; exit 5", SIGUSR1);

	CHECK_INT(pst_launch_wait(l, NULL, later(10)), PST_LAUNCH_ENDED);
	CHECK_INT(pst_launch_status(l), 5);
	pst_launch_free(l);
}

/* Told twice: the second time counts when it comes a second later. */
static void test_let_go(void)
{
	struct pst_launch *l = start_and_signal("trap '' TERM; kill -STOP $$; sleep 20", SIGTERM);

	CHECK_INT(pst_launch_wait(l, NULL, pst_now_ns() + 300 * PST_NSEC_PER_MSEC),
		PST_LAUNCH_GOES_ON);
	kill(getpid(), SIGTERM);
	CHECK_INT(pst_launch_wait(l, NULL, pst_now_ns() + 900 * PST_NSEC_PER_MSEC),
		PST_LAUNCH_GOES_ON);
	kill(getpid(), SIGTERM);
	CHECK_INT(pst_launch_wait(l, NULL, later(10)), PST_LAUNCH_LET_GO);
	CHECK_INT(pst_launch_status(l), 128 + SIGTERM);
	CHECK_INT(kill(pst_launch_pid(l), 0), 0);
	kill(pst_launch_pid(l), SIGKILL);
	pst_launch_free(l);
}

/* What we changed for ourselves, the program does not see; and in the end it is as it was. */
static void test_signal_state(void)
{
	static char awk[] = "awk", status_file[] = "/proc/self/status";
	/* Nothing is blocked, and the bit of SIGCHLD, 17, is among those that are ignored. */
	static char script[] = "/^SigBlk/ && $2 !~ /^0+$/ { exit 1 } "
			       "/^SigIgn/ && substr($2, 12, 1) !~ /[13579bdf]/ { exit 2 }";
	char *argv[] = { awk, script, status_file, NULL };
	struct pst_error err = { 0 };
	sigset_t before, after;
	struct pst_launch *l;
	int status;

	signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, NULL, &before);
	l = pst_launch_start(argv, true, &status, &err);
	REQUIRE(l != NULL);
	CHECK_INT(pst_launch_wait(l, NULL, later(10)), PST_LAUNCH_ENDED);
	CHECK_INT(pst_launch_status(l), 0);
	kill(getpid(), SIGTERM); /* too late for the program, and no reason to end */
	pst_launch_free(l);
	sigprocmask(SIG_SETMASK, NULL, &after);
	for (int s = 1; s < 32; s++)
		CHECK_INT(sigismember(&after, s), sigismember(&before, s));
	signal(SIGCHLD, SIG_DFL);
}

static void test_sudo(void)
{
	static const struct {
		const char *uid, *gid;
		int result;
		uid_t wanted;
	} rows[] = {
		{ NULL, NULL, 0, 0 },
		{ "0", "0", 0, 0 },
		{ "65534", "65534", 0, 65534 },
		{ "65534", NULL, -1, 0 },
		{ "x", "1", -1, 0 },
		{ "", "1", -1, 0 },
		{ "1x", "1", -1, 0 },
		{ "4294967295", "1", -1, 0 },
		{ "99999999999999999999", "1", -1, 0 },
	};

	for (size_t i = 0; i < PST_ARRAY_SIZE(rows); i++) {
		const bool root = geteuid() == 0; /* nobody else is asked for it */
		struct pst_identity identity;
		struct pst_error err = { 0 };

		unit_row("uid %s, gid %s", rows[i].uid, rows[i].gid);
		unsetenv("SUDO_UID");
		unsetenv("SUDO_GID");
		if (rows[i].uid)
			setenv("SUDO_UID", rows[i].uid, 1);
		if (rows[i].gid)
			setenv("SUDO_GID", rows[i].gid, 1);
		CHECK_INT(pst_identity_of_sudo(&identity, &err), root ? rows[i].result : 0);
		if (!root || rows[i].result == 0)
			CHECK_INT(identity.uid, root ? rows[i].wanted : 0);
		CHECK_INT(identity.name != NULL, root && rows[i].wanted != 0);
		pst_identity_fini(&identity);
	}
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

static CU_TestInfo tests[] = {
	{ "ends", test_ends },
	{ "programs that cannot be run", test_not_run },
	{ "signals are passed on", test_passed_on },
	{ "signals that are not", test_dropped },
	{ "told twice", test_let_go },
	{ "signal mask and dispositions", test_signal_state },
	{ "who called sudo", test_sudo },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo suite_launch = { "launch", NULL, NULL, NULL, NULL, tests };
