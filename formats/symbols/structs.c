/*
 * Reads structure files with expat.
 *
 * If an element is cut by the end of a piece, expat reads it again from its beginning with the next
 * piece, so the length of elements is limited. Entities are rejected where they are declared, and
 * so are more than a few default attributes, because expat adds all of them to each element.
 * Attributes are only used if the element itself has them. So the cost is linear in the number of
 * bytes.
 *
 * A structure file contains the name of its load module; its own file name does not count. If there
 * are two for one module, the first by name is used: hpcstruct leaves two for a GPU binary that was
 * analysed with and without control flow, and both have all names.
 */
#include "formats/symbols/internal.h"

#include <dirent.h>
#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/affix.h"
#include "formats/common/beneath.h"
#include "formats/common/folder.h"
#include "formats/common/input.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"

enum { PIECE = 256 << 10 };

/* An element that is open. */
struct level {
	uint32_t scope; /* the innermost around its children, or UINT32_MAX */
	uint32_t file;  /* text */
};

struct reader {
	XML_Parser parser;
	struct sym_scopes *scopes; /* NULL: only the module is looked for */
	struct pm_text *module;
	struct level levels[SYM_SCOPE_DEPTH_MAX];
	uint32_t depth;       /* elements that are open */
	uint32_t modules;     /* begun so far */
	uint32_t defaults;    /* of attributes, declared */
	uint32_t since;       /* elements since the last check for cancellation */
	struct pm_text plain; /* a name, demangled */
	int status;
	const char *why; /* reading was stopped */
};

/* The attributes of an element that this reader knows; NULL: the element lacks it. */
struct attributes {
	const char *name, *file, *line, *ranges;
};

static void stop(struct reader *r, int status, const char *why)
{
	if (r->status == 0 && !r->why) {
		r->status = status;
		r->why = why;
	}
	XML_StopParser(r->parser, XML_FALSE);
}

static struct attributes read_attributes(const struct reader *r, const char **pairs)
{
	struct attributes a = {NULL, NULL, NULL, NULL};
	int n = XML_GetSpecifiedAttributeCount(r->parser);
	for (int i = 0; i + 1 < n; i += 2) {
		if (pairs[i][0] == '\0' || pairs[i][1] != '\0')
			continue;
		switch (pairs[i][0]) {
		case 'n': a.name = pairs[i + 1]; break;
		case 'f': a.file = pairs[i + 1]; break;
		case 'l': a.line = pairs[i + 1]; break;
		case 'v': a.ranges = pairs[i + 1]; break;
		default: break;
		}
	}
	return a;
}

/* The first number of "12" or "12-15"; 0 if there is none in range. */
static uint32_t line_of(const char *text)
{
	uint64_t line = 0;
	for (; text && *text >= '0' && *text <= '9'; text++) {
		line = line * 10 + (uint64_t)(*text - '0');
		if (line > UINT32_MAX)
			return 0;
	}
	return (uint32_t)line;
}

static bool take_hex(const char **at, uint64_t *ret)
{
	const char *p = *at;
	*ret = 0;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	const char *first = p;
	for (;; p++) {
		unsigned digit =
			(unsigned)(*p >= '0' && *p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10);
		if (digit > 15 || *p == '\0')
			break;
		if (*ret >> 60)
			return false;
		*ret = *ret << 4 | digit;
	}
	*at = p;
	return p != first;
}

/* The next "[0x1-0x2)" from `*at` on; false at the end, and for anything else. */
static bool take_range(const char **at, uint64_t *ret_start, uint64_t *ret_end)
{
	const char *p = *at;
	p += strspn(p, "{ \t\r\n");
	if (*p++ != '[' || !take_hex(&p, ret_start) || *p++ != '-' || !take_hex(&p, ret_end) ||
		*p++ != ')')
		return false;
	*at = p;
	return true;
}

static uint32_t take_text(struct reader *r, const char *text)
{
	return text ? sym_scopes_text(r->scopes, pm_bytes_of(text)) : 0;
}

/* hpcstruct leaves the functions of GPU binaries as they are in their symbol tables. */
static uint32_t take_name(struct reader *r, const char *name)
{
	if (!name || name[0] != '_')
		return take_text(r, name);
	sym_demangle(pm_bytes_of(name), &r->plain);
	return sym_scopes_text(r->scopes, pm_text_view(&r->plain));
}

/* The scope for an element; UINT32_MAX for elements without a scope. */
static uint32_t add_scope(struct reader *r, const struct attributes *a, const struct level *level,
	enum sym_scope_kind kind)
{
	struct sym_scope scope = {.kind = (uint8_t)kind,
		.parent = kind == SYM_SCOPE_FUNCTION ? UINT32_MAX : level->scope,
		.file = level->file,
		.line = line_of(a->line)};
	const char *ranges = a->ranges;
	uint64_t start, end;
	if (kind == SYM_SCOPE_FUNCTION || kind == SYM_SCOPE_INLINED)
		scope.name = take_name(r, a->name);
	if ((kind == SYM_SCOPE_FUNCTION || kind == SYM_SCOPE_LOOP) && ranges &&
		take_range(&ranges, &start, &end))
		scope.offset = start;
	if (kind != SYM_SCOPE_FUNCTION && scope.parent == UINT32_MAX)
		return UINT32_MAX; /* outside of any function */
	return sym_scopes_add(r->scopes, &scope);
}

/* An element within the module; its level is its own, initialised from the enclosing one. */
struct element {
	struct reader *r;
	const char *name;
	const struct attributes *a;
	struct level level;
};

static void begin_scope(void *context)
{
	struct element *e = context;
	struct reader *r = e->r;
	const struct attributes *a = e->a;
	struct level *level = &e->level;
	const char *ranges = a->ranges;
	uint64_t start, end;
	switch (*e->name) {
	case 'F':
		level->file = take_text(r, a->name);
		level->scope = UINT32_MAX;
		break;
	case 'P': level->scope = add_scope(r, a, level, SYM_SCOPE_FUNCTION); break;
	case 'A':
		if (a->file)
			level->file = take_text(r, a->file);
		level->scope = add_scope(
			r, a, level, a->name && *a->name ? SYM_SCOPE_INLINED : SYM_SCOPE_LINE);
		break;
	case 'L':
		if (a->file)
			level->file = take_text(r, a->file);
		level->scope = add_scope(r, a, level, SYM_SCOPE_LOOP);
		break;
	case 'S': /* a call is a statement that also has a target */
	case 'C':
		level->scope = add_scope(r, a, level, SYM_SCOPE_LINE);
		while (ranges && take_range(&ranges, &start, &end))
			sym_scopes_range(r->scopes, start, end, level->scope);
		break;
	default: break;
	}
}

static void XMLCALL on_begin(void *self, const char *element, const char **pairs)
{
	struct reader *r = self;
	struct attributes a;
	struct element e = {r, element, &a, {UINT32_MAX, 0}};
	if (r->status < 0 || r->why) /* expat may report one more element */
		return;
	if (++r->since % 1024 == 0 && pm_work_cancelled()) {
		stop(r, -ENOMEM, NULL);
		return;
	}
	if (r->depth == SYM_SCOPE_DEPTH_MAX) { /* expat allocates for each of them, too */
		stop(r, 0, "elements are nested too deeply");
		return;
	}
	if (r->depth > 0)
		e.level = r->levels[r->depth - 1];
	a = read_attributes(r, pairs);
	if (strcmp(element, "LM") == 0) {
		r->modules++;
		if (!r->scopes) {
			pm_text_str(r->module, a.name ? a.name : "");
			stop(r, pm_text_status(r->module), "enough was read");
		}
	} else if (r->scopes && r->modules == 1 && element[1] == '\0') {
		/* A build of its own: it is not left through expat. */
		int status = pm_build(&r->scopes->arena, begin_scope, &e);
		if (status < 0)
			stop(r, status, NULL);
	}
	r->levels[r->depth++] = e.level;
}

static void XMLCALL on_end(void *self, const char *element)
{
	struct reader *r = self;
	(void)element;
	if (r->depth > 0)
		r->depth--;
}

static void XMLCALL on_entity(void *self, const char *name, int is_parameter, const char *value,
	int n, const char *base, const char *system, const char *public, const char *notation)
{
	(void)name, (void)is_parameter, (void)value, (void)n, (void)base, (void)system;
	(void)public, (void)notation;
	stop(self, 0, "an entity is declared");
}

static void XMLCALL on_attribute(void *self, const char *element, const char *name,
	const char *type, const char *value, int is_required)
{
	struct reader *r = self;
	(void)element, (void)name, (void)type, (void)is_required;
	if (value && ++r->defaults > SYM_STRUCT_DEFAULTS_MAX)
		stop(r, 0, "attributes have too many defaults");
}

/* ---- */

/* The start of the element that expat reports, or of the one that it has read in part. */
static uint64_t position(const struct reader *r)
{
#if XML_MAJOR_VERSION * 1000 + XML_MINOR_VERSION >= 2008
	int64_t at = XML_GetCurrentByteIndex64(r->parser);
#else
	XML_Index at = XML_GetCurrentByteIndex(r->parser);
#endif
	return at < 0 ? 0 : (uint64_t)at;
}

static void feed(struct reader *r, struct pm_bytes xml, struct sym_struct_fault *fault)
{
	size_t fed = 0;
	do {
		size_t n = xml.len - fed < PIECE ? xml.len - fed : PIECE;
		bool last = fed + n == xml.len;
		if (XML_Parse(r->parser, (const char *)xml.p + fed, (int)n, last) !=
			XML_STATUS_OK) {
			enum XML_Error error = XML_GetErrorCode(r->parser);
			if (error == XML_ERROR_NO_MEMORY)
				r->status = -ENOMEM;
			fault->what = r->why ? r->why : XML_ErrorString(error);
		}
		fed += n;
		if (!fault->what && fed - position(r) > SYM_STRUCT_ELEMENT_MAX)
			fault->what = "an element is longer than 1 MiB";
	} while (!fault->what && r->status == 0 && fed < xml.len);
	if (fault->what)
		fault->offset = position(r);
}

static void run(struct reader *r, struct pm_bytes xml, struct sym_struct_fault *fault)
{
	r->parser = XML_ParserCreate(NULL);
	if (!r->parser) {
		r->status = -ENOMEM;
		return;
	}
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_begin, on_end);
	XML_SetEntityDeclHandler(r->parser, on_entity);
	XML_SetAttlistDeclHandler(r->parser, on_attribute);
	feed(r, xml, fault);
	XML_ParserFree(r->parser);
}

int sym_struct_module(struct pm_bytes xml, struct pm_text *ret)
{
	struct sym_struct_fault fault = {0, NULL};
	struct reader r = {.module = ret};
	pm_text_clear(ret);
	run(&r, xml, &fault);
	return r.status;
}

static void finish(void *scopes)
{
	sym_scopes_finish(scopes);
}

int sym_struct_read(struct pm_bytes xml, struct sym_scopes *ret, struct sym_struct_fault *fault)
{
	struct reader r = {.scopes = ret, .plain.arena = &ret->arena};
	*fault = (struct sym_struct_fault){0, NULL};
	run(&r, xml, fault);
	if (r.status == 0 && !fault->what && ret->is_full)
		fault->what = "more scopes or addresses than are read of one load module";
	pm_text_done(&r.plain);
	return r.status < 0 ? r.status : pm_build(&ret->arena, finish, ret);
}

/* ---- the folder ---- */

static int by_name(const void *a, const void *b)
{
	char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

static int list_names(struct sym_structs *s, DIR *dir, struct pm_damage_list *damage)
{
	static const char ending[] = ".hpcstruct";
	struct dirent *entry;
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		struct pm_bytes file = pm_bytes_of(entry->d_name);
		if (file.len < sizeof(ending) || !pm_has_ending(file, ending))
			continue;
		if (s->n == SYM_STRUCTS_MAX) {
			pm_damage_add(damage, "structs", PM_NO_OFFSET, PM_NO_OFFSET,
				"more structure files than are read");
			errno = 0;
			break;
		}
		char *name = pm_arena_printf(&s->arena, "%s", entry->d_name);
		if (!name ||
			pm_list_room_in(&s->arena, &s->names, s->n, &s->room, sizeof(name)) < 0)
			return -ENOMEM;
		s->names[s->n++] = name;
	}
	int r = -errno;
	return pm_sort(s->names, s->n, sizeof(*s->names), by_name) < 0 ? -ENOMEM : r;
}

/* ---- files ---- */

static void report(struct pm_damage_list *damage, const char *name, uint64_t offset, uint64_t bytes,
	const char *what)
{
	char file[320];
	snprintf(file, sizeof(file), "structs/%s", name);
	pm_damage_add(damage, file, offset, bytes, "%s: some names are missing", what);
}

/* Opens structure file i: 1, 0 if it cannot be read, which is reported, or -ENOMEM. */
static int open_file(
	const struct sym_structs *s, size_t i, struct pm_input *ret, struct pm_damage_list *damage)
{
	struct stat st;
	int fd = pm_open_beneath(s->folder, s->names[i]);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -EINVAL;
	}
	int r = fd < 0 ? fd : pm_input_take(ret, fd, s->names[i], NULL);
	if (pm_is_lasting(r))
		report(damage, s->names[i], PM_NO_OFFSET, PM_NO_OFFSET, strerror(-r));
	return pm_is_passing(r) ? r : r == 0;
}

static int note_module(struct sym_structs *s, size_t i, struct pm_bytes path)
{
	uint32_t known = s->modules.n;
	uint32_t module = pm_strtab_add(&s->modules, sym_module_key(path));
	if (module == UINT32_MAX)
		return -ENOMEM;
	if (module < known)
		return 0;
	if (pm_list_room_in(&s->arena, &s->files, module, &s->files_room, sizeof(*s->files)) < 0)
		return -ENOMEM;
	s->files[module] = (uint32_t)i;
	return 0;
}

static int find_modules(struct sym_structs *s, struct pm_damage_list *damage)
{
	struct pm_text module = {.p = NULL};
	int r = 0;
	for (size_t i = 0; i < s->n && r >= 0; i++) {
		struct pm_input in = {.fd = -1, .slot = -1};
		r = pm_work_cancelled() ? PM_CANCELLED : open_file(s, i, &in, damage);
		if (r <= 0)
			continue;
		r = sym_struct_module(in.bytes, &module);
		if (r == 0 && module.len == 0)
			report(damage, s->names[i], 0, in.bytes.len, "names no load module");
		else if (r == 0)
			r = note_module(s, i, pm_text_view(&module));
		pm_input_close(&in);
	}
	pm_text_done(&module);
	return r < 0 ? r : 0;
}

int sym_structs_open(struct sym_structs *s, int folder, struct pm_damage_list *damage)
{
	*s = (struct sym_structs){
		.folder = folder < 0 ? -ENOENT : pm_open_beneath(folder, "structs"),
		.modules = pm_strtab_in(&s->arena)};
	s->is_open = s->folder >= 0;
	DIR *dir = s->is_open ? pm_folder_list(s->folder) : NULL;
	int r = !s->is_open ? s->folder : dir ? list_names(s, dir, damage) : -errno;
	if (dir)
		closedir(dir);
	if ((r == -ENOENT || r == -EBADF) &&
		!s->is_open) /* EBADF: there is no measurement folder */
		return 0;
	if (pm_is_lasting(r)) {
		pm_damage_add(damage, "structs", PM_NO_OFFSET, PM_NO_OFFSET,
			"the folder cannot be read: %s: names are missing", strerror(-r));
		r = 0;
	}
	return r < 0 ? r : find_modules(s, damage);
}

int sym_structs_read(const struct sym_structs *s, struct pm_bytes path, struct sym_scopes *ret,
	struct pm_damage_list *damage)
{
	struct sym_struct_fault fault;
	struct pm_input in = {.fd = -1, .slot = -1};
	uint32_t module = pm_strtab_find(&s->modules, sym_module_key(path));
	if (module == UINT32_MAX)
		return 0;
	size_t i = s->files[module];
	int r = open_file(s, i, &in, damage);
	if (r <= 0)
		return r;
	r = sym_struct_read(in.bytes, ret, &fault);
	if (r == 0 && fault.what)
		report(damage, s->names[i], fault.offset,
			in.bytes.len - (fault.offset < in.bytes.len ? fault.offset : in.bytes.len),
			fault.what);
	pm_input_close(&in);
	return r < 0 ? r : 1;
}

void sym_structs_done(struct sym_structs *s)
{
	if (s->is_open)
		close(s->folder);
	pm_arena_done(&s->arena);
	*s = (struct sym_structs){.n = 0};
}
