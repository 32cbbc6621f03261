#include "formats/common/thread.h"

#include <signal.h>

bool pm_thread_start(pthread_t *ret, void *(*run)(void *context), void *context)
{
	sigset_t quiet, before;
	sigfillset(&quiet);
	sigdelset(&quiet, SIGBUS);
	sigdelset(&quiet, SIGSEGV);
	sigdelset(&quiet, SIGFPE);
	sigdelset(&quiet, SIGILL);
	pthread_sigmask(SIG_SETMASK, &quiet, &before);
	bool good = pthread_create(ret, NULL, run, context) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return good;
}
