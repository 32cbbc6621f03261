/* https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md */
#include "fs/document/thrift.h"

static uint64_t zigzag(int64_t i)
{
	return (uint64_t)i << 1 ^ (uint64_t)(i >> 63);
}

void pmfs_thrift_varint(struct pm_text *out, uint64_t u)
{
	for (; u >= 0x80; u >>= 7)
		pm_text_char(out, (char)(u | 0x80));
	pm_text_char(out, (char)u);
}

void pmfs_thrift_field(struct pmfs_thrift *t, unsigned id, enum pmfs_thrift_type type)
{
	pm_text_char(t->out, (char)((id - t->last) << 4 | type));
	t->last = id;
}

void pmfs_thrift_bool(struct pmfs_thrift *t, unsigned id, bool is)
{
	pmfs_thrift_field(t, id, is ? PMFS_THRIFT_TRUE : PMFS_THRIFT_FALSE);
}

void pmfs_thrift_i32(struct pmfs_thrift *t, unsigned id, int32_t i)
{
	pmfs_thrift_field(t, id, PMFS_THRIFT_I32);
	pmfs_thrift_varint(t->out, zigzag(i));
}

void pmfs_thrift_i64(struct pmfs_thrift *t, unsigned id, int64_t i)
{
	pmfs_thrift_field(t, id, PMFS_THRIFT_I64);
	pmfs_thrift_varint(t->out, zigzag(i));
}

void pmfs_thrift_item_i32(struct pm_text *out, int32_t i)
{
	pmfs_thrift_varint(out, zigzag(i));
}

void pmfs_thrift_item_binary(struct pm_text *out, struct pm_bytes b)
{
	pmfs_thrift_varint(out, b.len);
	pm_text_bytes(out, b);
}

void pmfs_thrift_binary(struct pmfs_thrift *t, unsigned id, struct pm_bytes b)
{
	pmfs_thrift_field(t, id, PMFS_THRIFT_BINARY);
	pmfs_thrift_item_binary(t->out, b);
}

void pmfs_thrift_str(struct pmfs_thrift *t, unsigned id, const char *s)
{
	pmfs_thrift_binary(t, id, pm_bytes_of(s));
}

void pmfs_thrift_list(struct pmfs_thrift *t, unsigned id, enum pmfs_thrift_type type, uint32_t n)
{
	pmfs_thrift_field(t, id, PMFS_THRIFT_LIST);
	if (n < 15) {
		pm_text_char(t->out, (char)(n << 4 | type));
		return;
	}
	pm_text_char(t->out, (char)(0xf0 | type));
	pmfs_thrift_varint(t->out, n);
}

struct pmfs_thrift pmfs_thrift_struct(struct pmfs_thrift *t, unsigned id)
{
	pmfs_thrift_field(t, id, PMFS_THRIFT_STRUCT);
	return (struct pmfs_thrift){.out = t->out};
}

void pmfs_thrift_empty(struct pmfs_thrift *t, unsigned id)
{
	struct pmfs_thrift inner = pmfs_thrift_struct(t, id);
	pmfs_thrift_end(&inner);
}

void pmfs_thrift_end(struct pmfs_thrift *t)
{
	pm_text_char(t->out, 0);
}
