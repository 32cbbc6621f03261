/* Whether a measurement may have metrics of GPUs, by the names in the tables of its files. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_GPUNAMES_H
#define PROFMOUNT_FORMATS_HPCRUN_GPUNAMES_H

#include "formats/hpcrun/folder.h"

/*
 * 1 where a file's table has a metric that is called like those of GPUs, else 0; whether it has
 * values is another question. -ENOMEM. Reads heads and tables of the files until one is found, and
 * no tree or value.
 */
int hpcrun_has_gpu_names(struct hpcrun_folder *folder);

#endif
