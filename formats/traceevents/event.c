/* One event: the fields that calls need, and where the others are. */
#include "formats/traceevents/traceevents.h"

static bool is(struct pm_bytes key, const char *name)
{
	return pm_bytes_equal(key, pm_bytes_of(name));
}

/* µs as ns; TEV_NO_NUMBER if it is no number in 63 bits. */
static int64_t time_of(const struct pm_scan_value *v, bool *exact)
{
	int64_t ns;
	if (v->kind != PM_SCAN_NUMBER && v->kind != PM_SCAN_TEXT)
		return TEV_NO_NUMBER;
	enum pm_decimal how = pm_scan_decimal(v->text, 3, &ns);
	*exact = *exact && how != PM_DECIMAL_ROUNDED;
	return how == PM_DECIMAL_NONE || how == PM_DECIMAL_BEYOND ? TEV_NO_NUMBER : ns;
}

/* Numbers may be texts, and 1.0 is 1. */
static struct tev_id id_of(const struct pm_scan_value *v)
{
	struct tev_id id = {.text = v->text, .escaped = v->escaped};
	if (v->kind == PM_SCAN_NULL || v->kind == PM_SCAN_NOTHING)
		id.is_absent = true;
	else if ((v->kind != PM_SCAN_NUMBER && v->kind != PM_SCAN_TEXT) ||
		pm_scan_decimal(v->text, 0, &id.number) != PM_DECIMAL_EXACT)
		id.is_text = true;
	return id;
}

struct pm_scan_value tev_member(const struct pm_scan_value *object, const char *key)
{
	struct pm_scan s = pm_scan_of(object->text);
	struct pm_scan_value v, found = {.kind = PM_SCAN_NOTHING};
	struct pm_bytes name;
	if (object->kind != PM_SCAN_OBJECT || object->too_long)
		return found;
	pm_scan_enter(&s);
	while (pm_scan_key(&s, &name)) {
		bool wanted = is(name, key);
		if (pm_scan_value(&s, &v) != PM_SCAN_NOTHING && wanted)
			found = v;
	}
	return found;
}

static inline bool is_key(struct pm_bytes key, const char *name)
{
	return memcmp(key.p, name, key.len) == 0;
}

/* The value of `key`, which is that long, is `v`. */
static void take_field(struct tev_event *e, struct pm_bytes key, const struct pm_scan_value *v)
{
	struct pm_scan_value member;
	if (key.len == 2 && is_key(key, "ph")) {
		bool one = v->kind == PM_SCAN_TEXT && v->text.len == 1;
		e->phase = one ? (char)v->text.p[0] : 0;
	} else if (key.len == 2 && is_key(key, "ts")) {
		e->ts = time_of(v, &e->is_exact);
	} else if (key.len == 2 && is_key(key, "id")) {
		e->id = *v;
	} else if (key.len == 3 && is_key(key, "dur")) {
		e->dur = time_of(v, &e->is_exact);
	} else if (key.len == 3 && is_key(key, "pid")) {
		e->pid = id_of(v);
	} else if (key.len == 3 && is_key(key, "tid")) {
		e->tid = id_of(v);
	} else if (key.len == 3 && is_key(key, "cat")) {
		e->cat = *v;
	} else if (key.len == 3 && is_key(key, "id2")) {
		member = tev_member(v, "global");
		e->id = member.kind == PM_SCAN_NOTHING ? e->id : member;
		member = tev_member(v, "local");
		e->local_id = member.kind == PM_SCAN_NOTHING ? e->local_id : member;
	} else if (key.len == 4 && is_key(key, "name")) {
		e->name = *v;
	} else if (key.len == 4 && is_key(key, "args")) {
		e->args = *v;
	} else if (key.len == 5 && is_key(key, "scope")) {
		e->scope = *v;
	} else {
		e->has_more = true;
	}
}

bool tev_is_field(struct pm_bytes key)
{
	struct tev_event e = {.has_more = false};
	take_field(&e, key, &(struct pm_scan_value){.kind = PM_SCAN_NOTHING});
	return !e.has_more;
}

bool tev_event_read(struct pm_scan *s, struct tev_event *ret)
{
	struct pm_scan_value whole, v;
	struct pm_bytes key;
	*ret = (struct tev_event){.ts = TEV_NO_NUMBER,
		.dur = TEV_NO_NUMBER,
		.is_empty = true,
		.is_exact = true,
		.pid.is_absent = true,
		.tid.is_absent = true};
	/* As a whole first: what refers to it stays where it is while it is read. */
	if (pm_scan_value(s, &whole) == PM_SCAN_NOTHING)
		return false;
	ret->at = whole.at;
	ret->text = whole.text;
	if (whole.kind != PM_SCAN_OBJECT) {
		ret->is_empty = false;
		return true;
	}
	struct pm_scan inside = {.b = whole.text};
	if (whole.too_long)
		return true;
	pm_scan_enter(&inside);
	while (pm_scan_key(&inside, &key)) {
		ret->is_empty = false;
		if (pm_scan_value(&inside, &v) != PM_SCAN_NOTHING)
			take_field(ret, key, &v);
	}
	if (inside.code == 0)
		return true;
	s->at = s->at - whole.text.len + inside.at;
	s->code = inside.code;
	s->cut = false;
	s->why = inside.cut ? "a value was expected" : inside.why;
	return false;
}
