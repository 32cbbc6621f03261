/*
 * libiberty's demanglers, which return a name in pieces. A name of a hundred bytes can expand to
 * gigabytes, and they cannot be told to stop, so they are left by longjmp. At that point both only
 * hold stack memory (which is the purpose of their callbacks).
 */
#include "formats/symbols/internal.h"

#include <string.h>

#ifdef SYM_DEMANGLE

#include <setjmp.h>

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else /* RHEL and SUSE */
#include <demangle.h>
#endif

struct output {
	struct pm_text *text;
	jmp_buf too_long;
};

static void on_piece(const char *piece, size_t n, void *self)
{
	struct output *o = self;
	if (n > SYM_DEMANGLED_MAX - o->text->len)
		longjmp(o->too_long, 1);
	pm_text_add(o->text, piece, n);
}

static bool demangle(const char *symbol, struct pm_text *ret)
{
	struct output o = {.text = ret};
	if (setjmp(o.too_long) != 0)
		return false;
	return rust_demangle_callback(symbol, DMGL_AUTO, on_piece, &o) ||
		(ret->len == 0 &&
			cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI, on_piece, &o));
}

#else

static bool demangle(const char *symbol, struct pm_text *ret)
{
	(void)symbol, (void)ret;
	return false;
}

#endif

void sym_demangle(struct pm_bytes symbol, struct pm_text *ret)
{
	char text[SYM_MANGLED_MAX + 1];
	pm_text_clear(ret);
	if (symbol.len > 2 && symbol.len <= SYM_MANGLED_MAX && symbol.p[0] == '_' &&
		(symbol.p[1] == 'Z' || symbol.p[1] == 'R')) {
		/* Now, so that running out of memory does not leave a library's frames. */
		if (!pm_text_reserve(ret, SYM_DEMANGLED_MAX))
			return;
		memcpy(text, symbol.p, symbol.len);
		text[symbol.len] = '\0';
		if (demangle(text, ret) && ret->len)
			return;
		pm_text_clear(ret);
	}
	pm_text_bytes(ret, symbol);
}
