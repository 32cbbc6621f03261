/* Facts: the attributes of the first file that describe the run, followed by counts. */
#include "formats/nytprof/facts.h"

#include <errno.h>
#include <math.h>

#include "formats/nytprof/dialect.h"

/* Attributes of the header and their names in info.json. */
static const struct {
	const char *attribute, *key;
	bool number;
} known[] = {
	{"application", "application", false},
	{"perl_version", "perl_version", false},
	{"xs_version", "nytprof_version", false},
	{"osname", "osname", false},
	{"clock_id", "clock_id", true},
	{"ticks_per_sec", "ticks_per_sec", true},
	{"basetime", "program_start_s", true},
};

enum { N_KNOWN = sizeof(known) / sizeof(*known), N_COUNTED = 5 };

static void add(struct nytp_facts *facts, const char *key, struct pm_cell value)
{
	facts->list[facts->n++] = (struct pm_fact){key, value};
}

static void add_attributes(struct nytp_facts *facts, const struct nytp *n)
{
	for (size_t i = 0; i < N_KNOWN; i++) {
		struct pm_bytes text = nytp_attribute(n, &n->files[0], known[i].attribute);
		double number = nytp_number(text);
		if (text.len == 0)
			continue;
		if (known[i].number && !isnan(number))
			add(facts, known[i].key, pm_cell_f64(number));
		else
			add(facts, known[i].key, pm_cell_text(text));
	}
}

static void see_process(struct nytp_facts *facts, const struct nytp_process *p)
{
	if (nytp_time_is_sane(p->start) && !(p->start >= facts->start))
		facts->start = p->start;
	if (nytp_time_is_sane(p->end) && !(p->end <= facts->end))
		facts->end = p->end;
}

int nytp_facts_make(struct nytp_facts *facts, struct nytp *n)
{
	uint64_t processes = 0, finished = 0, calls = 0;
	int64_t statements = 0;
	facts->start = facts->end = NAN;
	facts->list = pm_arena_array(&n->arena, N_KNOWN + N_COUNTED, sizeof(*facts->list));
	if (!facts->list)
		return -ENOMEM;
	for (size_t i = 0; i < n->n_files; i++) {
		const struct nytp_file *f = &n->files[i];
		for (size_t k = 0; k < f->n_processes; k++) {
			see_process(facts, &f->processes[k]);
			finished += !isnan(f->processes[k].end);
		}
		for (size_t k = 0; k < f->n_threads; k++) {
			statements += f->threads[k].statements;
			calls += f->threads[k].calls.returns;
		}
		processes += f->n_processes;
	}
	add_attributes(facts, n);
	add(facts, "profile_files", pm_cell_u64(n->n_files));
	add(facts, "processes", pm_cell_u64(processes));
	add(facts, "processes_finished", pm_cell_u64(finished));
	add(facts, "statements", pm_cell_i64(statements));
	add(facts, "sub_returns", pm_cell_u64(calls));
	return 0;
}
