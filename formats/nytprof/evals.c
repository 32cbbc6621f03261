#include "formats/nytprof/evals.h"

#include <errno.h>
#include <stdlib.h>

static const char mark[] = "(eval ";
enum { MARK_LENGTH = sizeof(mark) - 1 };

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* The end of the number in `(eval NUMBER)[` at `at`, or 0 if there is no such text. */
static size_t number_end(struct pm_bytes name, size_t at)
{
	size_t end = at + MARK_LENGTH;
	if (end > name.len || memcmp(name.p + at, mark, MARK_LENGTH) != 0)
		return 0;
	while (end < name.len && is_digit(name.p[end]))
		end++;
	bool is_number = end > at + MARK_LENGTH;
	return is_number && name.len - end >= 2 && memcmp(name.p + end, ")[", 2) == 0 ? end : 0;
}

/* Appends the name without the numbers of evals; false if it has none. */
static bool fold(struct pm_bytes name, struct pm_text *out)
{
	bool found = false;
	for (size_t at = 0; at < name.len;) {
		const uint8_t *paren = memchr(name.p + at, '(', name.len - at);
		size_t begin = paren ? (size_t)(paren - name.p) : name.len;
		size_t end = paren ? number_end(name, begin) : 0;
		size_t keep = end ? begin + MARK_LENGTH - 1 : begin + (paren != NULL);
		pm_text_add(out, name.p + at, keep - at);
		at = end ? end : keep;
		found |= end > 0;
	}
	return found;
}

int nytp_evals_fold(struct nytp *n)
{
	struct pm_text text = {.p = NULL};
	uint32_t count = n->names.n;
	bool good = true;
	n->folded = malloc(((size_t)count + 1) * sizeof(*n->folded));
	n->n_folded = n->folded ? count : 0;
	for (uint32_t name = 0; n->folded && name < count && good; name++) {
		n->folded[name] = name;
		pm_text_clear(&text);
		if (!fold(nytp_name(n, name), &text))
			continue;
		uint32_t one = text.failed ? NYTP_NONE : nytp_name_add(n, pm_text_view(&text));
		good = one != NYTP_NONE;
		n->folded[name] = one;
	}
	good = good && n->folded;
	pm_text_done(&text);
	return good ? 0 : -ENOMEM;
}
