/*
 * raw/: the events as they are stored, by kind. They are not kept: a table reads them in the file
 * again, from one of the spots that were noted while the file was read for the first time.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/work.h"
#include "formats/traceevents/traceevents.h"
#include "profmount/limits.h"

/* Events of some phases; positions are numbers of events. */
struct cursor {
	struct pm_inflate *in;
	struct pm_scan s;
	size_t next_spot;
	struct tev_event event;
	struct pm_text name, category, more;
};

enum column {
	SEQ,
	OFFSET,
	PHASE,
	TIME,
	DURATION,
	PID,
	TID,
	ID,
	SCOPE,
	CATEGORY,
	NAME,
	MORE,
	ARGS,
	N_COLUMNS
};

static const char *const columns[] = {"seq", "offset", "phase", "time_ns", "duration_ns", "pid",
	"tid", "id", "scope", "cat", "name", "more", "args"};

static int more(struct pm_scan *s, size_t from)
{
	struct cursor *c = s->source;
	size_t had = s->b.len - from;
	pm_inflate_consume(c->in, from);
	s->b = pm_inflate_peek(c->in, had + 1);
	return pm_inflate_status(c->in).state == PM_INFLATE_FAILED ? -ENOMEM : 0;
}

/* Moves the scanner to a place in the text: forwards, in what is inflated. */
static int move_to(struct cursor *c, const struct tev_raw *raw, uint64_t offset)
{
	if (!c->in || offset < c->s.base + c->s.at) {
		pm_inflate_free(c->in);
		c->in = pm_inflate_new(pm_inflate_kind_of(raw->bytes), raw->bytes);
		c->s = (struct pm_scan){.more = more, .source = c};
	}
	while (c->in) {
		uint64_t skip = offset - c->s.base;
		if (skip <= c->s.b.len) {
			c->s.at = (size_t)skip;
			return 0;
		}
		size_t had = c->s.b.len;
		pm_inflate_consume(c->in, had);
		c->s.base += had;
		c->s.b = pm_inflate_peek(c->in, 1);
		c->s.at = 0;
		if (c->s.b.len == 0 || pm_work_cancelled())
			break;
	}
	return c->in && c->s.b.len == 0 && !pm_work_cancelled() ? -EIO : -ENOMEM;
}

static int start(struct pm_rows *rows, struct pm_error *err)
{
	const struct tev_raw *raw = rows->table->self;
	struct cursor *c = calloc(1, sizeof(*c));
	rows->own = c;
	if (!c)
		return pm_error_plain(err, -ENOMEM);
	size_t after = PM_LOWER_BOUND(i, 0, raw->n_spots, raw->spots[i].seq <= rows->at);
	rows->state[0] = rows->at;
	c->next_spot = after > 0 ? after - 1 : 0;
	if (raw->n_spots == 0)
		return 0;
	rows->state[1] = raw->spots[c->next_spot].seq;
	int e = move_to(c, raw, raw->spots[c->next_spot++].offset);
	return e < 0 ? pm_error_plain(err, e) : 0;
}

static void done(struct pm_rows *rows)
{
	struct cursor *c = rows->own;
	if (!c)
		return;
	pm_inflate_free(c->in);
	pm_text_done(&c->name);
	pm_text_done(&c->category);
	pm_text_done(&c->more);
	free(c);
	rows->own = NULL;
}

/* What is too long for a cell is left out: a part of it would not be what is stored. */
static struct pm_cell cell_of(struct pm_bytes text)
{
	return text.len <= PM_LIMIT_STRING ? pm_cell_text(text) : pm_cell_empty();
}

static struct pm_cell raw_cell(const struct pm_scan_value *v)
{
	return v->kind == PM_SCAN_NOTHING ? pm_cell_empty() : cell_of(v->text);
}

static struct pm_cell id_cell(const struct tev_id *id)
{
	return id->is_absent ? pm_cell_empty() : cell_of(id->text);
}

/* Names are cut as those of functions are. */
static struct pm_cell text_cell(const struct pm_scan_value *v, struct pm_text *scratch)
{
	if (v->kind == PM_SCAN_NOTHING || v->kind == PM_SCAN_NULL)
		return pm_cell_empty();
	struct pm_bytes text = pm_scan_unescape(v, scratch);
	text.len = text.len < PM_LIMIT_STRING ? text.len : PM_LIMIT_STRING;
	return pm_cell_text(text);
}

/* The members that have no column, such as tdur and bind_id, as they are. */
static struct pm_cell more_cell(struct cursor *c)
{
	struct pm_scan s = pm_scan_of(c->event.text);
	struct pm_scan_value v;
	struct pm_bytes key;
	if (!c->event.has_more)
		return pm_cell_empty();
	pm_text_clear(&c->more);
	pm_scan_enter(&s);
	while (pm_scan_key(&s, &key)) {
		if (pm_scan_value(&s, &v) == PM_SCAN_NOTHING || tev_is_field(key))
			continue;
		const char *quote = v.kind == PM_SCAN_TEXT ? "\"" : "";
		pm_text_str(&c->more, c->more.len ? ", \"" : "{\"");
		pm_text_bytes(&c->more, key);
		pm_text_str(&c->more, "\": ");
		pm_text_str(&c->more, quote);
		pm_text_bytes(&c->more, v.text);
		pm_text_str(&c->more, quote);
	}
	pm_text_char(&c->more, '}');
	return cell_of((struct pm_bytes){(const uint8_t *)c->more.p, c->more.len});
}

static void fill(struct cursor *c, const struct tev_raw *raw, uint64_t seq, struct pm_cell *cells)
{
	const struct tev_event *e = &c->event;
	cells[SEQ] = pm_cell_u64(seq);
	cells[OFFSET] = pm_cell_u64(e->at);
	cells[PHASE] = e->phase ? pm_cell_text((struct pm_bytes){(const uint8_t *)&e->phase, 1})
				: pm_cell_empty();
	cells[TIME] = e->ts == TEV_NO_NUMBER || raw->origin == TEV_NO_NUMBER
		? pm_cell_empty()
		: pm_cell_i64((int64_t)((uint64_t)e->ts - (uint64_t)raw->origin));
	cells[DURATION] = e->dur == TEV_NO_NUMBER ? pm_cell_empty() : pm_cell_i64(e->dur);
	cells[PID] = id_cell(&e->pid);
	cells[TID] = id_cell(&e->tid);
	cells[ID] = raw_cell(e->local_id.kind == PM_SCAN_NOTHING ? &e->id : &e->local_id);
	cells[SCOPE] = raw_cell(&e->scope);
	cells[CATEGORY] = text_cell(&e->cat, &c->category);
	cells[NAME] = text_cell(&e->name, &c->name);
	cells[MORE] = more_cell(c);
	cells[ARGS] = raw_cell(&e->args);
}

/* state: the first event that is wanted, and the number of the next one in the file. */
static int next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct tev_raw *raw = rows->table->self;
	struct cursor *c = rows->own;
	const char *phases = (const char *)(uintptr_t)rows->table->a;
	struct tev_event *e = &c->event;
	while (rows->state[1] < rows->table->end) {
		uint64_t seq = rows->state[1];
		/* The next list of events begins elsewhere. */
		bool listed = c->next_spot < raw->n_spots && raw->spots[c->next_spot].seq == seq;
		int moved = listed ? move_to(c, raw, raw->spots[c->next_spot++].offset) : 0;
		if (moved < 0)
			return pm_error_plain(err, moved);
		if (!(raw->lines ? pm_scan_top_item(&c->s) : pm_scan_item(&c->s)) ||
			!tev_event_read(&c->s, e))
			return c->s.code && c->s.code != -EINVAL ? pm_error_plain(err, c->s.code)
								 : 0;
		rows->state[1] = seq + 1;
		if (seq % 256 == 0 && pm_work_cancelled())
			return pm_error_plain(err, PM_CANCELLED);
		bool wanted = !e->is_empty && (!phases || (e->phase && strchr(phases, e->phase)));
		if (seq < rows->state[0] || !wanted)
			continue;
		rows->row = seq;
		rows->at = seq + 1;
		fill(c, raw, seq, cells);
		if (c->name.failed || c->category.failed || c->more.failed)
			return pm_error_plain(err, -ENOMEM);
		return 1;
	}
	return 0;
}

void tev_raw_add(struct pm_recording *r, const struct tev_raw *raw, const uint32_t ends[128])
{
	static const struct pm_table_type type = {
		.start = start, .next = next, .done = done, .dense = true};
	static const struct {
		const char *path, *phases;
	} tables[] = {{"raw/events.csv", NULL}, {"raw/flows.csv", "stf"},
		{"raw/instants.csv", "iIR"}, {"raw/counters.csv", "C"},
		{"raw/async.csv", "benSTpF"}, {"raw/metadata.csv", "M"}};
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		uint64_t end = tables[i].phases ? 0 : raw->n_events;
		for (const char *phase = tables[i].phases; phase && *phase; phase++)
			end = ends[(uint8_t)*phase] > end ? ends[(uint8_t)*phase] : end;
		if (tables[i].phases && end == 0)
			continue;
		struct pm_table table = {.type = &type,
			.columns = columns,
			.n_columns = N_COLUMNS,
			.self = raw,
			.a = (uintptr_t)tables[i].phases,
			.end = end,
			.types = "?it??tttttttt"};
		pm_rec_document(r,
			&(struct pm_named_doc){.path = tables[i].path, .doc = pm_doc_csv(table)});
	}
}
