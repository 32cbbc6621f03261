/*
 * The model holds the profile and the parts that views have computed (parts.h). It is independent
 * of how parts are computed, and of tables.
 */
#include "fs/views/model/model.h"

#include <stdlib.h>

#include "fs/views/model/parts.h"

struct pmfs_model {
	const struct pm_profile *profile;
	struct pmfs_model *outer;      /* or NULL */
	struct pmfs_model *unfiltered; /* or NULL */
	const char *wish;              /* the primary quantity that was asked for, or NULL */
	const char *iterations;        /* the function whose calls are iterations, or NULL */
	const struct pmfs_definitions *definitions; /* or NULL */
	struct pmfs_listing listing;
	struct pm_part parts[PMFS_N_PARTS];
	struct pmfs_entries entries;
	struct pm_tap tap;
};

struct pmfs_model *pmfs_model_new(const struct pm_profile *profile)
{
	struct pmfs_model *m = calloc(1, sizeof(*m));
	if (m)
		m->profile = profile;
	return m;
}

void pmfs_model_free(struct pmfs_model *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < PMFS_N_PARTS; i++)
		pm_part_done(&m->parts[i]);
	free(m);
}

const struct pm_profile *pmfs_model_profile(const struct pmfs_model *m)
{
	return m->profile;
}

void pmfs_model_set_outer(struct pmfs_model *m, struct pmfs_model *outer)
{
	m->outer = outer;
}

struct pmfs_model *pmfs_model_outer(const struct pmfs_model *m)
{
	return m->outer;
}

void pmfs_model_set_unfiltered(struct pmfs_model *m, struct pmfs_model *unfiltered)
{
	m->unfiltered = unfiltered;
}

struct pmfs_model *pmfs_model_unfiltered(const struct pmfs_model *m)
{
	return m->unfiltered;
}

int pmfs_model_whole(struct pmfs_model *m, struct pmfs_model **ret, struct pm_error *err)
{
	const struct pm_threads *threads, *all;
	*ret = NULL;
	if (!m->unfiltered)
		return 0;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0 || (r = pmfs_model_threads(m->unfiltered, &all, err)) < 0)
		return r;
	*ret = threads->n == all->n ? m->unfiltered : NULL;
	return 0;
}

void pmfs_model_set_wish(struct pmfs_model *m, const char *name)
{
	m->wish = name;
}

const char *pmfs_model_wish(const struct pmfs_model *m)
{
	return m->wish;
}

void pmfs_model_set_listing(struct pmfs_model *m, struct pmfs_listing listing)
{
	m->listing = listing;
}

struct pmfs_listing pmfs_model_listing(const struct pmfs_model *m)
{
	return m->listing;
}

void pmfs_model_set_definitions(struct pmfs_model *m, const struct pmfs_definitions *definitions)
{
	m->definitions = definitions;
}

const struct pmfs_definitions *pmfs_model_definitions(const struct pmfs_model *m)
{
	return m->definitions;
}

void pmfs_model_set_iterations(struct pmfs_model *m, const char *name)
{
	m->iterations = name;
}

const char *pmfs_model_iterations(const struct pmfs_model *m)
{
	return m->iterations;
}

void pmfs_model_set_tap(struct pmfs_model *m, const struct pm_tap *tap)
{
	m->tap = tap ? *tap : (struct pm_tap){.begin = NULL};
}

const struct pm_tap *pmfs_model_tap(const struct pmfs_model *m)
{
	return m->tap.begin ? &m->tap : NULL;
}

void pmfs_model_set_entries(struct pmfs_model *m, const struct pmfs_entries *entries)
{
	m->entries = *entries;
}

const struct pmfs_entries *pmfs_model_entries(const struct pmfs_model *m)
{
	return m->entries.take ? &m->entries : NULL;
}

int pmfs_model_metrics(struct pmfs_model *m, const struct pm_metrics **ret, struct pm_error *err)
{
	return pm_profile_metrics(m->profile, ret, err);
}

int pmfs_model_threads(struct pmfs_model *m, const struct pm_threads **ret, struct pm_error *err)
{
	static const struct pm_threads none;
	int r = pm_profile_threads(m->profile, ret, err);
	if (r == 0 && !*ret)
		*ret = &none;
	return r;
}

int pmfs_model_flat(struct pmfs_model *m, const struct pm_flat **ret, struct pm_error *err)
{
	static const struct pm_flat none;
	int r = pm_profile_flat(m->profile, ret, err);
	if (r == 0 && !*ret)
		*ret = &none;
	return r;
}

struct pm_part *pmfs_model_part_of(struct pmfs_model *m, enum pmfs_part which)
{
	return &m->parts[which];
}
