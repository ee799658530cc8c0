/* Program name or first word -> command; the exit status. */
#define _GNU_SOURCE
#include "pystill/cmd.h"
#include "ui/say.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A descriptor 0-2 that is closed would be taken by the next file that we open.  What stands in for it can
 * be neither written nor read, so that output to it is an error and not lost. */
static void fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
			_exit(1);
	}
}

/* --errors=json holds for mistakes in the command line too, wherever it stands there. */
static int find_errors_form(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--errors=json") == 0 ||
			(strcmp(argv[i], "--errors") == 0 && i + 1 < argc &&
				strcmp(argv[i + 1], "json") == 0))
			return PST_ERRORS_JSON;
	return PST_ERRORS_TEXT;
}

static int run_verb(const struct pst_cmd *cmd, struct pst_opts *opts, int argc, char **argv)
{
	struct pst_error err = { 0 };
	int status;

	if (cmd->run)
		return cmd->run(opts, argc, argv);
	pst_error_set(&err, PST_ERR_USAGE, 0,
		"%s: this build does not have that command; sample with -p PID", cmd->name);
	status = pst_error_exit_status(&err);
	pst_say_error(opts, &err, status);
	return status;
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "pystill";
	const bool as_pyflame = strcmp(name, "pyflame") == 0;
	const struct pst_cmd *cmd = NULL;
	struct pst_opts opts;

	fill_standard_descriptors();
	pst_opt_defaults(&opts, PST_CMD_PYFLAME);
	opts.program = as_pyflame ? "pyflame" : "pystill";
	opts.errors = find_errors_form(argc, argv);
	if (argc > 1 && !as_pyflame)
		cmd = pst_cmd_find(argv[1]);
	if (cmd)
		return run_verb(cmd, &opts, argc - 1, argv + 1);
	return pst_cmd_pyflame(&opts, argc, argv);
}
