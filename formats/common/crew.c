#include "formats/common/crew.h"

#include <unistd.h>

#include "formats/common/thread.h"
#include "profmount/error.h"

unsigned pm_crew_width(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	return cores < 1 ? 1 : cores > PM_CREW_MOST ? PM_CREW_MOST : (unsigned)cores;
}

static void *help(void *argument)
{
	struct pm_crew *crew = argument;
	pm_work_help(crew->work);
	return crew->help(crew->context);
}

unsigned pm_crew_start(
	struct pm_crew *crew, unsigned n, void *(*start)(void *context), void *context)
{
	crew->work = pm_work_current();
	crew->help = start;
	crew->context = context;
	crew->n = 0;
	while (crew->n < n && crew->n < PM_CREW_MOST &&
		pm_thread_start(&crew->threads[crew->n], help, crew))
		crew->n++;
	return crew->n;
}

void pm_crew_join(struct pm_crew *crew)
{
	while (crew->n > 0)
		pthread_join(crew->threads[--crew->n], NULL);
}

struct pieces {
	size_t n, next; /* next: atomic */
	int error;      /* atomic: the first one */
	int (*work)(void *context, size_t i);
	void *context;
};

static void *take_pieces(void *argument)
{
	struct pieces *p = argument;
	while (__atomic_load_n(&p->error, __ATOMIC_RELAXED) == 0) {
		size_t i = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED);
		if (i >= p->n)
			break;
		pm_work_progress(i, p->n);
		int none = 0, r = pm_work_cancelled() ? PM_CANCELLED : p->work(p->context, i);
		if (r < 0)
			__atomic_compare_exchange_n(
				&p->error, &none, r, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
	return NULL;
}

int pm_crew_each(size_t n, int (*work)(void *context, size_t i), void *context)
{
	struct pieces pieces = {.n = n, .work = work, .context = context};
	size_t most = pm_crew_width(), width = most < n ? most : n;
	struct pm_crew crew;
	pm_crew_start(&crew, n > 1 ? (unsigned)width - 1 : 0, take_pieces, &pieces);
	take_pieces(&pieces);
	pm_crew_join(&crew);
	return pieces.error;
}
