/* hpctk_seeds FOLDER: writes the rich database in every style as inputs of fuzz_hpctoolkit. */
#include <stdio.h>

#include "tests/hpctoolkit/fixtures.h"
#include "tests/hpctoolkit/out.h"

static bool write_seed(const char *folder, size_t style)
{
	struct hpctkw_database *w = fixture_rich(&fixture_styles[style].style);
	struct hpctkw_files files;
	struct out o = {.p = NULL};
	char path[4096];
	hpctkw_write(w, &files);
	for (unsigned i = 0; i < HPCTKW_TRACE; i++)
		out_set(&o, out_room(&o, 4), 4, files.file[i].n);
	for (unsigned i = 0; i < HPCTKW_N_FILES; i++) {
		size_t at = out_room(&o, files.file[i].n);
		if (files.file[i].n)
			memcpy(o.p + at, files.file[i].p, files.file[i].n);
	}
	snprintf(path, sizeof(path), "%s/rich-%zu", folder, style);
	FILE *f = fopen(path, "wb");
	bool good = f && fwrite(o.p, 1, o.n, f) == o.n;
	good = f && fclose(f) == 0 && good;
	if (!good)
		perror(path);
	free(o.p);
	hpctkw_files_free(&files);
	hpctkw_free(w);
	return good;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: hpctk_seeds FOLDER\n");
		return 2;
	}
	for (size_t i = 0; i < n_fixture_styles; i++)
		if (!write_seed(argv[1], i))
			return 1;
	return 0;
}
