/* JVM signatures as they are written in a Java program. */
#include "formats/zts/signatures.h"

#include "formats/common/cursor.h"

static struct pm_bytes part(struct pm_bytes b, size_t off, size_t len)
{
	struct pm_bytes ret;
	pm_bytes_sub(b, off, len, &ret);
	return ret;
}

static const char *primitive_name(uint8_t code)
{
	switch (code) {
	case 'V': return "void";
	case 'Z': return "boolean";
	case 'B': return "byte";
	case 'C': return "char";
	case 'S': return "short";
	case 'I': return "int";
	case 'J': return "long";
	case 'F': return "float";
	case 'D': return "double";
	default: return NULL;
	}
}

/* One type of a JVM signature, without its package: `[Ljava/lang/String;` is `String[]`. */
static bool add_type(struct pm_bytes *left, struct pm_text *out)
{
	size_t arrays = 0, n = 1;
	while (arrays < left->len && left->p[arrays] == '[')
		arrays++;
	struct pm_bytes type = part(*left, arrays, left->len - arrays);
	if (type.len == 0)
		return false;
	const char *primitive = primitive_name(type.p[0]);
	if (primitive) {
		pm_text_str(out, primitive);
	} else {
		const uint8_t *end = memchr(type.p, ';', type.len);
		if (type.p[0] != 'L' || !end)
			return false;
		n = (size_t)(end - type.p) + 1;
		const uint8_t *slash = memrchr(type.p, '/', n);
		size_t from = slash ? (size_t)(slash - type.p) + 1 : 1;
		pm_text_bytes(out, part(type, from, n - 1 - from));
	}
	for (size_t i = 0; i < arrays; i++)
		pm_text_str(out, "[]");
	*left = part(type, n, type.len - n);
	return true;
}

bool zts_signature_read(
	struct pm_bytes signature, struct pm_text *arguments, struct pm_text *result)
{
	if (signature.len == 0 || signature.p[0] != '(')
		return false;
	struct pm_bytes left = part(signature, 1, signature.len - 1);
	while (left.len > 0 && left.p[0] != ')') {
		if (arguments->len)
			pm_text_str(arguments, ", ");
		if (!add_type(&left, arguments))
			return false;
	}
	if (left.len == 0)
		return false;
	left = part(left, 1, left.len - 1);
	return add_type(&left, result) && left.len == 0;
}
