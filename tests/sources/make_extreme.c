/*
 * Writes a database with a calling-context tree of the given width or depth:
 *
 *     make_extreme DIR wide|deep CONTEXTS
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/hpctoolkit/fixtures.h"

int main(int argc, char **argv)
{
	static const struct hpctkw_style style = {.generation = HPCTKW_RELEASED};
	struct hpctkw_files files;
	if (argc != 4) {
		fprintf(stderr, "usage: make_extreme DIR wide|deep CONTEXTS\n");
		return 2;
	}
	uint32_t n = (uint32_t)strtoul(argv[3], NULL, 10);
	struct hpctkw_database *w =
		strcmp(argv[2], "wide") == 0 ? fixture_wide(&style, n, 1) : fixture_deep(&style, n);
	hpctkw_write(w, &files);
	bool good =
		(mkdir(argv[1], 0777) == 0 || errno == EEXIST) && hpctkw_save(&files, argv[1]) == 0;
	if (!good)
		perror(argv[1]);
	hpctkw_files_free(&files);
	hpctkw_free(w);
	return !good;
}
