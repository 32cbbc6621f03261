#include "fs/document/sizes.h"

#include "formats/common/map.h"

static size_t slot_of(uint64_t key)
{
	return pm_hash_u64(key) % PMFS_N_SIZES;
}

void pmfs_sizes_init(struct pmfs_sizes *s)
{
	pthread_mutex_init(&s->lock, NULL);
}

void pmfs_sizes_done(struct pmfs_sizes *s)
{
	pthread_mutex_destroy(&s->lock);
}

void pmfs_sizes_put(struct pmfs_sizes *s, uint64_t key, uint64_t size)
{
	size_t slot = slot_of(key);
	pthread_mutex_lock(&s->lock);
	if (s->known[slot].key != 0 && s->known[slot].key != key)
		s->forgot[slot] = true;
	s->known[slot] = (struct pmfs_known_size){.key = key, .size = size};
	pthread_mutex_unlock(&s->lock);
}

void pmfs_sizes_purge(
	struct pmfs_sizes *s, bool (*belongs)(void *context, uint64_t key), void *context)
{
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < PMFS_N_SIZES; i++)
		if (s->known[i].key && belongs(context, s->known[i].key))
			s->known[i] = (struct pmfs_known_size){.key = 0};
	pthread_mutex_unlock(&s->lock);
}

enum pmfs_size pmfs_sizes_get(struct pmfs_sizes *s, uint64_t key, uint64_t *ret)
{
	size_t slot = slot_of(key);
	pthread_mutex_lock(&s->lock);
	struct pmfs_known_size found = s->known[slot];
	bool forgot = s->forgot[slot];
	pthread_mutex_unlock(&s->lock);
	if (found.key == key && key != 0) {
		*ret = found.size;
		return PMFS_SIZE_KNOWN;
	}
	return forgot ? PMFS_SIZE_FORGOTTEN : PMFS_SIZE_NEVER_TOLD;
}
