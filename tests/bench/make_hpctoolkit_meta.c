/* meta.db: names, metrics and the tree of contexts; sizes follow from the numbers. */
#include "tests/bench/make_hpctoolkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/make.h"

enum {
	N_FUNCTIONS = 5000,
	N_FILES = 200,
	N_MODULES = 20,
	N_METRIC_IDS = 4, /* point, function, execution, lex_aware */
};

struct strings {
	char *p;
	size_t n, room;
};

static uint64_t string_add(struct strings *s, const char *text)
{
	size_t n = strlen(text) + 1;
	if (s->n + n > s->room) {
		s->room = s->room * 2 + n;
		s->p = realloc(s->p, s->room);
		if (!s->p)
			make_die("no memory");
	}
	memcpy(s->p + s->n, text, n);
	s->n += n;
	return s->n - n;
}

static uint64_t string_numbered(
	struct strings *s, const char *before, unsigned i, const char *after)
{
	char text[256];
	snprintf(text, sizeof(text), "%s%u%s", before, i, after);
	return string_add(s, text);
}

enum { GENERAL, ID_NAMES, METRICS, CONTEXT, STRINGS, MODULES, FILES, FUNCTIONS, N_SECTIONS };

struct meta {
	uint64_t at[N_SECTIONS], size[N_SECTIONS];
	struct strings strings;
	uint64_t title, kinds[4], metric, scopes[4], formula, entry;
	uint64_t modules[N_MODULES], files[N_FILES], functions[N_FUNCTIONS];
};

static const char *const kind_names[4] = {"SUMMARY", "NODE", "RANK", "THREAD"};
static const char *const scope_names[4] = {"point", "function", "execution", "lex_aware"};

static void meta_strings(struct meta *m)
{
	static const char *const forms[][2] = {{"solve_", ""},
		{"std::map<int, double>::find_", "(int const&)"},
		{"Kernel<", ">::apply(View const&, double*, int)"}, {"exchange_", ""}};
	struct strings *s = &m->strings;
	string_add(s, "");
	m->title = string_add(s, "benchmark");
	for (unsigned i = 0; i < 4; i++) {
		m->kinds[i] = string_add(s, kind_names[i]);
		m->scopes[i] = string_add(s, scope_names[i]);
	}
	m->metric = string_add(s, "CPUTIME (sec)");
	m->formula = string_add(s, "$$");
	m->entry = string_add(s, "main thread");
	for (unsigned i = 0; i < N_MODULES; i++)
		m->modules[i] = string_numbered(s, "/opt/app/lib/libmodule", i, ".so");
	for (unsigned i = 0; i < N_FILES; i++)
		m->files[i] = string_numbered(s, "/home/user/src/app/part", i, ".cpp");
	for (unsigned i = 0; i < N_FUNCTIONS; i++)
		m->functions[i] = string_numbered(s, forms[i % 4][0], i, forms[i % 4][1]);
}

static void meta_plan(const struct plan *p, struct meta *m)
{
	uint64_t at = 0x90;
	m->size[GENERAL] = 0x10;
	m->size[ID_NAMES] = 0x10 + 4 * 8;
	m->size[METRICS] = 0x20 + 32 + 4 * 16 + 4 * 24 + 4 * 16;
	m->size[CONTEXT] = 0x10 + 32 + p->tree.bytes;
	m->size[STRINGS] = m->strings.n;
	m->size[MODULES] = 0x10 + N_MODULES * 16;
	m->size[FILES] = 0x10 + N_FILES * 16;
	m->size[FUNCTIONS] = 0x10 + N_FUNCTIONS * 40;
	for (unsigned i = 0; i < N_SECTIONS; i++) {
		m->at[i] = at;
		at += (m->size[i] + 7) / 8 * 8;
	}
}

static void put_metrics(const struct meta *m)
{
	static const uint8_t types[4] = {1, 3, 2, 0}, bits[4] = {255, 0, 255, 255};
	uint64_t at = m->at[METRICS], metrics = at + 0x20, instances = metrics + 32;
	uint64_t summaries = instances + 4 * 16, scopes = summaries + 4 * 24, s = m->at[STRINGS];
	out_int(metrics, 8);
	out_int(1, 4);
	out_bytes("\x20\x10\x18", 3);
	out_zeros(1);
	out_int(scopes, 8);
	out_int(4, 2);
	out_int(16, 1);
	out_zeros(5);
	out_int(s + m->metric, 8);
	out_int(instances, 8);
	out_int(summaries, 8);
	out_int(4, 2);
	out_int(4, 2);
	out_zeros(4);
	for (unsigned i = 0; i < 4; i++) { /* propMetricId = i */
		out_int(scopes + 16 * i, 8);
		out_int(i, 2);
		out_zeros(6);
	}
	for (unsigned i = 0; i < 4; i++) { /* statMetricId = i, the sum */
		out_int(scopes + 16 * i, 8);
		out_int(s + m->formula, 8);
		out_int(0, 2);
		out_int(i, 2);
		out_zeros(4);
	}
	for (unsigned i = 0; i < 4; i++) {
		out_int(s + m->scopes[i], 8);
		out_int(types[i], 1);
		out_int(bits[i], 1);
		out_zeros(6);
	}
}

static void put_context(const struct plan *p, const struct meta *m, uint64_t records, uint32_t i)
{
	const struct tree *t = &p->tree;
	uint64_t bytes = 0;
	if (t->n_children[i])
		bytes = t->place[t->first[i] + t->n_children[i]] - t->place[t->first[i]];
	out_int(bytes, 8);
	out_int(bytes ? records + t->place[t->first[i]] : 0, 8);
	out_int((uint64_t)i + 2, 4); /* 1 is the entry */
	out_int(t->is_line[i] ? 2 : 1, 1);
	out_int(t->is_line[i] ? 0 : 1, 1);
	out_int(t->is_line[i] ? 2 : 0, 1);
	out_int(t->is_line[i] ? 2 : 1, 1);
	out_int(t->is_line[i] ? 1 : 0, 2);
	out_zeros(6);
	if (!t->is_line[i]) {
		out_int(m->at[FUNCTIONS] + 0x10 + (uint64_t)(make_mix(i) % N_FUNCTIONS) * 40, 8);
		return;
	}
	out_int(m->at[FILES] + 0x10 + (uint64_t)(make_mix(i) % N_FILES) * 16, 8);
	out_int(1 + make_mix(i + 7) % 3000, 4);
	out_zeros(4);
}

static void put_contexts(const struct plan *p, const struct meta *m)
{
	uint64_t entry = m->at[CONTEXT] + 0x10, records = entry + 32;
	out_int(entry, 8);
	out_int(1, 2);
	out_int(32, 1);
	out_zeros(5);
	out_int(FUNCTION_RECORD, 8);
	out_int(records, 8);
	out_int(1, 4);
	out_int(1, 2);
	out_zeros(2);
	out_int(m->at[STRINGS] + m->entry, 8);
	for (uint32_t i = 0; i < p->n_contexts; i++)
		put_context(p, m, records, i);
}

static void put_section_header(uint64_t at, uint32_t n, uint16_t stride)
{
	out_int(at + 0x10, 8);
	out_int(n, 4);
	out_int(stride, 2);
	out_zeros(2);
}

static void put_tables(const struct meta *m)
{
	uint64_t s = m->at[STRINGS];
	out_bytes(m->strings.p, m->strings.n);
	out_pad_to(m->at[MODULES]);
	put_section_header(m->at[MODULES], N_MODULES, 16);
	for (unsigned i = 0; i < N_MODULES; i++) {
		out_int(0, 8);
		out_int(s + m->modules[i], 8);
	}
	put_section_header(m->at[FILES], N_FILES, 16);
	for (unsigned i = 0; i < N_FILES; i++) {
		out_int(0, 8);
		out_int(s + m->files[i], 8);
	}
	put_section_header(m->at[FUNCTIONS], N_FUNCTIONS, 40);
	for (unsigned i = 0; i < N_FUNCTIONS; i++) {
		out_int(s + m->functions[i], 8);
		out_int(m->at[MODULES] + 0x10 + i % N_MODULES * 16, 8);
		out_int(0x1000 + i * 64, 8);
		out_int(m->at[FILES] + 0x10 + i % N_FILES * 16, 8);
		out_int(1 + i % 900, 4);
		out_int(0, 4);
	}
}

void hpctoolkit_write_meta(const struct plan *p)
{
	struct meta m = {.strings = {.p = NULL}};
	meta_strings(&m);
	meta_plan(p, &m);
	hpctoolkit_open(p, "meta.db", "meta");
	for (unsigned i = 0; i < N_SECTIONS; i++) {
		out_int(m.size[i], 8);
		out_int(m.at[i], 8);
	}
	out_int(m.at[STRINGS] + m.title, 8);
	out_int(m.at[STRINGS], 8);
	out_int(m.at[ID_NAMES] + 0x10, 8);
	out_int(4, 1);
	out_zeros(7);
	for (unsigned i = 0; i < 4; i++)
		out_int(m.at[STRINGS] + m.kinds[i], 8);
	put_metrics(&m);
	put_contexts(p, &m);
	put_tables(&m);
	hpctoolkit_close("_meta.db");
	free(m.strings.p);
}
