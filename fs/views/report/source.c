/* Source files: which have costs, and the lines of one of them. */
#include "fs/views/texts/source.h"
#include "formats/common/work.h"
#include "fs/views/model/flat.h"
#include "fs/views/report/data.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/lines.h"

/* NULL, and `null` written, where the format knows no lines. */
static const struct pmfs_lines *get_lines(struct pmfs_report *r)
{
	const struct pmfs_lines *lines = NULL;
	if (r->profile->has_lines)
		pmfs_report_check(r, pmfs_lines(r->model, &lines, r->err));
	else
		pm_json_null(&r->json);
	return lines;
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
void pmfs_report_sources(struct pmfs_report *r)
{
	const struct pmfs_lines *l = get_lines(r);
	if (!l)
		return;
	pm_number *sums = pmfs_cells_new(r->a, r->columns->n);
	pm_json_open(&r->json, '[');
	for (uint32_t at = 0, end; at < l->n; at = end) {
		uint32_t file = l->lines[l->by_place[at]].file;
		for (end = at + 1; end < l->n && l->lines[l->by_place[end]].file == file;)
			end++;
		if (file == 0)
			continue;
		add_lines(l, at, end, sums);
		int there = pmfs_source_is_there(r->model, file, r->err);
		pmfs_report_check(r, there);
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, file);
		pm_json_text(&r->json, r->tree->texts[file]);
		pm_json_bool(&r->json, there > 0);
		pmfs_report_cells(r, sums);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
}

/* ---- the lines of a file ---- */

/* [line, row of the function, [cells], row of lines.csv] */
static void write_costs(struct pmfs_report *r, const struct pmfs_lines *l,
	const struct pmfs_functions *f, uint32_t file)
{
	uint32_t *place = pm_arena_array(r->a, (size_t)l->n + 1, sizeof(*place));
	for (uint32_t i = 0; i < l->n; i++)
		place[l->order[i]] = i;
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

static void write_text(struct pmfs_report *r, uint32_t file)
{
	struct pm_bytes rest;
	pm_json_key(&r->json, "text");
	if (!pmfs_source_open(r->a, r->model, file, &rest, r->err)) {
		pm_json_null(&r->json);
		return;
	}
	pm_json_open(&r->json, '[');
	for (uint32_t n = 0; rest.len > 0 && n < PMFS_REPORT_LINES; n++)
		pm_json_text(&r->json, pmfs_source_line(&rest));
	pm_json_close(&r->json, ']');
}

void pmfs_report_source(struct pmfs_report *r)
{
	const struct pmfs_lines *l = get_lines(r);
	const struct pmfs_functions *f;
	if (!l)
		return;
	pmfs_report_check(r, pmfs_functions(r->model, &f, r->err));
	if (r->n[0] == 0 || r->n[0] >= r->tree->n_texts) {
		pm_json_null(&r->json);
		return;
	}
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "path");
	pm_json_text(&r->json, r->tree->texts[r->n[0]]);
	write_costs(r, l, f, r->n[0]);
	pmfs_report_names(r, f);
	write_text(r, r->n[0]);
	pm_json_close(&r->json, '}');
}

/*
 * Whom the lines call: rows of callers.csv by line, [line, row of the callee, calls or null,
 * [cells]]. Apart from the lines, which are there sooner: it may be the first that needs all calls.
 */
void pmfs_report_sites(struct pmfs_report *r)
{
	const struct pmfs_functions *f;
	const struct pmfs_lines_of all = {r->n[0], 1, UINT32_MAX};
	if (!r->profile->has_lines || r->n[0] == 0 || r->n[0] >= r->tree->n_texts) {
		pm_json_null(&r->json);
		return;
	}
	pmfs_report_check(r, pmfs_functions(r->model, &f, r->err));
	const struct pmfs_sites *sites = pmfs_sites_of(r->a, r->model, &all, r->err);
	pm_json_open(&r->json, '{');
	pm_json_key(&r->json, "sites");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < sites->n && i < PMFS_REPORT_LINES; i++) {
		const struct pmfs_call_edge *call = &sites->calls->calls[sites->rows[i]];
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, call->line);
		pmfs_report_row(r, f, call->callee);
		if (call->calls == PMFS_UNCOUNTED)
			pm_json_null(&r->json);
		else
			pm_json_u64(&r->json, call->calls);
		pmfs_report_cells(r, sites->calls->cells + (size_t)sites->rows[i] * r->columns->n);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
	write_evals(r, f, sites);
	pmfs_report_names(r, f);
	pm_json_close(&r->json, '}');
}
