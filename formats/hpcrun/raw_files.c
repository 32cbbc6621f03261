/*
 * raw/files.csv: a row for every measurement file. It shows which threads lack a profile or a
 * trace, and which versions were used.
 */
#include "formats/common/text.h"
#include "formats/hpcrun/facts.h"
#include "formats/hpcrun/raw.h"

/* Positions: 2 × thread, + 1 for its trace. state: the list of threads. */
static int files_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct hpcrun_file_list *list = rows->table->self;
	const struct hpcrun_who *who;
	int r = list->who(list->context, &who, err);
	rows->state[0] = (uintptr_t)who;
	return r;
}

static int files_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_file_list *list = rows->table->self;
	const struct hpcrun_who *who = (const struct hpcrun_who *)(uintptr_t)rows->state[0];
	const struct hpcrun_file *file = NULL;
	char layout[32];
	uint64_t at = 0;
	while (rows->at < 2 * (uint64_t)list->folder->n && !(file && file->name)) {
		at = rows->at++;
		const struct hpcrun_source *source = &list->folder->sources[at / 2];
		file = at % 2 ? &source->trace : &source->profile;
	}
	if (!file || !file->name)
		return 0;
	const struct hpcrun_thread *thread = &who->items[at / 2];
	if (at % 2)
		hpcrun_trace_layout(&thread->trace, layout, sizeof(layout));
	else
		hpcrun_profile_layout(thread->family, thread->version, layout, sizeof(layout));
	pm_text_str(rows->scratch, layout);
	cells[0] = pm_cell_u64(who->threads.threads[at / 2].id);
	cells[1] = pm_cell_u64(file->size);
	cells[2] = pm_cell_text(pm_text_view(rows->scratch));
	cells[3] = pm_cell_str(file->name);
	return 1;
}

struct pm_named_doc hpcrun_raw_files(const struct hpcrun_file_list *list)
{
	static const char *const columns[] = {"thread_id", "bytes", "layout", "file"};
	static const struct pm_table_type type = {
		.start = files_start, .next = files_next, .dense = true};
	return (struct pm_named_doc){.path = "raw/files.csv",
		.doc = pm_doc_csv((struct pm_table){.type = &type,
			.columns = columns,
			.n_columns = 4,
			.self = list,
			.end = 2 * (uint64_t)list->folder->n})};
}
