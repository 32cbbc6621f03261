/*
 * Writes a big valid folder of hpcrun measurements, the same bytes every time:
 *
 *     make_hpcrun DIR PROFILES NODES SAMPLES [PATHS]
 *
 * PROFILES files of the 04.00 format with NODES nodes each and, where SAMPLES is not 0, a trace.
 * The tree is the same for all threads; with PATHS it has that many call paths, of which each
 * thread takes some. One file at a time is in memory.
 */
#include <errno.h>
#include <stdio.h>

#include "tests/bench/make.h"
#include "tests/hpcrun/fixture.h"

int main(int argc, char **argv)
{
	if (argc != 5 && argc != 6) {
		fprintf(stderr, "usage: make_hpcrun DIR PROFILES NODES SAMPLES [PATHS]\n");
		return 2;
	}
	make_folder(argv[1]);
	int r = fixture_wide_run_write(argv[1], (uint32_t)make_number(argv[2]),
		(uint32_t)make_number(argv[3]), (uint32_t)make_number(argv[4]),
		argc > 5 ? (uint32_t)make_number(argv[5]) : 0);
	if (r < 0) {
		errno = -r;
		make_die(argv[1]);
	}
	return 0;
}
