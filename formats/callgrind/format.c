/*
 * callgrind.out and cachegrind.out, of Valgrind and of the many others that write the format for
 * KCachegrind: Xdebug, pyprof2calltree, go tool pprof … (docs/formats/callgrind.md).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/callgrind/callgrind.h"

/* ---- raw/ ---- */

#define P struct cg_part
static const struct pm_column part_columns[] = {PM_COLUMN_OR_NONE(P, number, "part"),
	PM_COLUMN_OR_NONE(P, thread, "thread"), PM_COLUMN_OR_NONE(P, pid, "pid"),
	PM_COLUMN(P, lines, "lines"), PM_COLUMN(P, totals, "totals"),
	PM_COLUMN(P, trigger, "trigger"), PM_COLUMN(P, command, "command")};

static int part_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	ret->p = (const struct cg_part *)rows->table->self + rows->at;
	return rows->at < rows->table->end;
}

static const struct pm_sheet parts =
	PM_SHEET("raw/parts.csv", part_columns, part_record, .dense = true);

/* A jump with its names. */
struct jump {
	struct cg_jump at;
	struct pm_bytes object, file, function, to_file, to_function;
};

static struct pm_cell kind_cell(struct pm_rows *rows, const void *conditional)
{
	(void)rows;
	return pm_cell_str(*(const bool *)conditional ? "jcnd" : "jump");
}

#define J struct jump
static const struct pm_column jump_columns[] = {PM_COLUMN(J, at.executed, "executed"),
	PM_COLUMN(J, at.jumped, "jumped"), PM_COLUMN(J, at.line, "line"),
	PM_COLUMN(J, at.to_line, "to_line"), PM_COLUMN_HEX(J, at.address, "address"),
	PM_COLUMN_HEX(J, at.to_address, "to_address"),
	PM_COLUMN_BY(J, at.conditional, "kind", kind_cell), PM_COLUMN(J, object, "module"),
	PM_COLUMN(J, file, "file"), PM_COLUMN(J, to_file, "to_file"),
	PM_COLUMN(J, function, "function"), PM_COLUMN(J, to_function, "to_function")};

static int jump_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	ret->p = (const struct jump *)rows->table->self + rows->at;
	return rows->at < rows->table->end;
}

static const struct pm_sheet jumps =
	PM_SHEET("raw/jumps.csv", jump_columns, jump_record, .dense = true);

/* The texts of names, copied to live as long as the profile. */
static struct pm_bytes *lasting(struct cg_reader *c, const struct cg_names *names)
{
	struct pm_bytes *texts = pm_rec_alloc(c->r, names->texts.n * sizeof(*texts));
	for (uint32_t i = 0; texts && i < names->texts.n; i++)
		texts[i] = pm_rec_copy(c->r, cg_text(names, i));
	return texts;
}

static void add_sheets(struct cg_reader *c)
{
	struct cg_part *kept = pm_rec_alloc(c->r, c->n_parts * sizeof(*kept));
	if (kept)
		memcpy(kept, c->parts, c->n_parts * sizeof(*kept));
	pm_rec_sheet(c->r, &parts, kept, c->n_parts);
	if (c->n_jumps == 0)
		return;
	struct jump *rows = pm_rec_alloc(c->r, c->n_jumps * sizeof(*rows));
	struct pm_bytes *files = lasting(c, &c->files), *objects = lasting(c, &c->objects);
	struct pm_bytes *functions = lasting(c, &c->functions);
	if (!rows || !files || !objects || !functions)
		return;
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct cg_jump *j = &c->jumps[i];
		rows[i] = (struct jump){*j, objects[j->object], files[j->file],
			functions[j->function], files[j->to_file], functions[j->to_function]};
	}
	pm_rec_sheet(c->r, &jumps, rows, c->n_jumps);
}

/* ---- what is wrong, and what there is ---- */

static void say_fault(struct cg_reader *c, const struct cg_fault *f, const char *what)
{
	if (f->n == 1)
		pm_rec_damage(c->r, f->first, PM_NO_OFFSET, "%s", what);
	else if (f->n > 1)
		pm_rec_damage(
			c->r, f->first, PM_NO_OFFSET, "%s, and %zu more like it", what, f->n - 1);
}

static void say_what_is_wrong(struct cg_reader *c, bool was_no_tree)
{
	bool cachegrind = !c->at.has_calls && c->at.creator.len == 0 && !c->at.has_version;
	bool totals = true;
	for (size_t i = c->at.first_part; i < c->n_parts; i++)
		totals = totals && (c->parts[i].has_totals || c->parts[i].lines == 0);
	say_fault(c, &c->at.malformed,
		"a line is none of this format, or has more costs than events or one beyond 2^63");
	say_fault(c, &c->at.nameless, "an id is used that has no name before");
	say_fault(c, &c->at.unended, "calls= without a line of costs after it");
	say_fault(
		c, &c->at.lies, "totals: is not the sum of the part's cost lines, which is shown");
	if (c->at.ends_early)
		pm_rec_damage(c->r, c->lines->offset, PM_NO_OFFSET,
			"the file ends in a line, which is left out");
	else if (cg_is_by(c, "callgrind-") && !totals)
		pm_rec_damage(c->r, c->lines->offset, PM_NO_OFFSET,
			"a part ends without totals: the file was cut off");
	if (cachegrind && c->at.summary.len == 0 && c->at.has_caches)
		pm_rec_damage(c->r, c->lines->offset, PM_NO_OFFSET,
			"the file ends without summary:, so it was cut off");
	else if (cachegrind && c->at.has_caches && c->at.lie.len > 0)
		pm_rec_damage(c->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"summary: is not the sum of the cost lines, which is shown");
	else if (c->at.lie.len > 0)
		pm_rec_remark(c->r,
			"The summary of the %s, %.*s, is not the sum of its cost lines; the "
			"wholes shown are that sum.",
			c->at.n_summaries > 1 ? "part" : "file", (int)c->at.lie.len,
			(const char *)c->at.lie.p);
	if (was_no_tree)
		pm_rec_damage(c->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"is by Xdebug, but its blocks are no calls in the order of their returns: "
			"only call edges are shown");
}

static void say_facts(struct cg_reader *c)
{
	const struct cg_part *first = &c->parts[0];
	if (c->at.creator.len)
		pm_rec_fact(c->r, "creator", pm_cell_text(c->at.creator));
	if (first->command.len) {
		pm_rec_fact(c->r, "command", pm_cell_text(first->command));
		pm_rec_title(c->r, first->command);
	}
	if (first->pid != PM_NO_OFFSET)
		pm_rec_fact(c->r, "pid", pm_cell_u64(first->pid));
	if (c->n_parts > 1)
		pm_rec_fact(c->r, "parts", pm_cell_u64(c->n_parts));
	if (c->at.n_summaries == 1 && pm_rec_file_number(c->r) == 0)
		pm_rec_fact(c->r, "summary_as_stored", pm_cell_text(c->at.summary));
	if (!c->by_blocks && c->calls != PM_REC_NONE)
		pm_rec_remark(c->r,
			"The file has call edges, not call paths: contexts are functions, and "
			"below each what it called, with the inclusive cost of these calls.");
}

/* Each of several files is a part of the run; their reader is the profile's until the last. */
struct reading {
	struct cg_reader *c;
	struct pm_error *err;
};

static void read_one(void *context)
{
	const struct reading *x = context;
	struct cg_reader *c = x->c;
	struct pm_recording *r = c->r;
	bool first = pm_rec_file_number(r) == 0, last = pm_rec_is_last_file(r);
	cg_read_file(c, first && last);
	bool was_no_tree = c->no_tree;
	if (c->by_blocks && (c->no_tree || !c->at.has_calls)) {
		cg_forget(c);
		cg_read_file(c, false);
	}
	if (c->at.n_columns == 0 && first && last)
		pm_build_check(&c->arena,
			pm_error_set(x->err, -EINVAL, pm_rec_file(r), c->lines->offset,
				"has no line `events:`, which names the costs of a callgrind file"));
	if (c->at.has_line)
		pm_rec_has_lines(r);
	if (c->by_blocks) {
		pm_rec_contexts_are(r, "calls");
		cg_blocks_tree(c);
	}
	say_what_is_wrong(c, was_no_tree);
	if (last) {
		say_facts(c);
		add_sheets(c);
	}
}

static int cg_read(struct pm_recording *r, struct pm_error *err)
{
	struct reading x = {pm_rec_own(r), err};
	if (pm_rec_file_number(r) == 0) {
		cg_done(x.c);
		cg_begin(x.c, r);
	}
	int e = pm_build(&x.c->kept, read_one, &x);
	if (e < 0 || pm_rec_is_last_file(r)) {
		cg_done(x.c);
		cg_begin(x.c, NULL);
	}
	return e;
}

/* ---- the descriptor ---- */

static bool begins_with(struct pm_bytes line, const char *s)
{
	size_t n = strlen(s);
	return line.len >= n && memcmp(line.p, s, n) == 0;
}

enum { HEAD = 4096 /* bytes of a file in which its first headers are */ };

/* The value of a header, with the rest of the head; NULL if it is not there. */
static const char *header_of(const char *head, const char *key)
{
	const char *at = strstr(head, key);
	return at ? at + strlen(key) : NULL;
}

static uint64_t number_of(const char *value)
{
	return value ? strtoull(value, NULL, 10) : 0;
}

/* Takes `N` from the end of a name, with `mark` before it. */
static void cut_number(struct pm_bytes *name, char mark, uint64_t number)
{
	size_t n = name->len;
	uint64_t found = 0, ten = 1;
	for (; n > 0 && name->len - n < 18 && name->p[n - 1] >= '0' && name->p[n - 1] <= '9'; n--) {
		found += ten * (name->p[n - 1] - '0');
		ten *= 10;
	}
	if (n > 1 && n < name->len && name->p[n - 1] == mark && found == number)
		name->len = n - 1;
}

/*
 * Parts and threads of one run have the number and the command of its process, and each is there
 * once: in containers, processes of different runs have the same numbers. Their names are
 * X.PART-THREAD, and X for the last part. Valgrind leaves X empty where threads are separated.
 */
static int part_of_head(const char *head, struct pm_bytes name, struct pm_run_file *ret)
{
	const char *pid = header_of(head, "\npid: "), *command = header_of(head, "\ncmd: ");
	uint64_t part = number_of(header_of(head, "\npart: "));
	uint64_t thread = number_of(header_of(head, "\nthread: "));
	if (strncmp(head, "# callgrind format", 18) != 0 || !pid)
		return -1;
	cut_number(&name, '-', thread);
	struct pm_bytes stem = name, without_pid;
	cut_number(&stem, '.', part);
	without_pid = stem;
	cut_number(&without_pid, '.', number_of(pid));
	if (part != number_of(pid) || without_pid.len < stem.len) /* else it may be X.PID */
		name = stem;
	ret->run = pm_hash_u64(pm_hash_bytes(name) ^ number_of(pid));
	if (command)
		ret->run ^= pm_hash_bytes(
			(struct pm_bytes){(const uint8_t *)command, strcspn(command, "\n")});
	ret->member = part << 32 | (uint32_t)thread;
	return 1;
}

static int run_file(int folder, const char *name, struct pm_run_file *ret)
{
	char head[HEAD];
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)
		? -1
		: pread(fd, head, sizeof(head) - 1, 0);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return n < 0 ? -1 : 0;
	head[n] = '\0';
	return part_of_head(head, pm_bytes_of(name), ret);
}

static int probe(const struct pm_candidate *c)
{
	static const char *const names[] = {"positions:", "fl=", "fn=", "ob=", "fi="};
	struct pm_bytes rest = {c->text.p, c->text.len < HEAD ? c->text.len : HEAD};
	bool events = false, named = false;
	if (c->folder)
		return c->n_files > 1 ? PM_PROBE_CERTAIN : PM_PROBE_NO;
	if (begins_with(rest, "# callgrind format"))
		return PM_PROBE_CERTAIN;
	while (rest.len > 0) {
		const uint8_t *end = memchr(rest.p, '\n', rest.len);
		size_t n = end ? (size_t)(end - rest.p) + 1 : rest.len;
		events |= begins_with(rest, "events:");
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			named |= begins_with(rest, names[i]);
		rest.p += n;
		rest.len -= n;
	}
	return events && named ? PM_PROBE_CERTAIN - 10 : PM_PROBE_NO;
}

static const struct pm_reader reader = {
	.contexts_are = "edges", .layout = "callgrind", .read = cg_read};

static void own_free(void *own)
{
	cg_done(own);
	free(own);
}

static int cg_open(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	struct cg_reader *own = calloc(1, sizeof(*own));
	if (!own)
		return pm_error_plain(err, -ENOMEM);
	return pm_rec_open_with(
		&reader, c, options, &(struct pm_rec_with){.own = own, .done = own_free}, ret, err);
}

const struct pm_format callgrind_format = {
	.name = "callgrind",
	.summary =
		"callgrind.out and cachegrind.out of Valgrind, Xdebug, pyprof2calltree and others",
	.probe = probe,
	.run_file = run_file,
	.open = cg_open,
	.close = pm_rec_close,
};
