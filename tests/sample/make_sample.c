/*
 * Writes the bundled sample, DIR/heat: a database as HPCToolkit would make it of a small solver
 * with four ranks of two threads each. Rank 3 has the larger part of the grid, so the others wait.
 * DIR/heat-even is of a second run, with a grid that is divided evenly.
 *
 *     make_sample DIR         and prints what it wrote
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/hpctoolkit/writer.h"

enum { RANKS = 4, THREADS_PER_RANK = 2, SAMPLES = 400, STEP_NS = 5000000 };

static const uint64_t start_ns = 1760000000000000000; /* 2025-10-09 */

/* ---- the program: its source is made up, but its lines are those of the contexts ---- */

static const char heat_c[] = "#include \"grid.h\"\n"
			     "\n"
			     "static double step(struct grid *g)\n"
			     "{\n"
			     "\tdouble change = 0;\n"
			     "\t#pragma omp parallel for reduction(max : change)\n"
			     "\tfor (int y = 1; y < g->height - 1; y++)\n"
			     "\t\tfor (int x = 1; x < g->width - 1; x++)\n"
			     "\t\t\tchange = fmax(change, relax(g, x, y));\n"
			     "\treturn change;\n"
			     "}\n"
			     "\n"
			     "static void exchange(struct grid *g)\n"
			     "{\n"
			     "\tpost_halos(g);\n"
			     "\tMPI_Waitall(g->n_requests, g->requests, MPI_STATUSES_IGNORE);\n"
			     "}\n"
			     "\n"
			     "int main(int argc, char **argv)\n"
			     "{\n"
			     "\tstruct grid *g = grid_read(argv[1]);\n"
			     "\twhile (step(g) > 1e-6)\n"
			     "\t\texchange(g);\n"
			     "\tgrid_write(g, argv[2]);\n"
			     "\treturn 0;\n"
			     "}\n";

static const char grid_c[] = "#include \"grid.h\"\n"
			     "\n"
			     "double relax(struct grid *g, int x, int y)\n"
			     "{\n"
			     "\tdouble *p = cell(g, x, y);\n"
			     "\tdouble mean = (p[-1] + p[1] + p[-g->pitch] + p[g->pitch]) / 4;\n"
			     "\tdouble change = fabs(mean - *p);\n"
			     "\t*cell(g->next, x, y) = mean;\n"
			     "\treturn change;\n"
			     "}\n";

enum { HEAT_C, GRID_C, WAIT_C, N_FILES };
enum { MAIN, STEP, OUTLINED, RELAX, CELL, EXCHANGE, WAITALL, BARRIER, READ, N_FUNCTIONS };

static const struct {
	const char *name;
	int file, line, module;
} functions[N_FUNCTIONS] = {
	[MAIN] = {"main", HEAT_C, 19, 0},
	[STEP] = {"step(grid*)", HEAT_C, 3, 0},
	[OUTLINED] = {"step(grid*) [clone ._omp_fn.0]", HEAT_C, 6, 0},
	[RELAX] = {"relax(grid*, int, int)", GRID_C, 3, 0},
	[CELL] = {"cell<double>(grid*, int, int)", GRID_C, 5, 0},
	[EXCHANGE] = {"exchange(grid*)", HEAT_C, 13, 0},
	[WAITALL] = {"MPI_Waitall", WAIT_C, 47, 1},
	[BARRIER] = {"<omp barrier wait>", -1, 0, -1},
	[READ] = {"grid_read(char const*)", HEAT_C, 21, 0},
};

/* ---- the tree ---- */

enum kind { ENTRY, CALL, INLINED, LOOP, LINE };

/* Seconds of its own that a context costs: on the first thread of a rank, and on the others. */
static const struct node {
	int parent;
	enum kind kind;
	int what; /* function, or file */
	int line;
	double first, others;
	double instructions; /* a second, in billions; cycles are 2.4 */
} nodes[] = {
	{-1, ENTRY, 0, 0, 0, 0, 0},
	{0, CALL, MAIN, 0, 0, 0, 0},
	{1, LINE, HEAT_C, 21, 0, 0, 0},
	{2, CALL, READ, 0, 0.21, 0, 0.9},
	{1, LOOP, HEAT_C, 22, 0, 0, 0},
	{4, LINE, HEAT_C, 22, 0.01, 0, 1.1},
	{5, CALL, STEP, 0, 0, 0, 0},
	{6, LINE, HEAT_C, 6, 0.04, 0, 1.2},
	{7, CALL, OUTLINED, 0, 0, 0, 0},
	{8, LOOP, HEAT_C, 7, 0, 0, 0},
	{9, LOOP, HEAT_C, 8, 0, 0, 0},
	{10, LINE, HEAT_C, 9, 0.32, 0.32, 3.1},
	{11, CALL, RELAX, 0, 0, 0, 0},
	{12, LINE, GRID_C, 6, 0.58, 0.58, 2.2},
	{12, LINE, GRID_C, 8, 0.13, 0.13, 1.4},
	{12, LINE, GRID_C, 5, 0, 0, 0},
	{15, INLINED, CELL, 0, 0.07, 0.07, 2.9},
	{4, LINE, HEAT_C, 23, 0, 0, 0},
	{17, CALL, EXCHANGE, 0, 0.02, 0, 1.0},
	{18, LINE, HEAT_C, 16, 0, 0, 0},
	{19, CALL, WAITALL, 0, 0.15, 0, 0.4},
	{-1, ENTRY, 1, 0, 0, 0, 0},
	{21, CALL, OUTLINED, 0, 0, 0, 0},
	{22, LOOP, HEAT_C, 7, 0, 0, 0},
	{23, LOOP, HEAT_C, 8, 0, 0, 0},
	{24, LINE, HEAT_C, 9, 0, 0.32, 3.1},
	{25, CALL, RELAX, 0, 0, 0, 0},
	{26, LINE, GRID_C, 6, 0, 0.58, 2.2},
	{26, LINE, GRID_C, 8, 0, 0.13, 1.4},
	{21, CALL, BARRIER, 0, 0, 0.24, 0.2},
};

enum { N_NODES = sizeof(nodes) / sizeof(nodes[0]) };
enum { SECONDS, CYCLES, INSTRUCTIONS, N_METRICS };
enum run { UNEVEN, EVEN };

/* The main thread's part of the tree is the first one; its relax is not the others'. */
static bool runs_on(int node, int thread)
{
	return (node < 21) == (thread == 0);
}

static double own_cost(enum run run, int node, int rank, int thread, int metric)
{
	const struct node *n = &nodes[node];
	if (!runs_on(node, thread))
		return 0;
	double seconds = thread == 0 ? n->first : n->others;
	bool waits = (n->kind == CALL || n->kind == INLINED) && n->what == WAITALL;
	bool last = rank == RANKS - 1;
	double work = run == EVEN ? 1.135 : last ? 1.45 : 1.0 + 0.03 * rank;
	double wait = run == EVEN || last ? 0.2 : 4.0 - 0.2 * rank;
	double rate = metric == CYCLES ? 2.4 : n->instructions;
	seconds = (double)(long)(seconds * (waits ? wait : work) * 1000 + 0.5) / 1000;
	return metric == SECONDS ? seconds : (double)(long)(seconds * rate * 1e9);
}

/* ---- costs by scope ---- */

struct costs {
	double own[N_NODES], function[N_NODES], execution[N_NODES], lexical[N_NODES];
};

static bool is_call(int node)
{
	return nodes[node].kind != LOOP && nodes[node].kind != LINE;
}

static struct costs costs_of(enum run run, int rank, int thread, int metric)
{
	struct costs c;
	for (int i = 0; i < N_NODES; i++)
		c.own[i] = c.function[i] = c.execution[i] = own_cost(run, i, rank, thread, metric);
	for (int i = N_NODES - 1; i > 0; i--) {
		int parent = nodes[i].parent;
		if (parent < 0)
			continue;
		c.execution[parent] += c.execution[i];
		if (!is_call(i))
			c.function[parent] += c.function[i];
	}
	for (int i = 0; i < N_NODES; i++) {
		c.lexical[i] = is_call(i) ? c.function[i] : c.own[i];
		for (int k = i + 1; nodes[i].kind == LOOP && k < N_NODES; k++)
			if (nodes[k].parent == i && nodes[k].kind == LINE)
				c.lexical[i] += c.own[k];
	}
	return c;
}

static double *of_scope(struct costs *c, enum hpctkw_scope scope)
{
	switch (scope) {
	case HPCTKW_POINT: return c->own;
	case HPCTKW_FUNCTION: return c->function;
	case HPCTKW_LEX_AWARE: return c->lexical;
	case HPCTKW_EXECUTION: return c->execution;
	}
	return NULL;
}

/* ---- writing ---- */

static void add_contexts(struct hpctkw_database *w)
{
	static const char *const entries[] = {"main thread", "application thread"};
	for (int i = 0; i < N_NODES; i++) {
		const struct node *n = &nodes[i];
		struct hpctkw_context c = {
			.parent = n->parent < 0 ? HPCTKW_NONE : (uint32_t)n->parent,
			.id = (uint32_t)i + 1};
		if (n->kind == ENTRY) {
			c.entry = entries[n->what];
		} else if (is_call(i)) {
			c.relation = n->kind == INLINED ? 2 : 1;
			c.has_function = true;
			c.function = (uint32_t)n->what;
		} else {
			c.type = n->kind == LOOP ? 1 : 2;
			c.has_place = true;
			c.file = (uint32_t)n->what;
			c.line = (uint32_t)n->line;
		}
		hpctkw_context(w, &c);
	}
}

static void add_values(
	struct hpctkw_database *w, int node, struct costs costs[N_METRICS], bool summary)
{
	static const enum hpctkw_scope scopes[] = {
		HPCTKW_POINT, HPCTKW_FUNCTION, HPCTKW_LEX_AWARE, HPCTKW_EXECUTION};
	for (uint32_t m = 0; m < N_METRICS; m++)
		for (int s = 0; s < 4; s++) {
			double value = 0;
			for (int i = 0; node < 0 && i < N_NODES; i++) /* context 0: the whole */
				value +=
					nodes[i].parent < 0 ? of_scope(&costs[m], scopes[s])[i] : 0;
			if (node >= 0)
				value = of_scope(&costs[m], scopes[s])[node];
			uint16_t id = summary ? hpctkw_stat_id(m, scopes[s])
					      : hpctkw_prop_id(m, scopes[s]);
			if (value != 0)
				hpctkw_value(w, (uint32_t)(node + 1), id, value);
		}
}

static void add_profile(struct hpctkw_database *w, struct costs costs[N_METRICS], bool summary)
{
	hpctkw_profile(w);
	for (int i = -1; i < N_NODES; i++)
		add_values(w, i, costs, summary);
}

static void add_to(struct costs *sum, const struct costs *c)
{
	for (int i = 0; i < N_NODES; i++) {
		sum->own[i] += c->own[i];
		sum->function[i] += c->function[i];
		sum->execution[i] += c->execution[i];
		sum->lexical[i] += c->lexical[i];
	}
}

/* Samples visit what costs something by turns, longer where it costs more. */
static void add_trace(struct hpctkw_database *w, enum run run, int rank, int thread)
{
	struct costs c = costs_of(run, rank, thread, SECONDS);
	double debt[N_NODES] = {0}, total = 0;
	hpctkw_trace(w);
	for (int i = 0; i < N_NODES; i++)
		total += c.own[i];
	for (int k = 0; k < SAMPLES; k++) {
		int most = 0;
		for (int i = 0; i < N_NODES; i++) {
			debt[i] += c.own[i] / total;
			most = debt[i] > debt[most] ? i : most;
		}
		debt[most] -= 1;
		uint64_t jitter = (uint64_t)((k * 7919 + rank * 104729 + thread * 1299709) % 4001);
		hpctkw_sample(
			w, start_ns + (uint64_t)k * STEP_NS + jitter * 100, (uint32_t)most + 1);
	}
	hpctkw_sample(w, start_ns + (uint64_t)SAMPLES * STEP_NS, 0);
}

static void add_profiles(struct hpctkw_database *w, enum run run)
{
	struct costs sum[N_METRICS] = {{.own = {0}}};
	for (int p = 0; p < RANKS * THREADS_PER_RANK; p++)
		for (int m = 0; m < N_METRICS; m++) {
			struct costs c =
				costs_of(run, p / THREADS_PER_RANK, p % THREADS_PER_RANK, m);
			add_to(&sum[m], &c);
		}
	add_profile(w, sum, true);
	for (int p = 0; p < RANKS * THREADS_PER_RANK; p++) {
		int rank = p / THREADS_PER_RANK, thread = p % THREADS_PER_RANK;
		struct costs c[N_METRICS];
		for (int m = 0; m < N_METRICS; m++)
			c[m] = costs_of(run, rank, thread, m);
		add_profile(w, c, false);
		hpctkw_identity(w, 1, (uint32_t)rank / 2, 0x7f0100u + (uint32_t)rank / 2, true);
		hpctkw_identity(w, 2, (uint32_t)rank, (uint32_t)rank, false);
		hpctkw_identity(w, 3, (uint32_t)thread, (uint32_t)thread, false);
		add_trace(w, run, rank, thread);
	}
}

static struct hpctkw_database *sample(enum run run)
{
	static const struct hpctkw_style style = {.generation = HPCTKW_RELEASED};
	struct hpctkw_database *w = hpctkw_new(&style);
	hpctkw_title(w, "heat");
	hpctkw_metric(w, "CPUTIME (sec)");
	hpctkw_metric(w, "PAPI_TOT_CYC");
	hpctkw_metric(w, "PAPI_TOT_INS");
	hpctkw_module(w, "/home/ada/heat/heat");
	hpctkw_module(w, "/usr/lib/libmpi.so.40");
	hpctkw_file(w, "src/home/ada/heat/heat.c", 1);
	hpctkw_file(w, "src/home/ada/heat/grid.c", 1);
	hpctkw_file(w, "/build/openmpi/ompi/mpi/c/waitall.c", 0);
	for (int i = 0; i < N_FUNCTIONS; i++)
		hpctkw_function(w, functions[i].name,
			functions[i].module < 0 ? HPCTKW_NONE : (uint32_t)functions[i].module,
			functions[i].module < 0 ? 0 : 0x1100u + (uint32_t)i * 0x140u,
			functions[i].file < 0 ? HPCTKW_NONE : (uint32_t)functions[i].file,
			(uint32_t)functions[i].line);
	add_contexts(w);
	add_profiles(w, run);
	return w;
}

static bool make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		bool good = mkdir(path, 0777) == 0 || errno == EEXIST;
		*slash = '/';
		if (!good)
			return false;
	}
	return true;
}

static bool write_text(const char *folder, const char *name, const char *text)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = make_folders(path) ? fopen(path, "w") : NULL;
	if (!f)
		return false;
	bool good = fputs(text, f) >= 0;
	return fclose(f) == 0 && good;
}

static bool write_run(enum run run, const char *dir, const char *name)
{
	char folder[2048];
	struct hpctkw_database *w = sample(run);
	struct hpctkw_files files;
	hpctkw_write(w, &files);
	snprintf(folder, sizeof(folder), "%s/%s", dir, name);
	bool good = write_text(folder, "src/home/ada/heat/heat.c", heat_c) &&
		write_text(folder, "src/home/ada/heat/grid.c", grid_c) &&
		hpctkw_save(&files, folder) == 0;
	if (good)
		puts(folder);
	else
		fprintf(stderr, "make_sample: %s: %s\n", folder, strerror(errno));
	hpctkw_files_free(&files);
	hpctkw_free(w);
	return good;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_sample DIR\n");
		return 2;
	}
	return !(write_run(UNEVEN, argv[1], "heat") && write_run(EVEN, argv[1], "heat-even"));
}
