/* Shared by the files of make_costly. */
#ifndef PROFMOUNT_TESTS_COST_COSTLY_H
#define PROFMOUNT_TESTS_COST_COSTLY_H

#include <stddef.h>

/* Where to write, and about how much. */
extern const char *costly_path;
extern size_t costly_bytes;

_Noreturn void costly_die(const char *what);

/* Cases of HPCToolkit. */
void costly_hpctk_deep(void);
void costly_hpctk_wide(void);
void costly_hpctk_long_names(void);
void costly_hpctk_ends_of_names(void);
void costly_hpctk_long_module(void);
void costly_hpctk_samples(void);
void costly_hpctk_threads(void);
void costly_hpctk_shared_samples(void);
void costly_hpctk_shared_values(void);

/* Cases of JSON, of text and of pprof. */
void costly_events_names(void);
void costly_events_threads(void);
void costly_events_deep(void);
void costly_events_overlap(void);
void costly_events_crossed(void);
void costly_events_async(void);
void costly_events_counters(void);
void costly_events_sampled(void);
void costly_v8_nested(void);
void costly_v8_chain(void);
void costly_speedscope_deep(void);
void costly_speedscope_profiles(void);
void costly_speedscope_open(void);
void costly_folded_deep(void);
void costly_folded_names(void);
void costly_script_threads(void);
void costly_script_inlined(void);
void costly_pprof_labels(void);

/* Cases of perf.data and callgrind. */
void costly_perf_runs(void);
void costly_perf_forks(void);
void costly_callgrind_orders(void);

#endif
