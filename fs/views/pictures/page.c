#include "fs/views/pictures/page.h"

#include <string.h>

struct pm_bytes pmfs_page_until(struct pm_text *out, struct pm_bytes page, const char *mark)
{
	const uint8_t *at = memmem(page.p, page.len, mark, strlen(mark));
	size_t before = at ? (size_t)(at - page.p) : page.len;
	size_t skipped = at ? before + strlen(mark) : page.len;
	pm_text_add(out, page.p, before);
	return (struct pm_bytes){page.p + skipped, page.len - skipped};
}
