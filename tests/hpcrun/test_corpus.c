/*
 * Real measurements, where ../shared/corpus stands beside the project: all of them are sound, and
 * everything that is presented of them holds together.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "tests/hpcrun/exercise.h"

enum { SKIPPED = 77 };

static size_t count_damage(const char *path)
{
	struct pm_profile *p = NULL;
	const struct pm_damages *damages;
	size_t n = 1;
	if (pm_profile_open(path, "hpcrun", NULL, &p, NULL) < 0)
		return n;
	if (pm_profile_damage(p, &damages, NULL) == 0)
		n = damages->n;
	pm_profile_close(p);
	return n;
}

int main(int argc, char **argv)
{
	char path[4096];
	int failed = 0;
	DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
	if (!dir) {
		printf("SKIPPED: no corpus at %s\n", argc > 1 ? argv[1] : "(no path)");
		return SKIPPED;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
		bool broken = strstr(e->d_name, "broken") != NULL;
		int r = exercise_path(path);
		if (r < 0 || (count_damage(path) > 0) != broken) {
			printf("%s: not as it should be\n", path);
			failed = 1;
		}
	}
	closedir(dir);
	return failed;
}
