/*
 * Facts about the run. A directory may contain files of several programs and many processes: facts
 * about one process name its file.
 */
#include "formats/hpcrun/hpcrun.h"

#include <stdio.h>

#include "formats/hpcrun/profile.h"

/* ---- layout ---- */

void hpcrun_profile_layout(enum hpcrun_family family, unsigned version, char *ret, size_t size)
{
	static const char *const names[] = {
		[HPCRUN_FAMILY_EARLY] = "early",
		[HPCRUN_FAMILY_EPOCHS] = "epochs",
		[HPCRUN_FAMILY_SECTIONS] = "sections",
	};
	ret[0] = '\0';
	if (family != HPCRUN_FAMILY_NONE)
		snprintf(ret, size, "%s-%02x.%02X", names[family], version >> 8, version & 0xff);
}

void hpcrun_trace_layout(const struct hpcrun_trace *trace, char *ret, size_t size)
{
	ret[0] = '\0';
	if (trace->is_real)
		snprintf(ret, size, "trace-bare");
	else if (trace->has_flags || trace->n > 0)
		snprintf(ret, size, "trace-%s", trace->has_flags ? "01.01" : "01.00");
}

/* 1 and the layout, 0 if the file does not tell, or -ENOMEM. */
static int file_layout(struct hpcrun_folder *folder, const struct hpcrun_file *file, bool is_trace,
	char *ret, size_t size)
{
	struct hpcrun_report silent = {.file = NULL};
	struct hpcrun_trace trace;
	struct hpcrun_profile p;
	struct pm_input in;
	if (!file->name || file->size == 0)
		return 0;
	int r = hpcrun_file_open(folder, file, &in, NULL);
	if (r < 0)
		return pm_is_passing(r) ? r : 0;
	if (is_trace) {
		r = hpcrun_trace_read(&trace, in.bytes, &silent, NULL);
		hpcrun_trace_layout(&trace, ret, size);
	} else {
		r = hpcrun_profile_read(&p, in.bytes, HPCRUN_WHO, &silent, NULL);
		hpcrun_profile_layout(r == 0 ? p.family : HPCRUN_FAMILY_NONE, p.version, ret, size);
		hpcrun_profile_done(&p);
	}
	hpcrun_file_close(folder, &in);
	return pm_is_passing(r) ? r : r == 0 && ret[0];
}

int hpcrun_layout_find(struct hpcrun_folder *folder, char *ret, size_t size)
{
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < folder->n; i++) {
		const struct hpcrun_source *s = &folder->sources[i];
		r = file_layout(folder, &s->profile, false, ret, size);
		if (r == 0)
			r = file_layout(folder, &s->trace, true, ret, size);
	}
	return r;
}

/* ---- facts ---- */

static void add(struct hpcrun_facts *f, const char *key, struct pm_cell value)
{
	f->items[f->n++] = (struct pm_fact){.key = key, .value = value};
}

static int add_text(struct hpcrun_facts *f, const char *key, struct pm_bytes text)
{
	if (text.len == 0)
		return 0;
	struct pm_bytes copy = pm_arena_copy(&f->arena, text);
	if (!copy.p)
		return -ENOMEM;
	add(f, key, pm_cell_text(copy));
	return 0;
}

static int add_header(struct hpcrun_facts *f, const struct hpcrun_profile *p)
{
	static const struct {
		const char *fact, *key;
	} texts[] = {{"program", "program-name"}, {"program_path", "program-path"},
		{"job", "job-id"}, {"host", "host-id"}};
	uint64_t pid;
	int r = add_text(f, "version", p->magic);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && r == 0; i++)
		r = add_text(f, texts[i].fact, hpcrun_pairs_find(&p->header, texts[i].key));
	if (hpcrun_number_parse(hpcrun_pairs_find(&p->header, "process-id"), &pid))
		add(f, "pid", pm_cell_u64(pid));
	return r;
}

/* 1 if the file had a fact, 0, or -ENOMEM. */
static int ask_file(
	struct hpcrun_facts *f, struct hpcrun_folder *folder, const struct hpcrun_file *file)
{
	struct hpcrun_report silent = {.file = NULL};
	struct hpcrun_profile p = {.family = HPCRUN_FAMILY_NONE};
	struct pm_input in;
	if (!file->name || file->size == 0)
		return 0;
	int r = hpcrun_file_open(folder, file, &in, NULL);
	if (r < 0)
		return pm_is_passing(r) ? r : 0;
	r = hpcrun_profile_read(&p, in.bytes, HPCRUN_WHO, &silent, NULL);
	if (r == 0) {
		add(f, "told_by", pm_cell_str(file->name));
		r = add_header(f, &p);
		r = r < 0 ? r : 1;
	}
	hpcrun_profile_done(&p);
	hpcrun_file_close(folder, &in);
	return pm_is_passing(r) || r > 0 ? r : 0;
}

int hpcrun_facts_read(struct hpcrun_facts *ret, struct hpcrun_folder *folder)
{
	uint64_t profiles = 0, traces = 0;
	int r = 0;
	*ret = (struct hpcrun_facts){.n = 0};
	for (uint32_t i = 0; i < folder->n; i++) {
		profiles += folder->sources[i].profile.name != NULL;
		traces += folder->sources[i].trace.name != NULL;
	}
	add(ret, "profile_files", pm_cell_u64(profiles));
	add(ret, "trace_files", pm_cell_u64(traces));
	for (uint32_t i = 0; i < folder->n && r == 0; i++)
		r = ask_file(ret, folder, &folder->sources[i].profile);
	return r < 0 ? r : 0;
}
