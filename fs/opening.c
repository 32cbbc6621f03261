#include "fs/opening.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/common/utf8.h"
#include "fs/log.h"
#include "fs/runs/ensemble.h"
#include "fs/runs/words.h"
#include "fs/views/sums/iterations.h"

/* ---- paths ---- */

static bool no_memory(void)
{
	pmfs_log("no memory");
	return false;
}

/*
 * If only one source is given, the word is its path if such a file exists; otherwise NAME=PATH.
 */
static bool find_only(const char *word, struct pmfs_source_paths *ret)
{
	size_t name = pmfs_word_name(word);
	ret->paths[0] = realpath(word, NULL);
	int code = errno;
	if (!ret->paths[0] && name > 0) {
		ret->paths[0] = realpath(word + name + 1, NULL);
		ret->several = true;
	}
	if (!ret->paths[0])
		pmfs_log("%s: cannot be opened: %s", word, strerror(code));
	return ret->paths[0];
}

bool pmfs_source_paths_find(const struct pmfs_options *o, struct pmfs_source_paths *ret)
{
	*ret = (struct pmfs_source_paths){.n = o->n_sources, .several = o->n_sources > 1};
	ret->paths = calloc((size_t)o->n_sources + 1, sizeof(*ret->paths));
	if (!ret->paths)
		return no_memory();
	if (o->n_sources == 1)
		return find_only(o->sources[0], ret);
	for (int i = 0; i < o->n_sources; i++) {
		size_t name = pmfs_word_name(o->sources[i]);
		const char *path = o->sources[i] + (name ? name + 1 : 0);
		ret->paths[i] = realpath(path, NULL);
		if (!ret->paths[i])
			ret->paths[i] = strdup(path);
		if (!ret->paths[i])
			return no_memory();
	}
	return true;
}

void pmfs_source_paths_free(struct pmfs_source_paths *p)
{
	for (int i = 0; p->paths && i < p->n; i++)
		free(p->paths[i]);
	free(p->paths);
	*p = (struct pmfs_source_paths){.paths = NULL};
}

/* ---- one source ---- */

static struct pm_open_options open_options(const struct pmfs_options *o)
{
	return (struct pm_open_options){.keep_evals = o->keep_evals,
		.no_symbols = o->no_symbols,
		.sysroot = o->sysroot,
		.values = o->values};
}

/* The path as the user gave it, where an error has the source's own name. */
static bool name_as_given(const char *word, const char *path, struct pm_error *err)
{
	const char *slash = strrchr(path, '/');
	char shown[sizeof(err->file)];
	pm_shown_copy(shown, sizeof(shown), slash ? slash + 1 : path);
	bool named = strcmp(shown, err->file) == 0;
	if (named)
		snprintf(err->file, sizeof(err->file), "%s", word);
	return named;
}

static struct pmfs_listing listing_of(const struct pmfs_options *o)
{
	return (struct pmfs_listing){.lean = o->lean, .tsv = o->tsv};
}

/* With the options that an open profile may refuse. */
static int set_options(const struct pmfs_options *o, struct pmfs_instance *in, struct pm_error *err)
{
	bool asks = o->metric || o->iterations || o->values || o->derived;
	const struct pmfs_columns *columns;
	int r = asks ? pm_profile_ready(in->profile, err) : 0;
	pmfs_model_set_listing(in->model, listing_of(o));
	pmfs_model_set_definitions(in->model, o->derived);
	if (r == 0 && o->metric)
		r = pmfs_model_lead_with(in->model, o->metric, err);
	if (r == 0 && o->derived && (r = pmfs_model_column_names(in->model, &columns, err)) == 0)
		r = pmfs_definitions_check(o->derived, columns, err);
	if (r < 0 || !o->iterations)
		return r;
	pmfs_model_set_iterations(in->model, o->iterations);
	return pmfs_has_iterations(in->model, 0, err)
		? 0
		: pm_error_set(err, -ENODATA, NULL, PM_NO_OFFSET,
			  "-o iterations takes a source that says when calls or samples were");
}

int pmfs_open_source(const struct pmfs_options *o, const char *path, struct pmfs_instance *ret,
	struct pm_error *err)
{
	struct pm_open_options options = open_options(o);
	int r = pmfs_instance_open(ret, path, o->format, o->cache_bytes, &options, err);
	if (r < 0)
		return r;
	if (o->n_filters > 0)
		r = pmfs_instance_filter(ret, o->filters, o->n_filters, err);
	if (r < 0)
		return r;
	/* A mount is there before its source is read; a command would only fail later. */
	if (o->mode != PMFS_MODE_MOUNT || o->n_filters > 0)
		r = pm_profile_ready(ret->profile, err);
	if (r == 0)
		r = set_options(o, ret, err);
	if (r < 0)
		pmfs_instance_close(ret);
	return r;
}

static int open_one(const struct pmfs_options *o, const char *path, struct pmfs_instance *ret)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	int r = pmfs_open_source(o, path, ret, &err);
	if (r < 0)
		pmfs_log_error(
			name_as_given(o->sources[0], path, &err) ? NULL : o->sources[0], &err);
	return r;
}

/* ---- several ---- */

static int open_runs(const struct pmfs_options *o, const struct pmfs_source_paths *paths,
	const char *mountpoint, struct pmfs_instance *ret, struct pm_error *err)
{
	struct pmfs_ensemble_options options = {.base = o->base,
		.exact = o->exact,
		.repetitions = o->repetitions,
		.normalize = o->normalize,
		.weak = o->weak,
		.mountpoint = mountpoint,
		.shelf = {.open = open_options(o),
			.format = o->format,
			.metric = o->metric,
			.derived = o->derived,
			.filters = o->filters,
			.n_filters = o->n_filters,
			.cache_bytes = o->cache_bytes}};
	struct pm_profile *p;
	const char *const *words = o->sources;
	const char *literal[1];
	char *here = NULL;
	if (o->follow)
		return pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET,
			"-o follow takes one source, which is not a folder of sources");
	/* The only source is a folder whose name contains `=`. */
	if (!paths->several && pmfs_word_name(words[0]) > 0) {
		if (asprintf(&here, "./%s", words[0]) < 0)
			return pm_error_plain(err, -ENOMEM);
		literal[0] = here;
		words = literal;
	}
	int r = pmfs_ensemble_open(words, (const char *const *)paths->paths, (uint32_t)o->n_sources,
		&options, &p, err);
	free(here);
	if (r < 0)
		return r;
	r = pmfs_instance_of(
		ret, p, pm_cache_new(o->cache_bytes), PM_SHAPE_ENSEMBLE, o->metric, err);
	if (r == 0)
		pmfs_model_set_iterations(ret->model, o->iterations);
	if (r == 0)
		pmfs_model_set_listing(ret->model, listing_of(o));
	if (r == 0)
		pmfs_model_set_definitions(ret->model, o->derived);
	return r;
}

/* A folder that is not a source, if no format was given with -o format. */
static bool is_folder_of_runs(const struct pmfs_options *o, const char *path)
{
	struct stat st;
	return !o->format && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
		pm_profile_probe(path, NULL) == 0;
}

int pmfs_open_sources(const struct pmfs_options *o, const struct pmfs_source_paths *paths,
	const char *mountpoint, struct pmfs_instance *ret)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (!paths->several && !is_folder_of_runs(o, paths->paths[0]))
		return open_one(o, paths->paths[0], ret);
	int r = open_runs(o, paths, mountpoint, ret, &err);
	if (r < 0 && paths->n == 1)
		name_as_given(o->sources[0], paths->paths[0], &err);
	if (r < 0)
		pmfs_log_error(NULL, &err);
	return r;
}
