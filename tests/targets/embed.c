/* A program that embeds Python as a web server's module does: three interpreters, each in a thread that Python did
 * not start. */
#include <Python.h>

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct handler {
	int n;
	PyThreadState *state;
};

static void *serve(void *arg)
{
	struct handler *h = arg;
	PyThreadState *mine;
	char code[200];

	snprintf(code, sizeof(code),
		"import time\ndef handler_%d():\n    while True: time.sleep(0.001)\nhandler_%d()\n",
		h->n, h->n);
	mine = PyThreadState_New(h->state->interp);
	PyEval_RestoreThread(mine);
	PyRun_SimpleString(code);
	return NULL;
}

int main(void)
{
	static struct handler handlers[3];
	pthread_t threads[3];
	PyThreadState *first;

	Py_Initialize();
	first = PyThreadState_Get();
	for (int i = 0; i < 3; i++)
		handlers[i] = (struct handler){ i + 1, Py_NewInterpreter() };
	PyThreadState_Swap(first);
	PyEval_SaveThread();
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, serve, &handlers[i]);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
