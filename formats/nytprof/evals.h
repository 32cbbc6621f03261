/*
 * Evals of one place in the source as one. Perl numbers the texts that it evals, and the number is
 * in the names of their files and subs: a template that is evaluated a thousand times would be a
 * thousand functions of one call. The number goes: `(eval 12)[f.pl:3]` → `(eval)[f.pl:3]`. The
 * format's own tables, and the saved texts, keep it.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_EVALS_H
#define PROFMOUNT_FORMATS_NYTPROF_EVALS_H

#include "formats/nytprof/native.h"

/* Finds for each name what stands for it; called when all files are read. -ENOMEM. */
int nytp_evals_fold(struct nytp *n);

#endif
