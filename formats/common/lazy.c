#include "formats/common/lazy.h"

int pm_lazy_get(struct pm_lazy *lazy, int (*build)(void *context, struct pm_error *err),
	void *context, struct pm_error *err)
{
	if (__atomic_load_n(&lazy->state, __ATOMIC_ACQUIRE) == 1)
		return 0;
	pthread_mutex_lock(&lazy->lock);
	int r = lazy->state == 1 ? 0 : lazy->state;
	if (lazy->state == 0) {
		lazy->error = (struct pm_error){.offset = PM_NO_OFFSET};
		r = build(context, &lazy->error);
		if (r < 0)
			pm_error_plain(&lazy->error, r);
		if (r != -ENOMEM)
			__atomic_store_n(&lazy->state, r < 0 ? r : 1, __ATOMIC_RELEASE);
	}
	if (r < 0 && err && !err->code)
		*err = lazy->error;
	pthread_mutex_unlock(&lazy->lock);
	return r < 0 ? r : 0;
}
