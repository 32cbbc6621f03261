#include "fs/document/spares.h"

#include <stdlib.h>

/* Shorter ones are not returned to the system when they are freed, longer ones are rare. */
enum { LEAST = 1 << 20, MOST = 2 << 20 };

void pmfs_spares_init(struct pmfs_spares *s)
{
	*s = (struct pmfs_spares){.texts = {{.p = NULL}}};
	pthread_mutex_init(&s->lock, NULL);
}

void pmfs_spares_done(struct pmfs_spares *s)
{
	for (unsigned i = 0; i < PMFS_N_SPARES; i++)
		pm_text_done(&s->texts[i]);
	pthread_mutex_destroy(&s->lock);
}

struct pm_text pmfs_spares_take(struct pmfs_spares *s)
{
	struct pm_text ret = {.p = NULL};
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < PMFS_N_SPARES && !ret.p; i++) {
		ret = s->texts[i];
		s->texts[i] = (struct pm_text){.p = NULL};
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

void pmfs_spares_give(struct pmfs_spares *s, char *p, size_t taken)
{
	bool keep = p && taken >= LEAST && taken <= MOST;
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < PMFS_N_SPARES && keep; i++)
		if (!s->texts[i].p) {
			s->texts[i] = (struct pm_text){.p = p, .taken = taken};
			p = NULL;
			keep = false;
		}
	pthread_mutex_unlock(&s->lock);
	free(p);
}
