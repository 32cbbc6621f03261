/* Text indexes, WAL and FM, and the names made from their entries. */
#include "formats/common/text.h"
#include "formats/zts/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_damage_list damage = PM_DAMAGE_LIST_INIT;
	struct zts_texts t = {.n = 0};
	struct pm_text out = {.limit = 1 << 24};
	struct pm_bytes b = {data, size};
	zts_texts_add_wal(&t, b, &damage, "wal");
	zts_texts_add_fm(&t, b, &damage, "fm");
	zts_texts_freeze(&t);
	for (size_t i = 0; i < t.n && i < 256; i++) {
		pm_text_clear(&out);
		zts_text_resolve(&t, t.items[i].raw, &out);
		zts_name_method(&t, t.items[i].id, &out);
	}
	zts_texts_done(&t);
	pm_text_done(&out);
	pm_damage_done(&damage);
	return 0;
}
