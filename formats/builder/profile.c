/*
 * Opens sources of formats over the builder, and answers the format interface. Until a source is
 * read, only `ready` and what is known from its attributes may be asked for; reading it sets the
 * profile's fields and parts, and takes operations away whose data it turned out not to have.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/builder/recording.h"
#include "formats/common/folder.h"
#include "profmount/limits.h"

static struct pm_rec_opened *opened_of(const struct pm_profile *p)
{
	return p->self;
}

/* ---- the source ---- */

struct pm_inflate *pm_rec_stream(struct pm_recording *r)
{
	struct pm_bytes all = r->input->bytes;
	if (r->failed)
		return NULL;
	pm_inflate_free(r->stream);
	r->stream = pm_inflate_new(pm_inflate_kind_of(all), all);
	if (!r->stream)
		pm_rec_fail(r, -ENOMEM, PM_NO_OFFSET, "no memory for the source");
	return r->stream;
}

struct pm_textlines *pm_rec_lines(struct pm_recording *r)
{
	struct pm_inflate *stream = pm_rec_stream(r);
	pm_textlines_done(&r->lines);
	if (stream)
		pm_textlines_start(&r->lines, stream);
	return &r->lines;
}

static void close_stream(struct pm_recording *r)
{
	pm_textlines_done(&r->lines);
	pm_inflate_free(r->stream);
	r->stream = NULL;
}

/* What compression says at the end: a stream that was cut, or that something else follows. */
static void check_end(struct pm_recording *r)
{
	struct pm_bytes all = r->input->bytes;
	if (!r->stream || pm_inflate_kind_of(all) == PM_INFLATE_STORED)
		return;
	struct pm_inflate_status s = pm_inflate_status(r->stream);
	if (s.state == PM_INFLATE_BROKEN)
		pm_rec_damage(r, s.in, all.len - s.in, "the compressed data: %s", s.why);
	for (uint64_t at = s.in; s.state == PM_INFLATE_ENDED && at < all.len; at++)
		if (all.p[at] != 0) {
			pm_rec_damage(r, s.in, all.len - s.in,
				"what follows the compressed data is not compressed");
			break;
		}
}

/* ---- reading ---- */

static void show(struct pm_rec_opened *o)
{
	struct pm_profile *p = o->profile;
	const struct pm_recording *r = &o->recording;
	const struct pm_rec_whole *w = &o->whole;
	p->layout = r->layout;
	p->title = r->title;
	p->kind_of_tree = r->contexts_are;
	p->has_lines = r->has_lines;
	p->has_files = r->has_files || r->has_lines;
	p->has_modules = r->has_modules;
	p->gpu_frames = r->gpu_frames;
	p->has_cycles = r->n_circles > 0;
	p->measured_ns = r->measured_ns == PM_NO_TIME ? 0 : r->measured_ns;
	p->inclusive_overlaps = r->has_edges;
	p->notes = r->notes;
	p->traces_are_calls = r->traces_are_calls;
	p->times_since_epoch = r->since_epoch;
	p->samples_are_weighed = r->traces_are_weighed;
	p->events = r->events;
	p->n_events = (uint32_t)r->n_events;
	if (r->n_traces == 0 || w->threads.n == 0)
		o->ops.samples = NULL;
	if (!r->traces_are_calls || r->n_events == 0)
		o->ops.amounts = NULL;
	o->span.duration_ns = r->duration_ns;
	o->span.origin_ns = r->n_traces > 0 ? r->first_ns : PM_NO_TIME;
	if (r->n_traces > 0 && r->duration_ns == PM_NO_TIME && r->end_ns >= r->first_ns)
		o->span.duration_ns = r->end_ns - r->first_ns;
	o->parts = (struct pm_parts){
		.tree.it = w->tree,
		.metrics.it = &w->metrics,
		.span.it = &o->span,
		.damage.it = &w->damages,
		.documents = {.it = r->documents, .n = r->n_documents},
		.collections = {.it = r->collections, .n = r->n_collections},
		.series = {.it = r->series, .n = r->n_series},
		.facts = {.it = r->facts, .n = r->n_facts},
	};
	if (w->threads.n > 0 || o->reader->has_threads)
		o->parts.threads.it = &w->threads;
	if (o->ops.samples && r->traces_are_calls)
		o->parts.call_times.build = pm_rec_call_times;
	if (r->has_edges)
		o->parts.flat.build = pm_rec_graph_flat;
	if (r->missing.why)
		o->parts.missing.it = &r->missing;
}

/* One of the files that has changed since it was opened, or NULL. */
static const struct pm_input *changed_input(struct pm_rec_opened *o)
{
	if (pm_input_changed(&o->input))
		return &o->input;
	for (size_t i = 0; i < o->n_others; i++)
		if (pm_input_changed(&o->others[i]))
			return &o->others[i];
	return NULL;
}

/*
 * What the recording failed with comes before what its reader made of that. Damage for whose rows
 * there was no memory would be none.
 */
static int read_all(struct pm_rec_opened *o, struct pm_error *err)
{
	struct pm_recording *r = &o->recording;
	struct pm_error why = {.offset = PM_NO_OFFSET};
	if (pm_rec_init(r, o) < 0)
		return -ENOMEM;
	struct pm_damage_mark mark = pm_damage_mark(&r->damage);
	int e = 0;
	for (size_t i = 0; e == 0 && i <= o->n_others; i++) {
		r->input = i > 0 ? &o->others[i - 1] : &o->input;
		e = o->reader->read(r, &why);
		if (e == 0)
			check_end(r);
		close_stream(r);
		if (pm_input_changed(r->input))
			break;
	}
	/* Earlier files may have changed while later ones were read. */
	const struct pm_input *other = changed_input(o);
	if (other)
		return pm_error_set(
			err, -EIO, other->name, PM_NO_OFFSET, "has changed while it was read");
	if (e == 0 && r->n_cut)
		pm_rec_damage(r, PM_NO_OFFSET, PM_NO_OFFSET,
			"stacks are deeper than %d levels; what is below is added to the last one",
			PM_LIMIT_DEPTH);
	if (pm_damage_since(&r->damage, mark) < 0)
		return -ENOMEM;
	pm_rec_finish(r);
	if (r->failed) {
		e = r->failed;
		why = r->error;
	}
	if (e < 0) {
		pm_error_plain(&why, e);
		return pm_error_set(err, e, why.file, why.offset, "%s", why.text);
	}
	return pm_rec_seal(r, &o->whole, err);
}

static int ready_build(void *context, struct pm_error *err)
{
	struct pm_rec_opened *o = context;
	int e = read_all(o, err);
	close_stream(&o->recording);
	if (e == 0) {
		show(o);
		__atomic_store_n(&o->read, true, __ATOMIC_RELEASE);
		return 0;
	}
	pm_rec_whole_done(&o->whole);
	pm_rec_done(&o->recording);
	return pm_error_plain(err, e);
}

static int ready(const struct pm_profile *p, struct pm_error *err)
{
	struct pm_rec_opened *o = opened_of(p);
	return pm_lazy_get(&o->ready, ready_build, o, err);
}

static void warm(const struct pm_profile *p)
{
	ready(p, NULL);
}

/* What was read does not change any more, whatever becomes of the file. */
static bool changed(const struct pm_profile *p)
{
	struct pm_rec_opened *o = opened_of(p);
	return !__atomic_load_n(&o->read, __ATOMIC_ACQUIRE) && changed_input(o);
}

/* ---- the format interface ---- */

static const struct pm_rec_whole *whole_of(const struct pm_profile *p)
{
	return &opened_of(p)->whole;
}

static int64_t run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	const struct pm_rec_whole *w = whole_of(p);
	const struct pm_recording *r = &opened_of(p)->recording;
	size_t n = 0;
	(void)err;
	for (size_t i = 0; i < w->metrics.n && n < room; i++) {
		uint32_t id = w->metric_list[i].id;
		const union pm_rec_number *v = &w->sums[id][context];
		if (!pm_rec_is_known(r, context, id) ||
			(r->quantities[id / PM_REC_N].no_zeros && v->i == 0))
			continue;
		ret[n] = (struct pm_value){
			.context = context + 1ull, .metric = id, .thread = PM_NONE};
		if (w->real[id]) {
			ret[n].f = v->f;
		} else {
			ret[n].whole = true;
			ret[n].negative = v->i < 0;
			ret[n].i = v->i;
		}
		n++;
	}
	return (int64_t)n;
}

/* Without threads, a context has the values of the run. */
static int64_t values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	const struct pm_costs *costs;
	if (whole_of(p)->threads.n == 0) {
		bool some = of.what == PM_OF_CONTEXT && first == 0;
		return some ? run_costs(p, of.index, ret, room, err) : 0;
	}
	int r = pm_rec_thread_costs(opened_of(p), &costs, err);
	if (r < 0)
		return r;
	return of.what == PM_OF_THREAD ? pm_costs_of_thread(costs, of.index, first, ret, room)
				       : pm_costs_of_context(costs, of.index, first, ret, room);
}

static int thread_counts(const struct pm_profile *p, uint32_t thread, struct pm_thread_counts *ret,
	struct pm_error *err)
{
	const struct pm_costs *costs;
	int r = pm_rec_thread_costs(opened_of(p), &costs, err);
	if (r < 0)
		return r;
	r = pm_costs_counts(costs, thread, ret);
	if (r < 0)
		return pm_error_plain(err, r);
	const struct pm_recording *recording = &opened_of(p)->recording;
	if (recording->traces_are_calls && thread < recording->n_traces)
		ret->last_ns = recording->traces[thread].end_ns;
	return 0;
}

static int64_t samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	(void)err;
	return pm_rec_samples(&opened_of(p)->recording, thread, first, ret, NULL, room);
}

static int64_t amounts(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, struct pm_amount *ret_amounts, size_t room, struct pm_error *err)
{
	(void)err;
	return pm_rec_samples(&opened_of(p)->recording, thread, first, ret, ret_amounts, room);
}

static int trace_ends(const struct pm_profile *p, uint32_t thread, uint64_t *ret_first_ns,
	uint64_t *ret_last_ns, struct pm_error *err)
{
	(void)err;
	return pm_rec_trace_ends(&opened_of(p)->recording, thread, ret_first_ns, ret_last_ns);
}

static int recipes(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	(void)err;
	pm_text_bytes(out, pm_text_view(&opened_of(p)->recording.recipes));
	return 0;
}

static int remarks(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	(void)err;
	pm_text_bytes(out, pm_text_view(&opened_of(p)->recording.remarks));
	return 0;
}

static uint64_t memory(const struct pm_profile *p)
{
	const struct pm_rec_opened *o = opened_of(p);
	uint64_t contexts = o->whole.tree ? o->whole.tree->n_contexts : 0;
	return contexts * 20 + o->recording.n_cells * 64 + o->recording.arena.total;
}

static const struct pm_profile_ops all_ops = {
	.ready = ready,
	.thread_counts = thread_counts,
	.run_costs = run_costs,
	.values = values,
	.samples = samples,
	.amounts = amounts,
	.trace_ends = trace_ends,
	.recipes = recipes,
	.remarks = remarks,
	.warm = warm,
	.memory = memory,
	.changed = changed,
};

/* ---- opening ---- */

static void opened_free(struct pm_rec_opened *o)
{
	pm_part_done(&o->thread_costs);
	pm_part_done(&o->flat);
	pm_part_done(&o->call_times);
	pm_rec_whole_done(&o->whole);
	pm_rec_done(&o->recording);
	pm_input_close(&o->input);
	for (size_t i = 0; i < o->n_others; i++)
		pm_input_close(&o->others[i]);
	free(o->others);
	free(o->path);
	pm_watch_done(&o->watch);
	if (o->own_done)
		o->own_done(o->own);
	free(o);
}

static int open_input(struct pm_rec_opened *o, int file, const char *name, struct pm_error *err)
{
	int fd = fcntl(file, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return pm_error_set(err, -EIO, name, PM_NO_OFFSET, "cannot be opened");
	int r = pm_input_take(&o->input, fd, name, err);
	if (r < 0 || o->input.fd < 0)
		return r;
	/* Growing is appending: what is read in one go needs no checksums. */
	if (pm_watch_init(&o->watch, &o->input.stamp, false) < 0)
		return -ENOMEM;
	o->input.watch = &o->watch;
	return 0;
}

static struct pm_rec_opened *opened_new(const struct pm_reader *reader,
	const struct pm_open_options *options, void *own, void (*done)(void *),
	struct pm_profile *p)
{
	struct pm_rec_opened *o = calloc(1, sizeof(*o));
	if (!o) {
		if (done)
			done(own);
		return NULL;
	}
	o->reader = reader;
	o->options = *options;
	o->own = own;
	o->own_done = done;
	o->profile = p;
	o->ops = all_ops;
	o->recording.damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	*p = (struct pm_profile){.ops = &o->ops, .parts = &o->parts, .self = o};
	return o;
}

/* The files after the first one, which do not grow. */
static int open_others(struct pm_rec_opened *o, int folder, const char *const *names, size_t n,
	struct pm_error *err)
{
	int r = 0;
	o->others = calloc(n + 1, sizeof(*o->others));
	for (size_t i = 1; o->others && r == 0 && i < n; i++) {
		r = pm_input_open(&o->others[i - 1], folder, names[i], err);
		o->n_others = i;
	}
	return o->others ? r : -ENOMEM;
}

int pm_rec_open_with(const struct pm_reader *reader, const struct pm_candidate *c,
	const struct pm_open_options *options, const struct pm_rec_with *with,
	struct pm_profile *ret, struct pm_error *err)
{
	struct pm_rec_opened *o = opened_new(reader, options, with->own, with->done, ret);
	const char *name = pm_path_name(c->path);
	int r = o ? 0 : -ENOMEM, first = -1;
	if (r == 0 && c->n_files > 0) {
		if (!(o->path = strdup(c->path)))
			r = -ENOMEM;
		else
			o->title = pm_bytes_of(pm_path_name(o->path));
		name = c->files[0];
		first = openat(c->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	}
	if (r == 0)
		r = open_input(o, c->n_files > 0 ? first : c->fd, name, err);
	if (first >= 0)
		close(first);
	if (r == 0 && c->n_files > 0)
		r = open_others(o, c->fd, c->files, c->n_files, err);
	if (r == 0) {
		ret->layout = reader->layout;
		ret->title = o->title.len ? o->title : pm_bytes_of(o->input.name);
		ret->mtime_ns = o->input.mtime_ns;
		ret->input_bytes = o->input.bytes.len;
		for (size_t i = 0; i < o->n_others; i++)
			ret->input_bytes += o->others[i].bytes.len;
		ret->kind_of_tree = reader->contexts_are;
		if (ret->input_bytes <= PM_LIMIT_READ_AT_OPENING)
			r = ready(ret, err);
	}
	if (r == 0)
		return 0;
	if (o)
		opened_free(o);
	return pm_error_plain(err, r);
}

int pm_rec_open(const struct pm_reader *reader, const struct pm_candidate *c,
	const struct pm_open_options *options, struct pm_profile *ret, struct pm_error *err)
{
	return pm_rec_open_with(reader, c, options, &(struct pm_rec_with){.own = NULL}, ret, err);
}

void pm_rec_close(struct pm_profile *p)
{
	opened_free(opened_of(p));
}

/* ---- the same source, read otherwise ---- */

static void again_close(struct pm_profile *p)
{
	pm_rec_close(p);
	free(p);
}

int pm_rec_again(const struct pm_recording *r, void *own, void (*done)(void *own),
	struct pm_profile **ret, struct pm_error *err)
{
	const struct pm_rec_opened *first = r->opened;
	struct pm_profile *p = calloc(1, sizeof(*p));
	if (!p)
		done(own);
	struct pm_rec_opened *o = p ? opened_new(r->reader, &first->options, own, done, p) : NULL;
	int e = o ? open_input(o, first->input.fd, first->input.name, err) : -ENOMEM;
	if (e == 0 && pm_stamp_compare(&first->input.stamp, &o->input.stamp) != PM_UNCHANGED)
		e = pm_error_set(
			err, -EIO, o->input.name, PM_NO_OFFSET, "has changed since it was opened");
	if (e < 0) {
		if (o)
			opened_free(o);
		free(p);
		return pm_error_plain(err, e);
	}
	p->format = first->profile->format;
	p->source = first->profile->source;
	p->opened_ns = first->profile->opened_ns;
	p->mtime_ns = first->profile->mtime_ns;
	p->input_bytes = first->profile->input_bytes;
	p->title = pm_bytes_of(o->input.name);
	p->layout = r->layout;
	p->kind_of_tree = r->contexts_are;
	o->ops.close = again_close;
	*ret = p;
	return 0;
}
