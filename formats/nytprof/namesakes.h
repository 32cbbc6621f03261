/*
 * Tells subs of one name apart that processes define in different files, such as main::setup of
 * two test programs: each is a function of its own. The first file's sub keeps the name's number;
 * the others get numbers behind those of all names.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_NAMESAKES_H
#define PROFMOUNT_FORMATS_NYTPROF_NAMESAKES_H

#include "formats/nytprof/native.h"

/* Call after all files have been read and evals merged; no names are added any more. -ENOMEM. */
int nytp_namesakes_find(struct nytp *n);

#endif
