/* An opened stream with everything derived from it: the profile's `self`. */
#ifndef PROFMOUNT_HTDUMP_PARTS_H
#define PROFMOUNT_HTDUMP_PARTS_H

#include "formats/common/input.h"
#include "formats/common/lazy.h"
#include "formats/htdump/contexts.h"
#include "formats/htdump/quantiles.h"
#include "profmount/format.h"

/* How classes/NAME/events.csv shows the fields of a class version. */
struct htd_sheet {
	const char *const
		*columns; /* seq, timestamp, id, time_ns, then the fields: numbers first */
	uint32_t n_columns;
	const char *types;      /* see struct pm_table */
	uint32_t *cell;         /* of each of the class's columns */
	uint32_t nth;           /* version of that name, from 1 */
	struct pm_lazy lazy;    /* guards: */
	struct htd_order order; /* its events in time order, for counters */
};

/* A file in counters/. */
struct htd_counter {
	uint32_t klass, column;
};

#define HTD_N_FACTS 6

struct htd_opened {
	struct pm_watch watch;
	struct pm_input input;
	struct htd_stream stream;
	struct pm_damage_list damage_list;
	struct pm_damages damages;
	struct pm_arena arena;
	struct htd_sheet *sheets; /* one for each class version */
	struct htd_counter *counters;
	size_t n_counters, counter_room;
	struct pm_threads threads;
	struct pm_named_doc documents[4];
	struct pm_collection collections[2];
	struct pm_lazy scan_lazy, several_lazy, calls_lazy, children_lazy, facts_lazy, damage_lazy,
		quantiles_lazy, series_lazy;
	bool several; /* threads; see several_lazy */
	struct htd_calls calls;
	struct pm_map children;   /* see htd_children_get */
	struct pm_series *series; /* see htd_series */
	size_t n_series;
	struct htd_quantiles quantiles; /* see htd_quantiles_get */
	struct htd_segments *segments;
	struct pm_fact facts[HTD_N_FACTS];
	char version[16];
};

static inline struct htd_opened *htd_opened_of(const struct pm_profile *p)
{
	return p->self;
}

/* format.c: opens a stream; takes ownership of the input, even on failure. */
int htd_opened_new(struct pm_input *input, struct pm_profile *ret, struct pm_error *err);

/* parts.c */
void htd_opened_free(struct htd_opened *src);

/*
 * parts.c: reads the whole stream on first need. `stream`, `sheets`, `counters` and `threads` must
 * not be used before; getting `calls`, counting the items of a collection and starting a table all
 * do this.
 */
int htd_scan_get(struct htd_opened *src, struct pm_error *err);

/* The calls, built on first need. */
int htd_calls_get(struct htd_opened *src, const struct htd_calls **ret, struct pm_error *err);

/* htd_children_build of the calls, on first need. */
int htd_children_get(struct htd_opened *src, const struct pm_map **ret, struct pm_error *err);

/* The quantiles of labels, built on first need: then by_label of the calls are known, too. */
int htd_quantiles_get(
	struct htd_opened *src, const struct htd_quantiles **ret, struct pm_error *err);

/* sheet.c: fills sheets and counters; part of the scan. */
int htd_sheets_init(struct htd_opened *src);
void htd_sheets_done(struct htd_opened *src);

/* sheet.c: STRUCT, STRING …, or the number of a type that is not defined. */
struct pm_cell htd_data_type_cell(uint8_t data_type);

/*
 * sheet.c: whether it is a class of the traced program; whether its events have a duration and a
 * thread.
 */
bool htd_is_own_class(const struct htd_klass *k);
bool htd_is_call_class(const struct htd_klass *k);

/* series.c: pm_profile_ops.series. */
int htd_series(const struct pm_profile *p, const struct pm_series **ret, size_t *ret_n,
	struct pm_error *err);

/* trace.c: pm_profile_ops.samples. */
int64_t htd_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err);

/* raw.c, classes.c: the documents and collections that only this format has. */
void htd_raw_documents(struct htd_opened *src);
struct pm_table htd_class_events(const struct htd_opened *src, uint32_t klass);
void htd_class_collection(const struct htd_opened *src, struct pm_collection *ret);
void htd_counter_collection(const struct htd_opened *src, struct pm_collection *ret);

/* damage.c: pm_profile_ops.damage. */
int htd_damage(const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err);

/* model.c: the profile of a stream that may not be scanned yet. */
void htd_model_init(struct htd_opened *src, struct pm_profile *ret);

/* -EIO: an event is not where the scan found it. */
static inline int htd_has_changed(const struct htd_opened *src, struct pm_error *err)
{
	return pm_error_set(
		err, -EIO, src->input.name, PM_NO_OFFSET, "has changed since it was opened");
}

#endif
