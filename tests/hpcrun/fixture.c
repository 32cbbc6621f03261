#include "tests/hpcrun/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *const fixture_version_names[FIXTURE_N_VERSIONS] = {"era-little", "era-big",
	"02.00-of-2009", "seed", "01.98", "01.9A", "02.00-of-2010", "02.00", "02.00-tail",
	"02.00-long-tail", "03.00", "04.00"};

struct out {
	struct pm_text *text;
	bool big;
};

/* ---- numbers and strings ---- */

static void put(struct out *o, uint64_t u, unsigned size)
{
	for (unsigned i = 0; i < size; i++) {
		unsigned byte = o->big ? size - 1 - i : i;
		pm_text_char(o->text, (char)(u >> (8 * byte)));
	}
}

static void put_string(struct out *o, const char *s)
{
	put(o, strlen(s), 4);
	pm_text_str(o->text, s);
}

static void put_pairs(struct out *o, const struct fixture_pair *pairs, size_t n)
{
	put(o, n, 4);
	for (size_t i = 0; i < n; i++) {
		put_string(o, pairs[i].key);
		put_string(o, pairs[i].value);
	}
}

/* ---- tables ---- */

static bool is_early(enum fixture_version v)
{
	return v <= FIXTURE_SEED;
}

static void put_tail(struct out *o, enum fixture_version v)
{
	if (v == FIXTURE_0200 || v == FIXTURE_0200_2010)
		return;
	put(o, 0, 2);
	put(o, 0, 2);
	put(o, 0, 8);
	if (v == FIXTURE_0200_LONG)
		put(o, 0, 8);
	put(o, 0, 8);
}

static void put_metrics(struct out *o, const struct fixture_profile *p)
{
	bool modern = p->version >= FIXTURE_0200_2010;
	put(o, p->n_metrics, 4);
	for (size_t i = 0; i < p->n_metrics; i++) {
		const struct fixture_metric *m = &p->metrics[i];
		put_string(o, m->name);
		if (modern || p->version == FIXTURE_019A)
			put_string(o, "what it counts");
		if (p->version == FIXTURE_0200_2010) { /* bit fields of two integers */
			put(o, 1 | (m->real ? 2 : 1) << 8 | 1u << 28 | 1u << 29, 8);
			put(o, 0, 8);
		} else if (modern) {
			const char flags[16] = {
				1, 0, (char)(m->real ? 2 : 1), m->moves, 0, 0, 1, 1};
			pm_text_add(o->text, flags, sizeof(flags));
		} else {
			put(o, 1, 8);
		}
		put(o, m->period, 8);
		if (modern) {
			put_string(o, "");
			put_string(o, "%14.0f");
			put_tail(o, p->version);
		}
	}
}

static void put_modules(struct out *o, const struct fixture_profile *p)
{
	enum fixture_version v = p->version;
	bool has_id = v >= FIXTURE_019A, has_addresses = v <= FIXTURE_0200_2010;
	put(o, p->n_modules, 4);
	for (size_t i = 0; i < p->n_modules; i++) {
		const struct fixture_module *m = &p->modules[i];
		if (has_id)
			put(o, i + 1, 2);
		if (v != FIXTURE_SEED)
			put_string(o, m->name);
		if (has_addresses) {
			put(o, m->vaddr, 8);
			put(o, 0, 8);
		}
		if (v == FIXTURE_SEED)
			put_string(o, m->name);
		if (has_id || v == FIXTURE_SEED)
			put(o, 1, has_id ? 8 : 4);
	}
}

/* Era nodes are positive; leaves are negative from the design note on, but not in 04.00. */
static uint32_t id_of(const struct fixture_profile *p, const struct fixture_node *node)
{
	bool negative = node->leaf && p->version >= FIXTURE_SEED && p->version < FIXTURE_0400;
	return negative ? -node->number : node->number;
}

/* Before nodes named their module, ip was the address in the process. */
static uint64_t address_of(const struct fixture_profile *p, const struct fixture_node *node)
{
	bool named = p->version >= FIXTURE_019A || node->module == 0 || node->module > p->n_modules;
	return named ? node->ip : p->modules[node->module - 1].vaddr + node->ip;
}

static void put_node(
	struct out *o, const struct fixture_profile *p, const struct fixture_node *node)
{
	bool era = p->version < FIXTURE_SEED;
	bool lush = era || p->lush;
	put(o, id_of(p, node), 4);
	put(o, node->parent, 4);
	if (lush)
		put(o, 0x101, 4);
	if (p->version >= FIXTURE_019A)
		put(o, node->module, 2);
	put(o, address_of(p, node), 8);
	if (lush) {
		put(o, 0x1122334455667788, 8);
		put(o, node->number, 8);
	}
	if (p->version == FIXTURE_0400 && !p->short_nodes)
		put(o, 1, 1);
}

static void put_nodes(struct out *o, const struct fixture_profile *p)
{
	put(o, p->n_nodes, p->version == FIXTURE_SEED ? 4 : 8);
	for (size_t i = 0; i < p->n_nodes; i++) {
		put_node(o, p, &p->nodes[i]);
		for (size_t k = 0; k < p->n_metrics && p->version != FIXTURE_0400; k++)
			put(o, p->nodes[i].values[k], 8);
	}
}

/* ---- files of epochs ---- */

static void put_epoch(struct out *o, const struct fixture_profile *p)
{
	static const struct fixture_pair pair = {"LIP-size", "2"};
	pm_text_str(o->text, "EPOCH___");
	put(o, p->lush, 8);
	if (is_early(p->version)) {
		put(o, 1, 4);
		put(o, 1, 8);
	} else {
		put(o, 1, 8);
		put(o, 1, 4);
	}
	put_pairs(o, &pair, 1);
	put_metrics(o, p);
	put_modules(o, p);
	put_nodes(o, p);
}

/* ---- files of sections ---- */

static void align(struct out *o)
{
	while (o->text->len % 1024)
		pm_text_char(o->text, 0);
}

static void put_dictionary(struct out *o)
{
	static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD", "GPUDEVICE",
		"GPUCONTEXT", "GPUSTREAM", "CORE"};
	put(o, 8, 2);
	for (unsigned i = 0; i < 8; i++) {
		put(o, i, 2);
		put_string(o, kinds[i]);
	}
}

static size_t count_values(const struct fixture_profile *p, size_t node)
{
	size_t n = 0;
	for (size_t k = 0; k < p->n_metrics; k++)
		n += p->nodes[node].values[k] != 0;
	return n;
}

static void put_index(struct out *o, const struct fixture_profile *p)
{
	size_t at = 0;
	for (size_t i = 0; i < p->n_nodes; i++) {
		size_t n = count_values(p, i);
		if (n == 0)
			continue;
		put(o, p->nodes[i].number, 4);
		put(o, at, 8);
		at += n;
	}
	put(o, 0x656e6421, 4);
	put(o, at, 8);
}

static void put_sparse(struct out *o, const struct fixture_profile *p)
{
	size_t n_values = 0, n_blocks = 0;
	for (size_t i = 0; i < p->n_nodes; i++) {
		n_values += count_values(p, i);
		n_blocks += count_values(p, i) > 0;
	}
	if (p->footer)
		put(o, 1, 4); /* the thread, in the place of its identity */
	else
		put(o, p->n_levels, 2);
	for (size_t i = 0; i < p->n_levels && !p->footer; i++) {
		put(o, p->levels[i].kind, 2);
		put(o, p->levels[i].physical, 8);
		put(o, p->levels[i].logical, 8);
	}
	put(o, n_values, 8);
	put(o, n_blocks, 4);
	for (size_t i = 0; i < p->n_nodes; i++)
		for (size_t k = 0; k < p->n_metrics; k++)
			if (p->nodes[i].values[k]) {
				put(o, p->nodes[i].values[k], 8);
				put(o, k, 2);
			}
	put_index(o, p);
}

static void put_sections(struct out *o, const struct fixture_profile *p)
{
	uint64_t start[6], end[6];
	for (size_t i = 0; i < 6; i++) {
		if (i == 4 && p->footer)
			continue;
		start[i] = i ? o->text->len : 0;
		switch (i) {
		case 0: break; /* magic and pairs are there */
		case 1: put_modules(o, p); break;
		case 2: put_nodes(o, p); break;
		case 3: put_metrics(o, p); break;
		case 4: put_dictionary(o); break;
		case 5: put_sparse(o, p); break;
		}
		end[i] = o->text->len;
		align(o);
	}
	uint64_t footer = o->text->len;
	for (size_t i = 0; i < 6; i++) {
		if (i == 4 && p->footer)
			continue;
		put(o, start[i], 8);
		if (p->footer != FIXTURE_FOOTER_STARTS)
			put(o, end[i], 8);
	}
	put(o, footer, 8);
	pm_text_str(o->text, "HPCRUNsm");
}

void fixture_profile_write(const struct fixture_profile *p, struct pm_text *out)
{
	static const char *const magics[FIXTURE_N_VERSIONS] = {"HPCRUN____02.00l",
		"HPCRUN____02.00b", "HPCRUN-profile____02.00b", "HPCRUN____02.00l",
		"HPCRUN-profile____01.98b", "HPCRUN-profile____01.9Ab", "HPCRUN-profile____02.00b",
		"HPCRUN-profile____02.00b", "HPCRUN-profile____02.00b", "HPCRUN-profile____02.00b",
		"HPCRUN-profile____03.00b", "HPCRUN-profile____04.00b"};
	const char *magic = magics[p->version];
	struct out o = {.text = out, .big = magic[strlen(magic) - 1] == 'b'};
	pm_text_str(out, magic);
	put_pairs(&o, p->pairs, p->n_pairs);
	if (p->version == FIXTURE_0400) {
		put_sections(&o, p);
		return;
	}
	if (p->version == FIXTURE_SEED)
		put(&o, p->n_epochs, 4);
	for (size_t i = 0; i < p->n_epochs; i++)
		put_epoch(&o, p);
}

/* ---- traces ---- */

void fixture_trace_write(enum fixture_trace version, uint64_t flags,
	const struct fixture_sample *samples, size_t n, struct pm_text *out)
{
	struct out o = {.text = out, .big = true};
	if (version == FIXTURE_TRACE_0100)
		pm_text_str(out, "HPCRUN-trace______01.00b");
	if (version == FIXTURE_TRACE_0101) {
		pm_text_str(out, "HPCRUN-trace______01.01b");
		put(&o, flags, 8);
	}
	for (size_t i = 0; i < n; i++) {
		put(&o, samples[i].time, 8);
		put(&o, samples[i].node, 4);
		if (version == FIXTURE_TRACE_0101 && (flags & 1))
			put(&o, samples[i].metric, 4);
	}
}

/* ---- made runs ---- */

#define BITS_OF_QUARTER UINT64_C(0x3fd0000000000000)

static const struct fixture_node small_nodes[FIXTURE_NODES] = {
	{12, 0, false, 0, 0, {0}},
	{14, 12, true, 0, 1, {0}},
	{16, 12, false, 1, 0x1100, {0}},
	{19, 16, true, 1, 0x1129, {BITS_OF_QUARTER, 0}},
	{20, 16, false, 1, 0x1140, {BITS_OF_QUARTER, 7}},
	{23, 20, true, 2, 0x900, {0, 3}},
	{24, 20, false, 1, 0x1140, {0}},
	{27, 24, true, 2, 0x900, {0, 1}},
};
static const struct fixture_node modern_nodes[FIXTURE_NODES] = {
	{12, 0, false, 0, 0x5e5072696d617279, {0}},
	{14, 12, true, 0, 0x5e5061727469616c, {0}},
	{16, 12, false, 1, 0x1100, {0}},
	{19, 16, true, 1, 0x1129, {BITS_OF_QUARTER, 0}},
	{20, 16, false, 1, 0x1140, {BITS_OF_QUARTER, 7}},
	{23, 20, true, 2, 0x900, {0, 3}},
	{24, 20, false, 1, 0x1140, {0}},
	{27, 24, true, 2, 0x900, {0, 1}},
};

struct fixture_profile fixture_small(enum fixture_version version)
{
	static const struct fixture_pair pairs[] = {{"program-name", "made"}, {"mpi-rank", "3"},
		{"thread-id", "1"}, {"process-id", "4242"}, {"host-id", "7f0101"}};
	static const struct fixture_metric metrics[] = {
		{"CPUTIME (sec)", true, 1}, {"PAPI_TOT_CYC", false, 1000}};
	static const struct fixture_metric integers[] = {
		{"CPUTIME (sec)", false, 1}, {"PAPI_TOT_CYC", false, 1000}};
	static const struct fixture_module modules[] = {
		{"/usr/bin/made", 0x400000}, {"/lib64/libc.so.6", 0x7f0000000000}};
	static const struct fixture_level levels[] = {
		{1 | 1 << 14, 0x7f0101, 0}, {2, 3, 3}, {3, 1, 1}};
	bool flagged = version >= FIXTURE_0200_2010;
	return (struct fixture_profile){.version = version,
		.pairs = pairs,
		.n_pairs = sizeof(pairs) / sizeof(pairs[0]),
		.metrics = flagged ? metrics : integers,
		.n_metrics = 2,
		.modules = modules,
		.n_modules = 2,
		.nodes = version == FIXTURE_0400 ? modern_nodes : small_nodes,
		.n_nodes = FIXTURE_NODES,
		.levels = levels,
		.n_levels = 3,
		.n_epochs = 1};
}

int fixture_save(struct pm_text *t, const char *folder, const char *name)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	bool ok = !t->failed && write(fd, t->p, t->len) == (ssize_t)t->len;
	pm_text_clear(t);
	return close(fd) == 0 && ok ? 0 : -EIO;
}

/* Numbers that are the same everywhere: a linear congruential sequence. */
static uint32_t next_number(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Some nodes have values: half of them one, a quarter another. */
static void make_values(struct fixture_node *node, uint64_t *state)
{
	if (next_number(state) % 2)
		node->values[0] = BITS_OF_QUARTER;
	if (next_number(state) % 4 == 0)
		node->values[1] = 1 + next_number(state) % 1000;
}

/* As in real programs many paths lead to a place: that many in each module. */
enum { FIXTURE_PLACES = 20000 };

/* A path's node, below those of the paths above it: path k has 3k + 1 … 3k + 3 below it. */
static uint32_t add_path(
	struct fixture_node *nodes, uint32_t n, uint32_t *count, uint32_t *places, uint32_t path)
{
	uint32_t chain[32], depth = 0;
	for (; places[path] == 0; path = (path - 1) / 3)
		chain[depth++] = path;
	uint32_t place = places[path] - 1;
	while (depth > 0 && *count < n) {
		uint64_t at = chain[--depth];
		nodes[*count] = (struct fixture_node){.number = 12 + 2 * *count,
			.parent = 12 + 2 * place,
			.module = (uint16_t)(1 + at % 2),
			.ip = 0x1000 + at * 0x9e3779b1 % FIXTURE_PLACES * 4};
		place = (*count)++;
		places[at] = place + 1;
	}
	return place;
}

/*
 * A part of a tree of n_paths paths, another one for each thread; few paths are taken by most.
 * `places` has room for all paths, and zeros.
 */
static void make_wide_nodes(
	struct fixture_node *nodes, uint32_t n, uint32_t thread, uint32_t *places, uint32_t n_paths)
{
	uint64_t state = thread;
	uint32_t count = 1;
	nodes[0] = (struct fixture_node){.number = 12, .ip = 0x5e5072696d617279};
	memset(places, 0, n_paths * sizeof(*places));
	places[0] = 1;
	while (count < n) {
		double u = next_number(&state) / 2147483648.0;
		uint32_t place = add_path(
			nodes, n, &count, places, (uint32_t)(u * u * u * n_paths) % n_paths);
		if (place > 0 && nodes[place].values[0] == 0)
			make_values(&nodes[place], &state);
	}
}

static void make_nodes(struct fixture_node *nodes, uint32_t n, uint32_t thread)
{
	uint64_t tree = 1, own = thread;
	for (uint32_t i = 0; i < n; i++) {
		struct fixture_node *node = &nodes[i];
		*node = (struct fixture_node){.number = 12 + 2 * i};
		if (i == 0) {
			node->ip = 0x5e5072696d617279;
			continue;
		}
		/* Most trees have long thin branches: the parent is one of the last few. */
		uint32_t back = 1 + next_number(&tree) % (i < 8 ? i : 8);
		node->parent = 12 + 2 * (i - back);
		node->module = 1 + next_number(&tree) % 2;
		node->ip = 0x1000 + next_number(&tree) % (4 * n);
		make_values(node, &own);
	}
}

static int write_trace(const char *folder, const char *name, uint32_t thread, uint32_t n_nodes,
	uint32_t n, struct pm_text *t)
{
	uint64_t state = thread;
	fixture_trace_write(FIXTURE_TRACE_0101, 0, NULL, 0, t);
	struct out o = {.text = t, .big = true};
	for (uint32_t i = 0; i < n; i++) {
		put(&o, UINT64_C(1700000000000000000) + thread + (uint64_t)i * 1000000, 8);
		put(&o, 12 + 2 * (next_number(&state) % n_nodes), 4);
	}
	return fixture_save(t, folder, name);
}

int fixture_run_write(const char *folder, uint32_t n, uint32_t n_nodes, uint32_t n_samples)
{
	return fixture_wide_run_write(folder, n, n_nodes, n_samples, 0);
}

int fixture_wide_run_write(
	const char *folder, uint32_t n, uint32_t n_nodes, uint32_t n_samples, uint32_t n_paths)
{
	struct fixture_profile p = fixture_small(FIXTURE_0400);
	struct fixture_node *nodes = calloc(n_nodes, sizeof(*nodes));
	uint32_t *places = calloc((size_t)n_paths + 1, sizeof(*places));
	struct pm_text t = {.p = NULL};
	int r = nodes && places ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < n && r == 0; i++) {
		char name[64];
		struct fixture_level levels[] = {{2, i / 8, i / 8}, {3, i % 8, i % 8}};
		if (n_paths > n_nodes)
			make_wide_nodes(nodes, n_nodes, i, places, n_paths);
		else
			make_nodes(nodes, n_nodes, i);
		p.nodes = nodes;
		p.n_nodes = n_nodes;
		p.levels = levels;
		p.n_levels = 2;
		fixture_profile_write(&p, &t);
		snprintf(name, sizeof(name), "made-%06u-%03u-007f0101-4242-0.hpcrun", i / 8, i % 8);
		r = fixture_save(&t, folder, name);
		strcpy(strrchr(name, '.'), ".hpctrace");
		if (r == 0 && n_samples)
			r = write_trace(folder, name, i, n_nodes, n_samples, &t);
	}
	pm_text_done(&t);
	free(places);
	free(nodes);
	return r;
}
