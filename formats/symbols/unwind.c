/*
 * One call up in a recorded stack, by the call frame information of a file: where its caller's
 * registers are. Only files of this machine or of -o sysroot are read, with libdw.
 */
#include "formats/symbols/internal.h"

#include <errno.h>

#ifdef SYM_DWARF

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"

struct sym_unwind {
	Elf *elf;
	Dwarf_CFI *own, *debug; /* .eh_frame; .debug_frame, which is that of the DWARF */
	struct pm_map known;    /* address → index of its frame */
	Dwarf_Frame **frames;   /* owned; NULL: nothing describes the address */
	size_t n, room;
};

int sym_unwind_open(struct sym_unwind **ret, struct pm_bytes file, struct sym_dwarf *dwarf)
{
	struct sym_unwind *u = calloc(1, sizeof(*u));
	*ret = u;
	if (!u || sym_make_room(SYM_ROOM) < 0) {
		free(u);
		*ret = NULL;
		return -ENOMEM;
	}
	elf_version(EV_CURRENT);
	u->elf = file.len ? elf_memory((char *)(uintptr_t)file.p, file.len) : NULL;
	u->own = u->elf ? dwarf_getcfi_elf(u->elf) : NULL;
	u->debug = dwarf ? sym_dwarf_frames(dwarf) : NULL;
	return 0;
}

static void forget(struct sym_unwind *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->frames[i]);
	pm_map_done(&u->known);
	u->n = 0;
}

void sym_unwind_free(struct sym_unwind *u)
{
	if (!u)
		return;
	forget(u);
	free(u->frames);
	if (u->own)
		dwarf_cfi_end(u->own);
	if (u->elf)
		elf_end(u->elf);
	free(u);
}

/* What describes an address; NULL: nothing does. 0 or -ENOMEM. */
static int frame_of(struct sym_unwind *u, uint64_t address, Dwarf_Frame **ret)
{
	const uint32_t *at = pm_map_find(&u->known, address);
	bool fresh;
	*ret = at ? u->frames[*at] : NULL;
	if (at)
		return 0;
	if (u->n == SYM_FRAMES_MAX)
		forget(u);
	if (sym_make_room(SYM_ROOM) < 0 ||
		pm_list_room(&u->frames, u->n, &u->room, sizeof(*u->frames)) < 0 ||
		!pm_map_put(&u->known, address, (uint32_t)u->n, &fresh))
		return -ENOMEM;
	if ((!u->own || dwarf_cfi_addrframe(u->own, address, ret) != 0) &&
		(!u->debug || dwarf_cfi_addrframe(u->debug, address, ret) != 0))
		*ret = NULL;
	u->frames[u->n++] = *ret;
	return 0;
}

/* ---- expressions ---- */

struct machine {
	const struct sym_registers *registers;
	const struct sym_stack *memory;
	uint64_t cfa; /* the stack pointer before the call */
	uint64_t items[16];
	unsigned n;
	bool failed,
		beyond; /* it cannot be known; because it is outside of the copy of the stack */
};

static bool push(struct machine *m, uint64_t value)
{
	if (m->n == sizeof(m->items) / sizeof(m->items[0]))
		return false;
	m->items[m->n++] = value;
	return true;
}

static bool load(struct machine *m, uint64_t address, size_t size, uint64_t *ret)
{
	struct pm_bytes b;
	if (!pm_bytes_sub(m->memory->bytes, address - m->memory->start, size, &b)) {
		m->beyond = true;
		return false;
	}
	*ret = 0;
	for (size_t i = size; i-- > 0;)
		*ret = *ret << 8 | b.p[i];
	return true;
}

static bool push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	const struct sym_registers *r = m->registers;
	return number < SYM_REGISTERS && r->known >> number & 1 &&
		push(m, r->value[number] + offset);
}

/* Operations on the two topmost items. */
static bool combine(struct machine *m, uint8_t atom)
{
	if (m->n < 2)
		return false;
	uint64_t b = m->items[--m->n], *a = &m->items[m->n - 1];
	switch (atom) {
	case DW_OP_plus: *a += b; return true;
	case DW_OP_minus: *a -= b; return true;
	case DW_OP_mul: *a *= b; return true;
	case DW_OP_and: *a &= b; return true;
	case DW_OP_or: *a |= b; return true;
	case DW_OP_xor: *a ^= b; return true;
	case DW_OP_shl: *a = b < 64 ? *a << b : 0; return true;
	case DW_OP_shr: *a = b < 64 ? *a >> b : 0; return true;
	case DW_OP_eq: *a = *a == b; return true;
	case DW_OP_ne: *a = *a != b; return true;
	case DW_OP_ge: *a = (int64_t)*a >= (int64_t)b; return true;
	case DW_OP_gt: *a = (int64_t)*a > (int64_t)b; return true;
	case DW_OP_le: *a = (int64_t)*a <= (int64_t)b; return true;
	case DW_OP_lt: *a = (int64_t)*a < (int64_t)b; return true;
	default: return false;
	}
}

static bool run_one(struct machine *m, const Dwarf_Op *op)
{
	uint64_t *top = m->n ? &m->items[m->n - 1] : NULL;
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(m, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(m, op->atom - DW_OP_breg0, op->number);
	switch (op->atom) {
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts: return push(m, op->number);
	case DW_OP_bregx: return push_register(m, op->number, op->number2);
	case DW_OP_call_frame_cfa: return push(m, m->cfa);
	case DW_OP_plus_uconst: return top && (*top += op->number, true);
	case DW_OP_deref: return top && load(m, *top, 8, top);
	case DW_OP_deref_size: return top && op->number <= 8 && load(m, *top, op->number, top);
	case DW_OP_dup: return top && push(m, *top);
	case DW_OP_drop: return m->n && m->n--;
	case DW_OP_nop: return true;
	default: return combine(m, op->atom);
	}
}

/* The value that operations say, or that of the place they say. */
static bool run(struct machine *m, const Dwarf_Op *ops, size_t n, bool is_place, uint64_t *ret)
{
	bool good = true;
	m->n = 0;
	for (size_t i = 0; i < n && good; i++) {
		uint8_t atom = ops[i].atom;
		bool is_register = atom >= DW_OP_reg0 && atom <= DW_OP_reg31;
		if (is_register)
			good = push_register(m, (uint64_t)atom - DW_OP_reg0, 0);
		else if (atom == DW_OP_regx)
			good = push_register(m, ops[i].number, 0);
		else if (atom != DW_OP_stack_value)
			good = run_one(m, &ops[i]);
		is_place &= !is_register && atom != DW_OP_regx && atom != DW_OP_stack_value;
	}
	*ret = good && m->n ? m->items[m->n - 1] : 0;
	good = good && m->n && (!is_place || load(m, *ret, 8, ret));
	m->failed |= !good;
	return good;
}

/* ---- a step ---- */

/* A register of the caller; false: it has no value, or one that cannot be known. */
static bool register_before(struct machine *m, Dwarf_Frame *frame, unsigned number, uint64_t *ret)
{
	Dwarf_Op memory[3], *ops = NULL;
	size_t n = 0;
	if (dwarf_frame_register(frame, (int)number, memory, &ops, &n) != 0)
		return false;
	if (n > 0)
		return run(m, ops, n, true, ret);
	*ret = m->registers->value[number];
	return ops != memory && m->registers->known >> number & 1;
}

enum sym_step sym_unwind_step(struct sym_unwind *u, uint64_t address, const struct sym_stack *stack,
	struct sym_registers *registers)
{
	Dwarf_Frame *frame;
	struct sym_registers above = {.known = 0};
	struct machine m = {.registers = registers, .memory = stack};
	unsigned sp = stack->pointer;
	bool is_signal = false;
	Dwarf_Op *ops;
	size_t n;
	if (frame_of(u, address, &frame) < 0)
		return SYM_STEP_NO_MEMORY;
	int pc = frame ? dwarf_frame_info(frame, NULL, NULL, &is_signal) : -1;
	if (pc < 0 || (unsigned)pc >= stack->n_registers || dwarf_frame_cfa(frame, &ops, &n) != 0 ||
		!run(&m, ops, n, false, &m.cfa))
		return m.beyond ? SYM_STEP_BEYOND : SYM_STEP_UNKNOWN;
	/* Stacks grow downwards. A function that has called nothing may have put nothing there. */
	if (m.cfa < registers->value[sp] || (m.cfa == registers->value[sp] && registers->is_return))
		return SYM_STEP_UNKNOWN;
	for (unsigned i = 0; i < stack->n_registers; i++)
		if (register_before(&m, frame, i, &above.value[i]))
			above.known |= UINT64_C(1) << i;
	m.failed = m.beyond = false; /* only for its return address does it matter why */
	if (!register_before(&m, frame, (unsigned)pc, &above.pc))
		return m.beyond ? SYM_STEP_BEYOND : m.failed ? SYM_STEP_UNKNOWN : SYM_STEP_END;
	if (!(above.known >> sp & 1))
		above.value[sp] = m.cfa;
	above.known |= UINT64_C(1) << sp;
	above.is_return = !is_signal;
	*registers = above;
	return above.pc ? SYM_STEP_UP : SYM_STEP_END;
}

#else

int sym_unwind_open(struct sym_unwind **ret, struct pm_bytes file, struct sym_dwarf *dwarf)
{
	(void)file, (void)dwarf;
	*ret = NULL;
	return 0;
}

void sym_unwind_free(struct sym_unwind *u)
{
	(void)u;
}

enum sym_step sym_unwind_step(struct sym_unwind *u, uint64_t address, const struct sym_stack *stack,
	struct sym_registers *registers)
{
	(void)u, (void)address, (void)stack, (void)registers;
	return SYM_STEP_UNKNOWN;
}

#endif
