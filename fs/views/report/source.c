/* Source files: which have costs, and the lines of one of them. */
#include <stdlib.h>

#include "formats/common/work.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/report/data.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/lines.h"
#include "fs/views/texts/source.h"

/* NULL, and `null` written, where the format knows no lines. */
static int get_lines(struct pmfs_report *r, const struct pmfs_lines **ret, struct pm_error *err)
{
	*ret = NULL;
	if (r->profile->has_lines)
		return pmfs_lines(r->model, ret, err);
	pm_json_null(&r->json);
	return 0;
}

/* ---- the list of files ---- */

/* What the lines of a file cost together; inclusive costs of lines do not add up. */
static void add_lines(const struct pmfs_lines *l, uint32_t at, uint32_t end, pm_number *sums)
{
	const struct pmfs_columns *c = l->columns;
	for (uint32_t i = 0; i < c->n; i++)
		sums[i] = NAN;
	for (; at < end && !pm_work_cancelled(); at++)
		for (uint32_t i = 0; i < c->n; i++) {
			double value = l->cells[(size_t)l->by_place[at] * c->n + i];
			if (c->columns[i].role != PM_ROLE_INCLUSIVE)
				pmfs_add(&sums[i], value);
		}
}

/* [file, path, is the text there, [cells]], in the order of paths as texts are numbered. */
static int write_files(
	struct pmfs_report *r, const struct pmfs_lines *l, pm_number *sums, struct pm_error *err)
{
	int there = 0;
	pm_json_open(&r->json, '[');
	for (uint32_t at = 0, end; there >= 0 && at < l->n; at = end) {
		uint32_t file = l->lines[l->by_place[at]].file;
		for (end = at + 1; end < l->n && l->lines[l->by_place[end]].file == file;)
			end++;
		if (file == 0)
			continue;
		add_lines(l, at, end, sums);
		there = pmfs_source_is_there(r->model, file, err);
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, file);
		pm_json_text(&r->json, r->tree->texts[file]);
		pm_json_bool(&r->json, there > 0);
		pmfs_report_cells(r, sums);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	return there < 0 ? there : 0;
}

int pmfs_report_sources(struct pmfs_report *r, struct pm_error *err)
{
	const struct pmfs_lines *l;
	int e = get_lines(r, &l, err);
	if (e < 0 || !l)
		return e;
	pm_number *sums = pmfs_cells_new(NULL, r->columns->n);
	if (!sums)
		return pmfs_no_memory(err);
	e = write_files(r, l, sums, err);
	free(sums);
	return e;
}

/* ---- the lines of a file ---- */

/* [line, row of the function, [cells], row of lines.csv] */
static void write_costs(struct pmfs_report *r, const struct pmfs_lines *l,
	const struct pmfs_functions *f, const uint32_t *place, uint32_t file)
{
	pm_json_key(&r->json, "costs");
	pm_json_open(&r->json, '[');
	for (uint32_t at = pmfs_lines_find(l, file, 0); at < l->n; at++) {
		const struct pm_line *line = &l->lines[l->by_place[at]];
		if (line->file != file)
			break;
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, line->line);
		pmfs_report_row(r, f, line->function);
		pmfs_report_cells(r, l->cells + (size_t)l->by_place[at] * r->columns->n);
		pm_json_u64(&r->json, place[l->by_place[at]]);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
}

/* By line: [line, number of the text's file, its name, how often, ns or null, [rows of its subs]]
 */
static void write_evals(
	struct pmfs_report *r, const struct pmfs_functions *f, const struct pmfs_sites *sites)
{
	pm_json_key(&r->json, "evals");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < sites->n_evals && i < PMFS_REPORT_LINES; i++) {
		const struct pmfs_site_eval *eval = &sites->evals[i];
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, eval->line);
		pm_json_u64(&r->json, eval->text);
		pm_json_text(&r->json, r->tree->texts[eval->text]);
		pm_json_u64(&r->json, eval->n);
		pm_json_f64(&r->json, eval->ns);
		pm_json_open(&r->json, '[');
		for (uint32_t k = 0; k < eval->n_subs; k++)
			pmfs_report_row(r, f, f->function[sites->subs[eval->first + k]]);
		pm_json_close(&r->json, ']');
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
}

/* Rows of lines.csv by index of the line; to be freed. NULL if out of memory. */
static uint32_t *place_lines(const struct pmfs_lines *l)
{
	uint32_t *place = malloc(((size_t)l->n + 1) * sizeof(*place));
	for (uint32_t i = 0; place && i < l->n; i++)
		place[l->order[i]] = i;
	return place;
}

static int write_text(struct pmfs_report *r, uint32_t file, struct pm_error *err)
{
	struct pmfs_source_text text;
	int there = pmfs_source_open(r->model, file, &text, err);
	if (there < 0)
		return there;
	pm_json_key(&r->json, "text");
	if (there == 0) {
		pm_json_null(&r->json);
		return 0;
	}
	struct pm_bytes rest = text.bytes;
	pm_json_open(&r->json, '[');
	for (uint32_t n = 0; rest.len > 0 && n < PMFS_REPORT_LINES; n++)
		pm_json_text(&r->json, pmfs_source_line(&rest));
	pm_json_close(&r->json, ']');
	pmfs_source_text_done(&text);
	return 0;
}

int pmfs_report_source(struct pmfs_report *r, struct pm_error *err)
{
	const struct pmfs_lines *l;
	const struct pmfs_functions *f;
	int e = get_lines(r, &l, err);
	if (e < 0 || !l)
		return e;
	e = pmfs_functions(r->model, &f, err);
	if (e < 0)
		return e;
	if (r->n[0] == 0 || r->n[0] >= r->tree->n_texts) {
		pm_json_null(&r->json);
		return 0;
	}
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "path");
	pm_json_text(&r->json, r->tree->texts[r->n[0]]);
	uint32_t *place = place_lines(l);
	if (!place)
		return pmfs_no_memory(err);
	write_costs(r, l, f, place, r->n[0]);
	free(place);
	e = pmfs_report_names(r, f, err);
	if (e == 0)
		e = write_text(r, r->n[0], err);
	pm_json_close(&r->json, '}');
	return e;
}

/*
 * Whom the lines call: rows of callers.csv by line, [line, row of the callee, calls or null,
 * [cells]]. Apart from the lines, which are there sooner: it may be the first that needs all calls.
 */
int pmfs_report_sites(struct pmfs_report *r, struct pm_error *err)
{
	struct pmfs_sites sites;
	const struct pmfs_functions *f;
	const struct pmfs_lines_of all = {r->n[0], 1, UINT32_MAX};
	if (!r->profile->has_lines || r->n[0] == 0 || r->n[0] >= r->tree->n_texts) {
		pm_json_null(&r->json);
		return 0;
	}
	int e = pmfs_functions(r->model, &f, err);
	if (e < 0)
		return e;
	e = pmfs_sites_of(r->model, &all, &sites, err);
	if (e < 0) {
		pmfs_sites_done(&sites);
		return e;
	}
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "sites");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < sites.n && i < PMFS_REPORT_LINES; i++) {
		const struct pmfs_call_edge *call = &sites.calls->calls[sites.rows[i]];
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, call->line);
		pmfs_report_row(r, f, call->callee);
		if (call->calls == PMFS_UNCOUNTED)
			pm_json_null(&r->json);
		else
			pm_json_u64(&r->json, call->calls);
		pmfs_report_cells(r, sites.calls->cells + (size_t)sites.rows[i] * r->columns->n);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	write_evals(r, f, &sites);
	pmfs_sites_done(&sites);
	e = pmfs_report_names(r, f, err);
	pm_json_close(&r->json, '}');
	return e;
}
