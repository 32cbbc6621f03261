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

#endif
