/* Processes and threads by their ids, which are numbers or texts. */
#include "formats/traceevents/traceevents.h"

static bool is(struct pm_bytes text, const char *name)
{
	return pm_bytes_equal(text, pm_bytes_of(name));
}

static void put_id(struct pm_text *key, const struct tev_id *id)
{
	pm_text_char(key, id->is_text ? 't' : 'n');
	if (id->is_text)
		pm_text_bytes(key, id->text);
	else
		pm_text_i64(key, id->number);
	pm_text_char(key, '\0');
}

static struct pm_bytes name_of_id(struct tev_reading *t, const struct tev_id *id)
{
	struct pm_scan_value v = {.kind = PM_SCAN_TEXT, .escaped = id->escaped, .text = id->text};
	return id->is_text ? pm_rec_copy(t->r, pm_rec_json_text(&v, &t->scratch))
			   : (struct pm_bytes){0};
}

static uint32_t process_of(struct tev_reading *t, const struct tev_id *pid)
{
	pm_text_clear(&t->key);
	put_id(&t->key, pid);
	uint32_t i = pm_strtab_add(&t->process_keys, pm_text_view(&t->key));
	if (i < t->n_processes)
		return i;
	pm_items_grow(&t->arena, &t->processes, i, &t->process_room, sizeof(*t->processes));
	struct tev_process *p = &t->processes[t->n_processes++];
	*p = (struct tev_process){.is_text = pid->is_text,
		.pid = pid->number,
		.text = name_of_id(t, pid),
		.last = TEV_NO_NUMBER};
	p->is_comment = pid->is_text && (is(p->text, "Spans") || is(p->text, "Traces"));
	return i;
}

uint32_t tev_thread_of(struct tev_reading *t, const struct tev_event *e)
{
	struct tev_id pid = e->pid, tid = e->tid;
	if (pid.is_absent)
		pid = (struct tev_id){.number = 0};
	if (tid.is_absent)
		tid = pid;
	uint32_t i = (uint32_t)t->n_threads, known;
	bool fresh;
	if (!pid.is_text && !tid.is_text && pid.number == (int32_t)pid.number &&
		tid.number == (int32_t)tid.number) {
		uint64_t key = (uint64_t)(uint32_t)pid.number << 32 | (uint32_t)tid.number;
		known = *pm_map_put(&t->numbered, key, i, &fresh);
	} else {
		pm_text_clear(&t->key);
		put_id(&t->key, &pid);
		put_id(&t->key, &tid);
		uint32_t n = t->thread_keys.n;
		uint32_t k = pm_strtab_add(&t->thread_keys, pm_text_view(&t->key));
		pm_items_grow(&t->arena, &t->key_threads, k, &t->key_thread_room,
			sizeof(*t->key_threads));
		fresh = k == n;
		known = fresh ? (t->key_threads[k] = i) : t->key_threads[k];
	}
	if (!fresh)
		return known;
	uint32_t process = process_of(t, &pid);
	pm_items_grow(&t->arena, &t->threads, i, &t->thread_room, sizeof(*t->threads));
	t->threads[t->n_threads++] = (struct tev_thread){.is_text = tid.is_text,
		.tid = tid.number,
		.text = name_of_id(t, &tid),
		.process = process,
		.last = TEV_NO_NUMBER,
		.first_call = PM_NONE};
	return i;
}
