#include "fs/views/exports/chrome.h"

void pmfs_chrome_begin(struct pmfs_chrome *c)
{
	pm_text_str(c->out, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":");
}

void pmfs_chrome_events(struct pmfs_chrome *c)
{
	pm_text_str(c->out, ",\n\"traceEvents\":[");
}

void pmfs_chrome_end(struct pmfs_chrome *c)
{
	pm_text_str(c->out, "\n]}\n");
}

/* Begins an event, up to a value that the caller adds. */
static void start_event(struct pmfs_chrome *c, char phase, uint64_t pid, uint64_t tid)
{
	pm_text_str(c->out, c->n_events++ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	pm_text_char(c->out, phase);
	pm_text_str(c->out, "\",\"pid\":");
	pm_text_u64(c->out, pid);
	pm_text_str(c->out, ",\"tid\":");
	pm_text_u64(c->out, tid);
}

static void add_us(struct pmfs_chrome *c, const char *key, uint64_t ns)
{
	pm_text_str(c->out, key);
	pm_text_u64(c->out, ns / 1000);
	char decimals[] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
		(char)('0' + ns % 10)};
	pm_text_add(c->out, decimals, sizeof(decimals));
}

void pmfs_chrome_name(
	struct pmfs_chrome *c, const char *what, uint64_t pid, uint64_t tid, struct pm_bytes name)
{
	start_event(c, 'M', pid, tid);
	pm_text_str(c->out, ",\"name\":\"");
	pm_text_str(c->out, what);
	pm_text_str(c->out, "_name\",\"args\":{\"name\":");
	pm_text_json(c->out, name);
	pm_text_str(c->out, "}}");
}

void pmfs_chrome_place(
	struct pmfs_chrome *c, const char *what, uint64_t pid, uint64_t tid, uint64_t place)
{
	start_event(c, 'M', pid, tid);
	pm_text_str(c->out, ",\"name\":\"");
	pm_text_str(c->out, what);
	pm_text_str(c->out, "_sort_index\",\"args\":{\"sort_index\":");
	pm_text_u64(c->out, place);
	pm_text_str(c->out, "}}");
}

/* The end of an event. */
static void end_event(struct pmfs_chrome *c, struct pm_bytes name, struct pm_bytes args)
{
	pm_text_str(c->out, ",\"name\":");
	pm_text_json(c->out, name);
	if (args.len) {
		pm_text_str(c->out, ",\"args\":");
		pm_text_bytes(c->out, args);
	}
	pm_text_char(c->out, '}');
}

void pmfs_chrome_slice(struct pmfs_chrome *c, const struct pmfs_chrome_slice *slice)
{
	char phase = slice->phase ? slice->phase : slice->length_ns ? 'X' : 'i';
	start_event(c, phase, slice->pid, slice->tid);
	add_us(c, ",\"ts\":", slice->start_ns + (phase == 'e' ? slice->length_ns : 0));
	if (slice->phase)
		pm_text_printf(c->out, ",\"id\":%llu", (unsigned long long)slice->id);
	else if (slice->length_ns)
		add_us(c, ",\"dur\":", slice->length_ns);
	else
		pm_text_str(c->out, ",\"s\":\"t\"");
	if (slice->cat.len) {
		pm_text_str(c->out, ",\"cat\":");
		pm_text_json(c->out, slice->cat);
	}
	end_event(c, slice->name, slice->args);
}

void pmfs_chrome_counter(struct pmfs_chrome *c, uint64_t pid, uint64_t time_ns,
	struct pm_bytes name, struct pm_bytes args)
{
	start_event(c, 'C', pid, 0);
	add_us(c, ",\"ts\":", time_ns);
	end_event(c, name, args);
}

void pmfs_chrome_instant(struct pmfs_chrome *c, uint64_t pid, uint64_t time_ns,
	struct pm_bytes name, struct pm_bytes args)
{
	start_event(c, 'i', pid, 0);
	add_us(c, ",\"ts\":", time_ns);
	pm_text_str(c->out, ",\"s\":\"p\"");
	end_event(c, name, args);
}
