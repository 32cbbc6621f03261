/* Raw LZ4 blocks. The only file that uses <lz4.h>; independent of the contents. */
#include "formats/common/unlz4.h"

#include <limits.h>

#include <lz4.h>

bool pm_unlz4(struct pm_bytes in, uint8_t *out, size_t size)
{
	if (in.len > INT_MAX || size > INT_MAX)
		return false;
	int n = LZ4_decompress_safe((const char *)in.p, (char *)out, (int)in.len, (int)size);
	return n >= 0 && (size_t)n == size;
}
