/* Several runs in one measurement directory: formats/hpcrun/threadlist.c, through the format
 * interface.
 */
#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profmount/format.h"
#include "tests/hpcrun/exercise.h"
#include "tests/hpcrun/fixture.h"

/* A process with one thread; end = 0: without a trace. */
struct process {
	const char *stem;
	uint64_t start, end;
	uint64_t run; /* 0: there is one */
};

static void write_process(const char *folder, const struct process *p)
{
	char name[128];
	struct pm_text t = {.p = NULL};
	struct fixture_profile profile = fixture_small(FIXTURE_0300);
	profile.n_pairs = 0; /* who it is of is in the name */
	fixture_profile_write(&profile, &t);
	snprintf(name, sizeof(name), "%s.hpcrun", p->stem);
	assert_int_equal(fixture_save(&t, folder, name), 0);
	const struct fixture_sample samples[] = {{p->start, 1, 0}, {p->end, 1, 0}};
	if (p->end) {
		fixture_trace_write(FIXTURE_TRACE_0101, 0, samples, 2, &t);
		snprintf(name, sizeof(name), "%s.hpctrace", p->stem);
		assert_int_equal(fixture_save(&t, folder, name), 0);
	}
	pm_text_done(&t);
}

/* `processes` by name, as files are. */
static void check(const struct process *processes, uint32_t n, size_t n_runs_told)
{
	char folder[SCRATCH_PATH], command[SCRATCH_PATH + 16];
	struct pm_profile *p;
	const struct pm_threads *threads;
	const struct pm_damages *damages;
	size_t n_told = 0;
	scratch_new(folder);
	for (uint32_t i = 0; i < n; i++)
		write_process(folder, &processes[i]);
	const struct pm_open_options options = {.no_symbols = true};
	assert_int_equal(pm_profile_open(folder, "hpcrun", &options, &p, NULL), 0);
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	assert_int_equal(threads->n, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct pm_identity *first = &threads->threads[i].identity[0];
		bool has_run = strcmp(threads->keys[first->key], "run") == 0;
		assert_int_equal(has_run ? first->value : 0, processes[i].run);
	}
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	for (size_t i = 0; i < damages->n; i++)
		n_told += strncmp(damages->rows[i].what, "run ", 4) == 0;
	assert_int_equal(n_told, n_runs_told);
	/* Nothing is said of how well threads use the time between runs. */
	assert_int_equal(p->ops->has(p, PM_HAS_TIMES, NULL), n_runs_told == 0);
	pm_profile_close(p);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void test_the_same_rank_at_other_times(void **state)
{
	const struct process later[] = {{"a-000000-000-0a-11-0", 5000, 6000, 2},
		{"a-000000-000-0a-12-0", 100, 200, 1}, {"a-000001-000-0a-13-0", 100, 210, 1},
		{"a-000001-000-0b-14-0", 5100, 6100, 2}};
	check(later, 4, 2);
}

static void test_processes_at_the_same_time_are_one_run(void **state)
{
	const struct process together[] = {
		{"a-000000-000-0a-11-0", 100, 300, 0}, {"a-000000-000-0b-12-0", 200, 400, 0}};
	check(together, 2, 0);
}

static void test_ranks_that_follow_each_other_are_one_run(void **state)
{
	const struct process in_turn[] = {
		{"a-000000-000-0a-11-0", 100, 200, 0}, {"a-000001-000-0b-12-0", 300, 400, 0}};
	check(in_turn, 2, 0);
}

static void test_without_times_programs_and_hosts_tell(void **state)
{
	const struct process programs[] = {{"a-000000-000-0a-11-0", 0, 0, 1},
		{"a-000001-000-0b-12-0", 0, 0, 1}, {"b-000000-000-0a-13-0", 0, 0, 2},
		{"b-000001-000-0b-14-0", 0, 0, 2}};
	check(programs, 4, 2);
	const struct process hosts[] = {
		{"a-000000-000-0a-11-0", 0, 0, 1}, {"a-000000-000-0b-12-0", 0, 0, 2}};
	check(hosts, 2, 2);
	const struct process alone[] = {
		{"a-000000-000-0a-11-0", 0, 0, 0}, {"a-000000-000-0a-12-0", 0, 0, 0}};
	check(alone, 2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_rank_at_other_times),
		cmocka_unit_test(test_processes_at_the_same_time_are_one_run),
		cmocka_unit_test(test_ranks_that_follow_each_other_are_one_run),
		cmocka_unit_test(test_without_times_programs_and_hosts_tell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
