/*
 * Defines what input.c defines, so that programs which link this take nothing from there.
 */
#include "tests/hpctoolkit/heap_input.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/hpctoolkit/hpctoolkit.h"
#include "tests/hpctoolkit/fixtures.h"

struct pm_bytes heap_files[HPCTK_N_FILES];

int pm_input_open(struct pm_input *in, int folder, const char *path, struct pm_error *err)
{
	(void)folder;
	*in = (struct pm_input){.fd = -1, .slot = -1};
	for (enum hpctk_file i = 0; i < HPCTK_N_FILES; i++) {
		if (strcmp(path, hpctk_file_name(i)) != 0 || !heap_files[i].p)
			continue;
		uint8_t *copy = malloc(heap_files[i].len);
		if (!copy && heap_files[i].len)
			return pm_error_set(err, -ENOMEM, path, PM_NO_OFFSET, "no memory");
		if (heap_files[i].len)
			memcpy(copy, heap_files[i].p, heap_files[i].len);
		in->bytes = (struct pm_bytes){copy, heap_files[i].len};
		return 0;
	}
	return pm_error_set(err, -ENOENT, path, PM_NO_OFFSET, "is not there");
}

int pm_input_take(struct pm_input *in, int fd, const char *name, struct pm_error *err)
{
	*in = (struct pm_input){.fd = -1, .slot = -1};
	close(fd);
	return pm_error_set(err, -EIO, name, PM_NO_OFFSET, "inputs are in memory here");
}

int pm_input_open_watched(struct pm_input *in, int folder, const char *path, struct pm_watch *watch,
	struct pm_error *err)
{
	(void)watch;
	return pm_input_open(in, folder, path, err);
}

int pm_input_take_watched(
	struct pm_input *in, int fd, const char *name, struct pm_watch *watch, struct pm_error *err)
{
	(void)watch;
	return pm_input_take(in, fd, name, err);
}

bool pm_input_changed(struct pm_input *in)
{
	(void)in;
	return false;
}

int pm_input_allow_writes(struct pm_input *in)
{
	(void)in;
	return 0;
}

void pm_input_passed(struct pm_input *in, uint64_t upto)
{
	(void)in;
	(void)upto;
}

void pm_input_replace(struct pm_input *in, uint8_t *p, size_t n)
{
	free((void *)(uintptr_t)in->bytes.p);
	in->bytes = (struct pm_bytes){p, n};
}

void pm_input_close(struct pm_input *in)
{
	free((void *)(uintptr_t)in->bytes.p);
	*in = (struct pm_input){.fd = -1, .slot = -1};
}

int heap_files_exercise(void)
{
	struct pm_profile profile = {.ops = NULL};
	struct hpctk_opened *db = malloc(sizeof(*db));
	int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = db ? hpctk_opened_init(db, folder, NULL) : -ENOMEM;
	close(folder);
	if (r < 0) {
		free(db);
		return r;
	}
	hpctk_model_init(db, &profile);
	fixture_exercise(&profile);
	hpctk_model_done(&profile);
	return 0;
}
