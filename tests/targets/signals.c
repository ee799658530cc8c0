/* Python code that computes, in a program that notes the real-time signals that come, with the values that were sent
 * along: signals COUNT.  Says "ready", and after COUNT signals one line "SIGNAL VALUE" for each, in order. */
#include <Python.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX 20000

static struct {
	int number, value;
} seen[MAX];
static atomic_int n;

static void on_signal(int number, siginfo_t *info, void *context)
{
	const int i = atomic_fetch_add(&n, 1);

	(void)context;
	if (i < MAX) {
		seen[i].number = number;
		seen[i].value = info->si_code == SI_QUEUE ? info->si_value.sival_int : -1;
	}
}

static int pending(void *wanted)
{
	return atomic_load(&n) < *(int *)wanted;
}

static PyObject *goes_on(PyObject *self, PyObject *wanted)
{
	int count = (int)PyLong_AsLong(wanted);

	(void)self;
	return PyBool_FromLong(pending(&count));
}

static PyMethodDef methods[] = { { "goes_on", goes_on, METH_O, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, "probe", NULL, -1, methods, NULL, NULL,
	NULL, NULL };

static PyObject *init(void)
{
	return PyModule_Create(&module);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO | SA_RESTART };
	char code[200];

	if (argc < 2)
		return 2;
	sigfillset(&action.sa_mask);
	for (int s = SIGRTMIN; s <= SIGRTMIN + 8; s++)
		sigaction(s, &action, NULL);
	PyImport_AppendInittab("probe", init);
	Py_InitializeEx(0);
	printf("ready\n");
	fflush(stdout);
	snprintf(code, sizeof(code),
		"import probe\ndef work():\n    while probe.goes_on(%d): sum(range(100))\nwork()\n",
		atoi(argv[1]));
	PyRun_SimpleString(code);
	for (int i = 0; i < atomic_load(&n) && i < MAX; i++)
		printf("%d %d\n", seen[i].number, seen[i].value);
	return 0;
}
