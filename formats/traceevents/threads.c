/* Processes and threads by their ids, which are numbers or texts. */
#include "formats/traceevents/traceevents.h"

static bool is(struct pm_bytes text, const char *name)
{
	return pm_bytes_equal(text, pm_bytes_of(name));
}

static uint32_t intern(struct tev_reading *t, struct pm_strtab *table, struct pm_bytes text)
{
	uint32_t i = pm_strtab_add(table, text);
	if (i == PM_NONE)
		tev_no_memory(t);
	return i;
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
	return id->is_text ? pm_rec_copy(t->r, pm_rec_json_text(t->r, &v, &t->scratch))
			   : (struct pm_bytes){0};
}

static uint32_t process_of(struct tev_reading *t, const struct tev_id *pid)
{
	pm_text_clear(&t->key);
	put_id(&t->key, pid);
	uint32_t known = t->process_keys.n;
	uint32_t i = intern(t, &t->process_keys, pm_text_view(&t->key));
	if (i != known)
		return i < t->n_processes ? i : PM_NONE;
	if (!tev_room(t, &t->processes, i, &t->process_room, sizeof(*t->processes)))
		return PM_NONE;
	t->processes[i] = (struct tev_process){.is_text = pid->is_text,
		.pid = pid->number,
		.text = name_of_id(t, pid),
		.last = TEV_NO_NUMBER};
	struct tev_process *p = &t->processes[i];
	p->is_comment = pid->is_text && (is(p->text, "Spans") || is(p->text, "Traces"));
	t->n_processes = i + 1u;
	return i;
}

uint32_t tev_thread_of(struct tev_reading *t, const struct tev_event *e)
{
	struct tev_id pid = e->pid, tid = e->tid;
	if (pid.is_absent)
		pid = (struct tev_id){.number = 0};
	if (tid.is_absent)
		tid = pid;
	uint32_t *slot = NULL, i = (uint32_t)t->n_threads;
	bool fresh;
	if (!pid.is_text && !tid.is_text && pid.number == (int32_t)pid.number &&
		tid.number == (int32_t)tid.number) {
		uint64_t key = (uint64_t)(uint32_t)pid.number << 32 | (uint32_t)tid.number;
		slot = pm_map_put(&t->numbered, key, i, &fresh);
	} else {
		pm_text_clear(&t->key);
		put_id(&t->key, &pid);
		put_id(&t->key, &tid);
		uint32_t known = t->thread_keys.n;
		uint32_t k = intern(t, &t->thread_keys, pm_text_view(&t->key));
		if (k == PM_NONE ||
			!tev_room(t, &t->key_threads, k, &t->key_thread_room,
				sizeof(*t->key_threads)))
			return PM_NONE;
		slot = &t->key_threads[k];
		fresh = k == known;
		*slot = fresh ? i : *slot;
	}
	if (!slot || t->key.failed)
		tev_no_memory(t);
	if (!slot || !fresh)
		return slot && *slot < t->n_threads ? *slot : PM_NONE;
	uint32_t process = process_of(t, &pid);
	if (process == PM_NONE ||
		!tev_room(t, &t->threads, i, &t->thread_room, sizeof(*t->threads)))
		return PM_NONE;
	t->threads[t->n_threads++] = (struct tev_thread){.is_text = tid.is_text,
		.tid = tid.number,
		.text = name_of_id(t, &tid),
		.process = process,
		.last = TEV_NO_NUMBER,
		.first_call = PM_NONE};
	return i;
}
