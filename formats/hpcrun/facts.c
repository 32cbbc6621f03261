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

struct layout {
	struct pm_arena arena;
	struct hpcrun_folder *folder;
	char *ret;
	size_t size;
};

static void find_layout(void *context)
{
	const struct hpcrun_report silent = {.file = NULL};
	struct layout *l = context;
	for (uint32_t i = 0; !l->ret[0] && i < l->folder->n; i++) {
		const struct hpcrun_source *s = &l->folder->sources[i];
		const struct hpcrun_profile *p = NULL;
		const struct pm_input *in = NULL;
		struct hpcrun_trace trace;
		if (s->profile.name && s->profile.size > 0)
			p = hpcrun_profile_open(
				&l->arena, l->folder, &s->profile, HPCRUN_WHO, NULL, NULL);
		if (p)
			hpcrun_profile_layout(p->family, p->version, l->ret, l->size);
		else if (s->trace.name && s->trace.size > 0)
			in = hpcrun_file_map(&l->arena, l->folder, &s->trace, NULL);
		if (in && hpcrun_trace_read(&trace, in->bytes, &silent, NULL) == 0)
			hpcrun_trace_layout(&trace, l->ret, l->size);
		pm_arena_done(&l->arena);
	}
}

int hpcrun_layout_find(struct hpcrun_folder *folder, char *ret, size_t size)
{
	struct layout l = {.folder = folder, .ret = ret, .size = size};
	ret[0] = '\0';
	int r = pm_build(&l.arena, find_layout, &l);
	pm_arena_done(&l.arena);
	return r < 0 ? r : ret[0] != '\0';
}

/* ---- facts ---- */

static void add(struct hpcrun_facts *f, const char *key, struct pm_cell value)
{
	f->items[f->n++] = (struct pm_fact){.key = key, .value = value};
}

static void add_text(
	struct hpcrun_facts *f, struct pm_arena *a, const char *key, struct pm_bytes text)
{
	if (text.len)
		add(f, key, pm_cell_text(pm_arena_copy(a, text)));
}

void hpcrun_facts_read(struct hpcrun_facts *ret, struct pm_arena *a, struct hpcrun_folder *folder)
{
	static const struct {
		const char *fact, *key;
	} texts[] = {{"program", "program-name"}, {"program_path", "program-path"},
		{"job", "job-id"}, {"host", "host-id"}};
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct hpcrun_profile *p = NULL;
	uint64_t profiles = 0, traces = 0, pid;
	for (uint32_t i = 0; i < folder->n; i++) {
		profiles += folder->sources[i].profile.name != NULL;
		traces += folder->sources[i].trace.name != NULL;
	}
	add(ret, "profile_files", pm_cell_u64(profiles));
	add(ret, "trace_files", pm_cell_u64(traces));
	for (uint32_t i = 0; i < folder->n && !p; i++) {
		const struct hpcrun_file *file = &folder->sources[i].profile;
		pm_arena_done(scratch);
		if (file->name && file->size > 0)
			p = hpcrun_profile_open(scratch, folder, file, HPCRUN_WHO, NULL, NULL);
		if (p)
			add(ret, "told_by", pm_cell_str(file->name));
	}
	if (!p) {
		pm_arena_done(scratch);
		return;
	}
	add_text(ret, a, "version", p->magic);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		add_text(ret, a, texts[i].fact, hpcrun_pairs_find(&p->header, texts[i].key));
	if (hpcrun_number_parse(hpcrun_pairs_find(&p->header, "process-id"), &pid))
		add(ret, "pid", pm_cell_u64(pid));
	pm_arena_done(scratch);
}
