/* JSON sources: a scanner over the source's stream, and what it says of damage. */
#include <errno.h>

#include "formats/builder/recording.h"
#include "formats/common/textlines.h"
#include "profmount/limits.h"

/* The window of the stream from `from` on, with more behind it. */
static int more(struct pm_scan *s, size_t from)
{
	struct pm_recording *r = s->source;
	struct pm_inflate *in = r->stream;
	size_t had = s->b.len - from;
	if (!pm_rec_goes_on(r))
		return -ENOMEM;
	pm_inflate_consume(in, from);
	s->b = pm_inflate_peek(in, had + 1);
	return pm_inflate_status(in).state == PM_INFLATE_FAILED ? -ENOMEM : 0;
}

struct pm_scan pm_rec_json(struct pm_recording *r)
{
	struct pm_inflate *in = pm_rec_stream(r);
	struct pm_scan s = {.code = -ENOMEM};
	if (!in)
		return s;
	/* Enough to see a byte order mark. */
	struct pm_bytes head = pm_inflate_peek(in, 3);
	if (pm_textlines_order(head)) {
		pm_rec_fail(r, -EINVAL, PM_NO_OFFSET,
			"is JSON in UTF-16, which is not read: convert it to UTF-8 "
			"(iconv -f UTF-16 -t UTF-8)");
		return s;
	}
	s = pm_scan_of(head);
	s.more = more;
	s.source = r;
	return s;
}

bool pm_rec_json_ends(struct pm_recording *r, struct pm_scan *s)
{
	if (s->code == 0 && pm_scan_top_item(s))
		pm_rec_damage(r, pm_scan_where(s), PM_NO_OFFSET, "something follows the JSON text");
	if (s->code == -EINVAL && s->cut)
		pm_rec_damage(r, pm_scan_where(s), PM_NO_OFFSET,
			"the JSON text ends here: what was whole before is shown");
	else if (s->code == -EINVAL)
		pm_rec_damage(r, pm_scan_where(s), PM_NO_OFFSET,
			"the JSON text is broken here (%s): what was whole before is shown",
			s->why);
	else if (s->code)
		pm_rec_fail(r, s->code, PM_NO_OFFSET, "no memory");
	return s->code == 0 || s->code == -EINVAL;
}

struct pm_bytes pm_rec_json_text(const struct pm_scan_value *v, struct pm_text *scratch)
{
	if (v->kind != PM_SCAN_TEXT && v->kind != PM_SCAN_NUMBER)
		return (struct pm_bytes){0};
	struct pm_bytes text = pm_scan_unescape(v, scratch);
	text.len = text.len < PM_LIMIT_STRING ? text.len : PM_LIMIT_STRING;
	return text;
}
