/* The text of source files: which file of the tree is which source, and opening it. */
#include "fs/views/texts/sources.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/beneath.h"
#include "fs/views/model/parts.h"

/* ---- which file is which source ---- */

static void sources_done(void *p)
{
	struct pmfs_sources *part = p;
	pm_map_done(&part->of_file);
	free(part->file);
}

/* If several sources have the same name (evals of one place), costs are shown in each of them. */
static int match_files(struct pmfs_sources *part, const struct pm_tree *tree)
{
	struct pm_strtab names = {.arena = NULL};
	bool fresh, good = true;
	uint32_t *first = malloc(((size_t)part->n + 1) * sizeof(*first)); /* source of a name */
	for (uint32_t i = 0; first && i < part->n; i++) {
		uint32_t before = names.n, name = pm_strtab_add(&names, part->sources[i].file);
		part->file[i] = PM_NONE;
		if (name == UINT32_MAX)
			good = false;
		else if (name == before)
			first[name] = i;
	}
	for (uint32_t i = 1; first && good && i < tree->n_texts; i++) {
		uint32_t name = pm_strtab_find(&names, tree->texts[i]);
		if (name == UINT32_MAX)
			continue;
		part->file[first[name]] = i;
		good = pm_map_put(&part->of_file, i, first[name], &fresh) != NULL;
	}
	good = good && first;
	for (uint32_t i = 0; good && i < part->n; i++)
		part->file[i] = part->file[first[pm_strtab_find(&names, part->sources[i].file)]];
	free(first);
	pm_strtab_done(&names);
	return good ? 0 : -ENOMEM;
}

static int sources_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct pmfs_sources *part = p;
	const struct pm_profile *profile = pmfs_model_profile(m);
	const struct pm_source *sources = NULL;
	const struct pm_tree *tree;
	size_t n = 0;
	int r = pmfs_model_tree(m, &tree, err);
	if (r == 0 && profile->ops->sources)
		r = profile->ops->sources(profile, &sources, &n, err);
	if (r < 0)
		return r;
	part->sources = sources;
	part->n = n < PM_NONE ? (uint32_t)n : PM_NONE - 1;
	part->file = malloc(((size_t)part->n + 1) * sizeof(*part->file));
	return part->file && match_files(part, tree) == 0 ? 0 : pmfs_no_memory(err);
}

int pmfs_sources(struct pmfs_model *m, const struct pmfs_sources **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_sources), sources_fill, sources_done, .what = "the sources"};
	return pmfs_model_part(m, PMFS_PART_SOURCES, &type, ret, err);
}

/* ---- the text of a source ---- */

void pmfs_source_text_done(struct pmfs_source_text *t)
{
	pm_text_done(&t->rendered);
	pm_input_close(&t->input);
}

int pmfs_source_text_open(struct pmfs_model *m, const struct pm_source *source,
	struct pmfs_source_text *t, struct pm_error *err)
{
	uint64_t since_ns = pmfs_model_profile(m)->opened_ns;
	const struct pm_doc *doc = &source->doc;
	uint64_t size;
	int r = 0, fd;
	*t = (struct pmfs_source_text){.bytes = {NULL, 0}};
	switch (doc->kind) {
	case PM_DOC_BYTES: t->bytes = doc->bytes; break;
	case PM_DOC_TEXT:
		r = doc->text.render(doc, &t->rendered, err);
		if (r == 0)
			r = pm_text_status(&t->rendered);
		t->bytes = pm_text_view(&t->rendered);
		break;
	case PM_DOC_FILE:
		r = pm_open_unchanged(doc->file.folder, doc->file.path, since_ns, &fd, &size, err);
		if (r < 0)
			return r;
		r = pm_input_take(&t->input, fd, source->path, err);
		t->bytes = t->input.bytes;
		break;
	case PM_DOC_CSV:
	case PM_DOC_TSV:
	case PM_DOC_PARQUET:
	case PM_DOC_LINK:
		r = pm_error_set(err, -EIO, source->path, PM_NO_OFFSET, "is no source text");
		break;
	}
	if (r < 0)
		pmfs_source_text_done(t);
	return r;
}

struct pm_bytes pmfs_source_line(struct pm_bytes *text)
{
	const uint8_t *lf = memchr(text->p, '\n', text->len);
	struct pm_bytes line = {text->p, lf ? (size_t)(lf - text->p) : text->len};
	size_t used = line.len + (lf != NULL);
	*text = (struct pm_bytes){text->p + used, text->len - used};
	if (line.len > 0 && line.p[line.len - 1] == '\r')
		line.len--;
	return line;
}

int pmfs_source_is_there(struct pmfs_model *m, uint32_t file, struct pm_error *err)
{
	const struct pmfs_sources *part;
	int r = pmfs_sources(m, &part, err);
	return r < 0 ? r : pm_map_find(&part->of_file, file) != NULL;
}

int pmfs_source_open(
	struct pmfs_model *m, uint32_t file, struct pmfs_source_text *ret, struct pm_error *err)
{
	const struct pmfs_sources *part;
	*ret = (struct pmfs_source_text){.bytes = {NULL, 0}};
	int r = pmfs_sources(m, &part, err);
	if (r < 0)
		return r;
	const uint32_t *source = pm_map_find(&part->of_file, file);
	if (!source)
		return 0;
	r = pmfs_source_text_open(m, &part->sources[*source], ret, err);
	return r < 0 ? r : 1;
}
