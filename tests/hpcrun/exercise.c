#include "tests/hpcrun/exercise.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/common/text.h"
#include "formats/hpcrun/hpcrun.h"
#include "formats/hpcrun/profile.h"

enum { ROOM = 16, MOST = 5000 };

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* ---- folders ---- */

void scratch_new(char path[SCRATCH_PATH])
{
	snprintf(path, SCRATCH_PATH, "/tmp/profmount-hpcrun-XXXXXX");
	MUST(mkdtemp(path));
}

void scratch_remove(const char *path)
{
	DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

/* ---- through the seam ---- */

/* Reads a byte of everything, so that a sanitizer sees it. */
static void touch_text(struct pm_bytes b)
{
	static volatile uint8_t sink;
	for (size_t i = 0; i < b.len; i++)
		sink ^= b.p[i];
	(void)sink;
}

static void use_table(const struct pm_table *table)
{
	struct pm_cell *cells = calloc(table->n_columns, sizeof(*cells));
	struct pm_rows rows;
	uint64_t before = 0;
	MUST(cells);
	if (pm_rows_start(&rows, table, 0, NULL) == 0)
		for (int n = 0; n < MOST && pm_rows_next(&rows, cells, NULL) > 0; n++) {
			MUST(rows.at > before);
			before = rows.at;
			for (uint32_t i = 0; i < table->n_columns; i++)
				if (cells[i].kind == PM_CELL_TEXT)
					touch_text(cells[i].text);
		}
	pm_rows_done(&rows);
	free(cells);
}

static void use_raw_tables(const struct pm_profile *p, uint32_t thread)
{
	struct pm_named_doc doc;
	for (uint32_t k = 0; p->ops->thread_document(p, thread, k, &doc, NULL) > 0; k++) {
		MUST(doc.doc.kind == PM_DOC_CSV);
		use_table(&doc.doc.table);
	}
}

static uint64_t use_values(
	const struct pm_profile *p, const struct pm_tree *tree, struct pm_values_of of)
{
	struct pm_value values[ROOM];
	uint64_t first = 0;
	int64_t n;
	while ((n = p->ops->values(p, of, first, values, ROOM, NULL)) > 0) {
		for (int64_t i = 0; i < n; i++)
			MUST(pm_tree_find(tree, values[i].context) != PM_NONE);
		first += (uint64_t)n;
	}
	MUST(n == 0);
	return first;
}

static void use_samples(const struct pm_profile *p, uint32_t thread, const struct pm_thread *of)
{
	struct pm_sample samples[ROOM];
	uint64_t first = 0, before = 0, first_ns, last_ns;
	int64_t n;
	MUST(p->ops->trace_ends(p, thread, &first_ns, &last_ns, NULL) == 0);
	while ((n = p->ops->samples(p, thread, first, samples, ROOM, NULL)) > 0) {
		for (int64_t i = 0; i < n; i++) {
			MUST(samples[i].time_ns >= before);
			before = samples[i].time_ns;
		}
		MUST(first > 0 || samples[0].time_ns == first_ns);
		first += (uint64_t)n;
	}
	MUST(first == of->n_samples);
	MUST(last_ns == (first > 0 ? before : PM_NO_TIME));
}

static void use_threads(const struct pm_profile *p, const struct pm_tree *tree)
{
	const struct pm_threads *threads;
	struct pm_thread_counts counts;
	MUST(pm_profile_threads(p, &threads, NULL) == 0);
	for (uint32_t i = 0; i < threads->n; i++) {
		const struct pm_thread *t = &threads->threads[i];
		MUST(t->n_identity > 0);
		for (uint32_t k = 0; k < t->n_identity; k++)
			MUST(t->identity[k].key < threads->n_keys);
		MUST(p->ops->thread_counts(p, i, &counts, NULL) == 0);
		struct pm_values_of costs = {PM_OF_THREAD, i, false},
				    stored = {PM_OF_THREAD, i, true};
		MUST(use_values(p, tree, stored) == counts.values);
		use_values(p, tree, costs);
		use_samples(p, i, t);
		use_raw_tables(p, i);
	}
}

/* The inclusive cost of a context is its own and its children's. */
static void check_sums(const struct pm_profile *p, const struct pm_tree *tree, size_t n_metrics)
{
	struct pm_value *values = calloc(n_metrics + 1, sizeof(*values));
	double *own = calloc(tree->n_contexts + 1, sizeof(*own)), *total = NULL;
	total = calloc(tree->n_contexts + 1, sizeof(*total));
	MUST(values && own && total);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		int64_t n = p->ops->run_costs(p, i, values, n_metrics, NULL);
		for (int64_t k = 0; k < n; k++) {
			own[i] += values[k].metric == 0 ? values[k].f : 0;
			total[i] += values[k].metric == 1 ? values[k].f : 0;
		}
	}
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		double sum = own[i];
		for (uint32_t child = i + 1; child < tree->end[i]; child = tree->end[child])
			sum += total[child];
		MUST(!isfinite(sum) || !isfinite(total[i]) ||
			fabs(sum - total[i]) <= 1e-9 * (fabs(sum) + fabs(total[i])) ||
			fabs(sum) + fabs(total[i]) > 1e300);
	}
	free(values);
	free(own);
	free(total);
}

static void use_contexts(const struct pm_profile *p, const struct pm_tree *tree)
{
	struct pm_value values[ROOM];
	for (uint32_t i = 0; i < tree->n_contexts && i < MOST; i++) {
		const struct pm_frame *frame = pm_tree_frame(tree, i);
		touch_text(tree->texts[frame->name]);
		touch_text(tree->texts[frame->module]);
		MUST(frame->function < tree->n_functions || frame->function == PM_NONE);
		struct pm_values_of costs = {PM_OF_CONTEXT, i, false};
		struct pm_values_of stored = {PM_OF_CONTEXT, i, true};
		p->ops->values(p, costs, 0, values, ROOM, NULL);
		p->ops->values(p, stored, 0, values, ROOM, NULL);
	}
}

void exercise_profile(const struct pm_profile *p)
{
	const struct pm_tree *tree;
	const struct pm_metrics *metrics;
	const struct pm_damages *damages;
	const struct pm_named_doc *docs;
	const struct pm_fact *facts;
	struct pm_text text = {.p = NULL};
	uint64_t origin, duration;
	size_t n;
	MUST(pm_profile_documents(p, &docs, &n, NULL) == 0);
	for (size_t i = 0; i < n; i++)
		use_table(&docs[i].doc.table);
	MUST(pm_profile_tree(p, &tree, NULL) == 0 && pm_profile_metrics(p, &metrics, NULL) == 0);
	use_contexts(p, tree);
	check_sums(p, tree, metrics->n);
	use_threads(p, tree);
	MUST(pm_profile_span(p, &origin, &duration, NULL) == 0);
	MUST(pm_profile_facts(p, &facts, &n, NULL) == 0);
	MUST(p->ops->recipes(p, &text, NULL) == 0);
	MUST(pm_profile_damage(p, &damages, NULL) == 0);
	for (size_t i = 0; i < damages->n; i++)
		touch_text(pm_bytes_of(damages->rows[i].what));
	pm_text_done(&text);
}

int exercise_path(const char *path)
{
	struct pm_profile *p = NULL;
	struct pm_error err = {.code = 0};
	int r = pm_profile_open(path, "hpcrun", NULL, &p, &err);
	if (r < 0) {
		MUST(err.code == r && err.text[0]);
		return r;
	}
	exercise_profile(p);
	pm_profile_close(p);
	return 0;
}

/* ---- readers alone ---- */

static void use_epoch(
	struct pm_arena *a, const struct hpcrun_epoch *e, const struct hpcrun_report *report)
{
	struct hpcrun_shape shape;
	struct hpcrun_node node;
	for (uint64_t i = 0; i < e->nodes.n; i++)
		hpcrun_node_decode(&e->nodes, i, &node);
	hpcrun_shape_read(&shape, a, &e->nodes, report);
	for (uint32_t i = 0; i < shape.n; i++)
		MUST(shape.order[i] < shape.n);
	for (size_t i = 0; i < e->metrics.n; i++)
		touch_text(e->metrics.items[i].name);
	for (size_t i = 0; i < e->modules.n; i++)
		touch_text(e->modules.items[i].name);
}

static void use_profile(struct pm_bytes b, const struct hpcrun_report *report)
{
	struct pm_arena arena = {.block = NULL};
	struct hpcrun_profile p;
	if (hpcrun_profile_read(&p, &arena, b, HPCRUN_ALL, report, NULL) == 0) {
		struct hpcrun_values v = hpcrun_values_from(&p, 0);
		struct hpcrun_value value;
		while (hpcrun_values_next(&v, &value))
			MUST(value.off < b.len);
		for (size_t i = 0; i < p.header.n; i++)
			touch_text(p.header.items[i].value);
		for (size_t i = 0; i < p.n_epochs; i++)
			use_epoch(&arena, &p.epochs[i], report);
	}
	pm_arena_done(&arena);
}

static void use_trace(struct pm_bytes b, const struct hpcrun_report *report)
{
	struct hpcrun_trace t;
	struct hpcrun_sample sample;
	if (hpcrun_trace_read(&t, b, report, NULL) < 0)
		return;
	struct pm_bytes records = hpcrun_trace_records(&t, b);
	for (uint64_t i = 0; i < t.n; i++)
		hpcrun_trace_decode(&t, records, i, &sample);
}

void exercise_bytes(const uint8_t *p, size_t len)
{
	struct pm_damage_list list = PM_DAMAGE_LIST_INIT;
	struct hpcrun_report report = {.list = &list, .file = "made"};
	uint8_t *copy = malloc(len + (len == 0));
	MUST(copy);
	if (len)
		memcpy(copy, p, len);
	use_profile((struct pm_bytes){copy, len}, &report);
	use_trace((struct pm_bytes){copy, len}, &report);
	pm_damage_done(&list);
	free(copy);
}
