/*
 * HTDUMP, the event streams of HawkTracer: a single file. Recognises and opens them; the model is
 * in model.c, docs/formats/htdump.md describes the bytes.
 */
#include "formats/htdump/htdump.h"

#include <fcntl.h>
#include <stdlib.h>

#include "formats/common/folder.h"
#include "profmount/format.h"

/* The part that is read when a stream is opened. */
enum { HEAD_BYTES = 4096 };

static int probe(const struct pm_candidate *c)
{
	struct htd_dialect dialect;
	return c->folder ? 0 : htd_dialect_detect(c->head, &dialect);
}

struct opening {
	struct htd_opened *src;
	const char *values;
	struct pm_error *err;
};

/*
 * A stream that begins with a class description has at least that event. Anything else (if the
 * format was forced), short streams, and those whose fields are asked for, are read now.
 */
static void open_stream(void *context)
{
	const struct opening *o = context;
	struct htd_opened *src = o->src;
	struct htd_stream *s = &src->stream;
	struct pm_arena *a = &src->arena;
	if (o->values)
		htd_wanted_init(a, &src->wanted, o->values, o->err);
	s->bytes = src->input.bytes;
	if (src->input.fd >= 0) {
		pm_build_check(a, pm_watch_init(&src->watch, &src->input.stamp, true));
		pm_watch_ends(&src->watch, s->bytes);
		src->input.watch = s->watch = &src->watch;
	}
	bool described = htd_dialect_detect(s->bytes, &s->dialect) > 0;
	if (s->bytes.len >= HTD_LIMIT_OFFSET)
		pm_build_check(a,
			pm_error_set(o->err, -ENOTSUP, src->input.name, PM_NO_OFFSET,
				"is larger than 16 TiB"));
	if (described && s->bytes.len > HEAD_BYTES && !o->values)
		return;
	pm_build_check(a, htd_scan_get(src, o->err));
	/* A byte order event without any other event is not a trace. */
	const struct htd_slot *order = htd_table_slot(&s->table, s->dialect.ids.endianness);
	if (!order || s->n_events <= s->table.klasses[order->klass].events.n_events)
		pm_build_check(a,
			pm_error_set(o->err, -EINVAL, src->input.name, 0,
				"contains no readable event; a HawkTracer stream with class "
				"descriptions was expected"));
	if (o->values)
		htd_wanted_check(a, &src->wanted, s, src->input.name, o->err);
}

static void opened_free(struct htd_opened *src)
{
	pm_part_done(&src->series);
	pm_part_done(&src->percentiles);
	pm_part_done(&src->children);
	pm_part_done(&src->calls);
	htd_stream_done(&src->stream);
	pm_damage_done(&src->damage_list);
	pm_arena_done(&src->arena);
	pm_input_close(&src->input);
	pm_watch_done(&src->watch);
	free(src);
}

int htd_opened_new(struct pm_input *input, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	struct htd_opened *src = calloc(1, sizeof(*src));
	if (!src) {
		pm_input_close(input);
		return pm_error_plain(err, -ENOMEM);
	}
	src->input = *input;
	src->cache = options->cache;
	src->damage_list = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	struct opening opening = {src, options->values, err};
	int r = pm_build(&src->arena, open_stream, &opening);
	if (r < 0) {
		opened_free(src);
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory");
	}
	htd_model_init(src, ret);
	return 0;
}

static int format_open(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	struct pm_input input;
	int fd = fcntl(c->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return pm_error_set(err, -EIO, c->path, PM_NO_OFFSET, "cannot be opened");
	int r = pm_input_take(&input, fd, pm_path_name(c->path), err);
	return r < 0 ? r : htd_opened_new(&input, options, ret, err);
}

static void format_close(struct pm_profile *p)
{
	opened_free(htd_opened_of(p));
}

const struct pm_format htd_format = {
	.name = "htdump",
	.summary = "HawkTracer event stream, releases 0.3 to 0.11 and the design text's layout",
	.takes_values = true,
	.probe = probe,
	.open = format_open,
	.close = format_close,
};
