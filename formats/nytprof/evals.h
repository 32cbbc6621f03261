/*
 * Merges evals of the same place in the source. Perl numbers evaluated texts, and the number is
 * part of the names of their files and subs: a template that is evaluated a thousand times would be
 * a thousand functions with one call each. The number is removed: `(eval 12)[f.pl:3]` →
 * `(eval)[f.pl:3]`. The format's own tables, and the saved texts, keep it.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_EVALS_H
#define PROFMOUNT_FORMATS_NYTPROF_EVALS_H

#include "formats/nytprof/native.h"

/* Computes the replacement of each name; call after all files have been read. -ENOMEM. */
int nytp_evals_fold(struct nytp *n);

#endif
