/*
 * Tells subs of one name apart that processes define in different files, such as main::setup of
 * two test programs: each is a function of its own, with a number behind those of all names. The
 * name's own number then is that of a sub of which the file is not known.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_NAMESAKES_H
#define PROFMOUNT_FORMATS_NYTPROF_NAMESAKES_H

#include "formats/nytprof/native.h"

/*
 * Call after all files have been read, parents found and evals merged; no names are added any more.
 * 0 or -ENOMEM.
 */
int nytp_namesakes_find(struct nytp *n);

#endif
