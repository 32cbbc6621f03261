/*
 * Measurements of hpcrun, in a file of their own because names of their fixtures clash with others.
 */
#include "tests/hpcrun/fixture.h"
#include "tests/sources/make_sources.h"

void sources_write_hpcrun(void)
{
	const char *path = sources_folder("hpcrun");
	if (fixture_run_write(path, 2, 8, 5) < 0)
		sources_die(path);
	for (int old = 0; old < 2; old++) {
		struct pm_text t = {.p = NULL};
		struct fixture_profile p = fixture_small(old ? FIXTURE_0198 : FIXTURE_0400);
		fixture_profile_write(&p, &t);
		sources_file(old ? "0198.hpcrun" : "0400.hpcrun", pm_text_view(&t));
		pm_text_done(&t);
	}
}
