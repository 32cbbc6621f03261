/*
 * The flat tables of meta.db. Nothing is kept: a row is decoded each time it is needed. Unreadable
 * fields are empty here and reported by damage.c.
 */
#include "formats/hpctoolkit/meta.h"

/*
 * Longest string. Real names have up to 3037 bytes; without a bound, a file in which every record
 * refers to one long string would cost the product of both.
 */
#define MAX_STRING 0x10000u

/*
 * Longest string that begins inside of another one. No writer shares ends of strings; n names that
 * are the ends of one string of n bytes would cost n * n.
 */
#define MAX_END 0x100u

/* Before the first string come fields of a table; any eight bytes of them contain a zero. */
static bool begins_inside_another(struct pm_bytes file, uint64_t at)
{
	struct pm_bytes before;
	return at >= 8 && pm_bytes_sub(file, at - 8, 8, &before) && !memchr(before.p, 0, 8);
}

/* The maximum size of a string at that position, with its NUL. */
static struct pm_bytes string_room(const struct hpctk_opened *db, uint64_t at)
{
	struct pm_bytes file = hpctk_bytes(db, HPCTK_META), rest;
	uint64_t left = at < file.len ? file.len - at : 0;
	uint64_t most = begins_inside_another(file, at) ? MAX_END : MAX_STRING;
	pm_bytes_sub(file, at, left < most ? left : most, &rest);
	return rest;
}

bool hpctk_string_find(const struct hpctk_opened *db, uint64_t at, struct pm_bytes *ret)
{
	return pm_bytes_cstr(string_room(db, at), 0, ret);
}

struct pm_bytes hpctk_string_get(const struct hpctk_opened *db, uint64_t at)
{
	struct pm_bytes s = {NULL, 0};
	if (at != 0)
		hpctk_string_find(db, at, &s);
	return s;
}

void hpctk_general_get(
	const struct hpctk_opened *db, struct pm_bytes *ret_title, struct pm_bytes *ret_description)
{
	struct pm_bytes head;
	*ret_title = *ret_description = (struct pm_bytes){NULL, 0};
	if (!pm_bytes_sub(hpctk_bytes(db, HPCTK_META), db->meta[HPCTK_GENERAL_SECTION].at,
		    HPCTK_GENERAL, &head))
		return;
	*ret_title = hpctk_string_get(db, hpctk_u64(&db->layout, head.p + 0x00));
	*ret_description = hpctk_string_get(db, hpctk_u64(&db->layout, head.p + 0x08));
}

struct pm_bytes hpctk_kind_name(const struct hpctk_opened *db, uint32_t kind)
{
	if (kind >= db->kinds.n)
		return (struct pm_bytes){NULL, 0};
	return hpctk_string_get(db, hpctk_u64(&db->layout, hpctk_row(&db->kinds, kind)));
}

static struct hpctk_path path_get(
	const struct hpctk_opened *db, const struct hpctk_rows *rows, uint32_t i)
{
	struct hpctk_path_record record;
	hpctk_path_decode(&db->layout, hpctk_row(rows, i), &record);
	return (struct hpctk_path){record.flags, hpctk_string_get(db, record.path_at)};
}

struct hpctk_path hpctk_module_get(const struct hpctk_opened *db, uint32_t i)
{
	return path_get(db, &db->modules, i);
}

struct hpctk_path hpctk_source_get(const struct hpctk_opened *db, uint32_t i)
{
	return path_get(db, &db->sources, i);
}

bool hpctk_string_find_again(const struct hpctk_opened *db, struct hpctk_lengths *lengths,
	uint64_t at, struct pm_bytes *ret)
{
	enum { LONG = 512 };
	const uint32_t *known = pm_map_find(&lengths->of, at);
	bool fresh;
	*ret = (struct pm_bytes){NULL, 0};
	if (known)
		return *known != HPCTK_NONE &&
			pm_bytes_sub(hpctk_bytes(db, HPCTK_META), at, *known, ret);
	struct pm_bytes room = string_room(db, at);
	bool found = pm_bytes_cstr(room, 0, ret);
	if ((found ? ret->len : room.len) > LONG) /* if this fails, it is not remembered */
		pm_map_put(&lengths->of, at, found ? (uint32_t)ret->len : HPCTK_NONE, &fresh);
	return found;
}

static struct hpctk_path path_get_again(const struct hpctk_opened *db,
	struct hpctk_lengths *lengths, const struct hpctk_rows *rows, uint32_t i)
{
	struct hpctk_path_record record;
	hpctk_path_decode(&db->layout, hpctk_row(rows, i), &record);
	struct hpctk_path path = {.flags = record.flags};
	if (record.path_at != 0)
		hpctk_string_find_again(db, lengths, record.path_at, &path.path);
	return path;
}

struct hpctk_path hpctk_module_get_again(
	const struct hpctk_opened *db, struct hpctk_lengths *lengths, uint32_t i)
{
	return path_get_again(db, lengths, &db->modules, i);
}

struct hpctk_path hpctk_source_get_again(
	const struct hpctk_opened *db, struct hpctk_lengths *lengths, uint32_t i)
{
	return path_get_again(db, lengths, &db->sources, i);
}

static struct hpctk_function function_of(
	const struct hpctk_opened *db, const struct hpctk_function_record *record)
{
	return (struct hpctk_function){
		.module = hpctk_row_get(&db->modules, record->module_at),
		.file = hpctk_row_get(&db->sources, record->file_at),
		.line = record->line,
		.offset = record->offset,
	};
}

struct hpctk_function hpctk_function_get_again(
	const struct hpctk_opened *db, struct hpctk_lengths *lengths, uint32_t i)
{
	struct hpctk_function_record record;
	hpctk_function_decode(&db->layout, hpctk_row(&db->functions, i), &record);
	struct hpctk_function function = function_of(db, &record);
	if (record.name_at != 0)
		hpctk_string_find_again(db, lengths, record.name_at, &function.name);
	return function;
}

struct hpctk_function hpctk_function_get(const struct hpctk_opened *db, uint32_t i)
{
	struct hpctk_function_record record;
	hpctk_function_decode(&db->layout, hpctk_row(&db->functions, i), &record);
	struct hpctk_function function = function_of(db, &record);
	function.name = hpctk_string_get(db, record.name_at);
	return function;
}

bool hpctk_row_find(const struct hpctk_rows *rows, uint64_t at, uint32_t *ret)
{
	*ret = HPCTK_NONE;
	if (rows->n == 0 || at < rows->at)
		return false;
	uint64_t i = (at - rows->at) / rows->stride;
	if (i >= rows->n || i * rows->stride != at - rows->at)
		return false;
	*ret = (uint32_t)i;
	return true;
}

uint32_t hpctk_row_get(const struct hpctk_rows *rows, uint64_t at)
{
	uint32_t i = HPCTK_NONE;
	if (at != 0)
		hpctk_row_find(rows, at, &i);
	return i;
}
