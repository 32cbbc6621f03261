/*
 * Kinds: how the bytes of a field are interpreted, from its data type, its size and the name of its
 * C type.
 */
#include "formats/htdump/kind.h"

#include "formats/common/affix.h"

static uint8_t element_size(struct pm_bytes type)
{
	static const struct {
		const char *name;
		uint8_t size;
	} types[] = {{"char", 1}, {"bool", 1}, {"_Bool", 1}, {"short", 2}, {"int", 4}, {"long", 8},
		{"size_t", 8}, {"uint8_t", 1}, {"uint16_t", 2}, {"uint32_t", 4}, {"uint64_t", 8},
		{"int8_t", 1}, {"int16_t", 2}, {"int32_t", 4}, {"int64_t", 8}, {"float", 4},
		{"double", 8}};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (pm_bytes_equal(type, pm_bytes_of(types[i].name)))
			return types[i].size;
	return 0;
}

/* Releases before 0.6 call every integer INTEGER; the C type tells which are unsigned. */
static bool is_unsigned(const struct htd_flat *f)
{
	return f->data_type != HTD_INTEGER || pm_begins_with(f->type, "uint") ||
		pm_bytes_equal(f->type, pm_bytes_of("size_t")) ||
		(pm_begins_with(f->type, "HT_") &&
			!pm_bytes_equal(f->type, pm_bytes_of("HT_Boolean")));
}

static bool is_word(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static uint8_t number_kind(const struct htd_flat *f)
{
	if (f->data_type == HTD_POINTER)
		return HTD_KIND_POINTER;
	if (f->data_type == HTD_FLOAT || f->data_type == HTD_DOUBLE)
		return HTD_KIND_REAL;
	return is_unsigned(f) ? HTD_KIND_UNSIGNED : HTD_KIND_SIGNED;
}

/*
 * Fields of unknown type are bytes. A field larger than its C type is an array of it; one that is
 * too large for a number is an array of bytes.
 */
void htd_kind_set(struct htd_flat *f)
{
	if (f->data_type == HTD_STRING) {
		f->kind = HTD_KIND_TEXT;
		return;
	}
	if (!htd_type_is_known(f->data_type)) {
		f->kind = HTD_KIND_ARRAY;
		f->element = HTD_KIND_UNSIGNED;
		f->step = 1;
		return;
	}
	f->kind = number_kind(f);
	bool real_type = pm_begins_with(f->type, "float") || pm_begins_with(f->type, "double");
	uint8_t step = element_size(f->type);
	bool array = step && f->size > step && f->size % step == 0 && f->kind != HTD_KIND_POINTER &&
		(f->kind == HTD_KIND_REAL) == real_type;
	bool single = is_word(f->size);
	if (f->kind == HTD_KIND_REAL)
		single = f->size == 4 || f->size == 8;
	else if (f->kind == HTD_KIND_POINTER)
		single = f->size <= 8;
	if (single && !array)
		return;
	f->element = array || htd_is_integer(f) ? f->kind : HTD_KIND_UNSIGNED;
	f->step = array ? step : 1;
	f->kind = HTD_KIND_ARRAY;
}
