/*
 * Reads everything of every store of the corpus ($CORPUS/data). Contents are checked elsewhere;
 * here nothing may crash, hang or leak, two readings must agree, and sound stores have no damage.
 * Skipped if there is no corpus.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/zts/drain.h"

enum { SKIPPED = 77 };

static int drain(const char *path, struct pm_text *out, size_t *ret_damages)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	const struct pm_damages *damages;
	struct pm_profile *p;
	int r = pm_profile_open(path, "zts", NULL, &p, &err);
	*ret_damages = 1;
	if (r < 0) {
		pm_text_str(out, err.text);
		return r;
	}
	zts_drain_all(p, out);
	if (pm_profile_damage(p, &damages, &err) == 0)
		*ret_damages = damages->n;
	pm_profile_close(p);
	return 0;
}

/* Returns the number of things that are wrong. */
static int check(const char *path, const char *name)
{
	struct pm_text first = {0}, second = {0};
	size_t damages;
	bool sound = strncmp(name, "bad_", 4) != 0 && strncmp(name, "odd_", 4) != 0;
	int wrong = 0;
	if (drain(path, &first, &damages) < 0 && sound)
		wrong += printf("%s: cannot be opened\n", name) > 0;
	if (sound && damages != 0)
		wrong += printf("%s: %zu rows of damage\n", name, damages) > 0;
	drain(path, &second, &damages);
	if (!pm_bytes_equal(pm_text_view(&first), pm_text_view(&second)))
		wrong += printf("%s: not the same when read again\n", name) > 0;
	pm_text_done(&first);
	pm_text_done(&second);
	return wrong;
}

int main(void)
{
	char path[4096];
	struct dirent *entry;
	int wrong = 0, n = 0;
	const char *corpus = getenv("CORPUS");
	snprintf(path, sizeof(path), "%s/data", corpus ? corpus : "");
	DIR *folder = opendir(path);
	if (!folder) {
		printf("SKIPPED: no corpus at %s\n", path);
		return SKIPPED;
	}
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/data/%s", corpus, entry->d_name);
		wrong += check(path, entry->d_name);
		n++;
	}
	closedir(folder);
	printf("%d stores, %d wrong\n", n, wrong);
	return wrong > 0;
}
