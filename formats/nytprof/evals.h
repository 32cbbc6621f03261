/* The names under which evals, and subs that they define, are shown: by text, not by number. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_EVALS_H
#define PROFMOUNT_FORMATS_NYTPROF_EVALS_H

#include "formats/nytprof/native.h"

/*
 * Fills n->folded, nytp_file.folded and nytp_fid.shown, .text, .digits, .texts: what
 * nytp_folded and nytp_fid_shown return. `(eval 12)[f.pl:3]` becomes
 *
 *	(eval 5f3a9c01)[f.pl:3]  one of several texts: the first 8 hex digits of its checksum
 *	(eval)[f.pl:3]           all evals of that line: they have one text, or more than
 *	                         NYTP_LIMIT_EVAL_TEXTS; or those of which neither the text nor a
 *	                         sub is stored, as Perl drops the texts of evals without subs
 *
 * Call after all files have been read and parents found (nytp_runs_find). 0 or -ENOMEM.
 */
int nytp_evals_name(struct nytp *n);

#endif
