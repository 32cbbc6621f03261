/* Takes apart the names that hpcrun gave to files, and makes readable names. Reads no files. */
#include "formats/hpcrun/hpcrun.h"

/* ---- files ---- */

bool hpcrun_number_parse(struct pm_bytes text, uint64_t *ret)
{
	uint64_t u = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || __builtin_mul_overflow(u, 10, &u) ||
			__builtin_add_overflow(u, text.p[i] - (unsigned)'0', &u))
			return false;
	}
	*ret = u;
	return text.len > 0;
}

/* Removes `-PART` from the end of `stem`. */
static bool take_part(struct pm_bytes *stem, struct pm_bytes *ret)
{
	for (size_t i = stem->len; i-- > 0;)
		if (stem->p[i] == '-') {
			*ret = (struct pm_bytes){stem->p + i + 1, stem->len - i - 1};
			stem->len = i;
			return true;
		}
	return false;
}

/* From the right, because program names contain dashes and dots, too. */
struct hpcrun_file_name hpcrun_file_name_parse(struct pm_bytes stem)
{
	struct hpcrun_file_name name = {.program = stem},
				parts = {.program = stem, .has_parts = true};
	struct pm_bytes part;
	uint64_t generation;
	bool ok = take_part(&parts.program, &part) && hpcrun_number_parse(part, &generation) &&
		take_part(&parts.program, &part) && hpcrun_number_parse(part, &parts.pid) &&
		take_part(&parts.program, &parts.host) && parts.host.len > 0 &&
		take_part(&parts.program, &part) && hpcrun_number_parse(part, &parts.thread) &&
		take_part(&parts.program, &part) && hpcrun_number_parse(part, &parts.rank) &&
		parts.program.len > 0;
	return ok ? parts : name;
}

/* ---- special nodes ---- */

struct placeholder {
	char code[9]; /* the 8 bytes of the ip */
	const char *name;
};

static const struct placeholder placeholders[] = {
	{"^Primary", "<primary root>"},
	{"^Partial", "<partial root>"},
	{"| Main  ", "<program root>"},
	{"| Thread", "<thread root>"},
	{"NoActvty", "<no activity>"},
	{"*Unnorm ", "<unnormalized ip>"},
	{"GPUCpH2D", "<gpu copyin>"},
	{"GPUCpD2H", "<gpu copyout>"},
	{"GPUCp?2?", "<gpu copy>"},
	{"GPUAlloc", "<gpu alloc>"},
	{"GPUDelte", "<gpu delete>"},
	{"GPUKernl", "<gpu kernel>"},
	{"GPUMemst", "<gpu memset>"},
	{"GPU Sync", "<gpu sync>"},
	{"GPUTrace", "<gpu trace>"},
	{"OMP Idle", "<omp idle>"},
	{"OMPOvrHd", "<omp overhead>"},
	{"OMPBarrW", "<omp barrier wait>"},
	{"OMPTaskW", "<omp task wait>"},
	{"OMPMtexW", "<omp mutex wait>"},
	{"OMP Work", "<omp work>"},
	{"OMPETask", "<omp explicit task>"},
	{"OMPITask", "<omp implicit task>"},
	{"OMPUresv", "<omp region unresolved>"},
	{"OMTAlloc", "<omp target alloc>"},
	{"OMTDelte", "<omp target delete>"},
	{"OMTCpIn ", "<omp target copyin>"},
	{"OMTCpOut", "<omp target copyout>"},
	{"OMTKernl", "<omp target kernel>"},
	{"OMT None", "<omp target none>"},
};

static uint64_t code_of(const char *code)
{
	uint64_t ip = 0;
	for (size_t i = 0; i < 8; i++)
		ip = ip << 8 | (uint8_t)code[i];
	return ip;
}

/* Before 04.00, two small numbers stood for the roots. */
static const char *known_name(uint64_t ip)
{
	if (ip <= 1)
		return ip == 0 ? "<primary root>" : "<partial root>";
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++)
		if (code_of(placeholders[i].code) == ip)
			return placeholders[i].name;
	return NULL;
}

bool hpcrun_is_special_module(uint32_t id)
{
	return id == HPCRUN_MODULE_NONE ||
		(id >= HPCRUN_MODULE_GPU_CONTEXT && id <= HPCRUN_MODULE_DUMMY);
}

bool hpcrun_is_root(uint32_t module, uint64_t ip)
{
	return module == HPCRUN_MODULE_GPU_ROOT ||
		(module == HPCRUN_MODULE_NONE && (ip == 0 || ip == code_of("^Primary")));
}

bool hpcrun_is_nothing(uint32_t module, uint64_t ip)
{
	return module == HPCRUN_MODULE_NONE && ip == code_of("NoActvty");
}

bool hpcrun_is_idle(uint32_t module, uint64_t ip)
{
	return hpcrun_is_nothing(module, ip) ||
		(module == HPCRUN_MODULE_NONE && ip == code_of("OMP Idle"));
}

/* Codes of later versions are shown as their characters, other numbers as numbers. */
static void unknown_name(struct pm_text *out, uint64_t ip)
{
	char code[8];
	bool printable = true;
	for (size_t i = 0; i < 8; i++) {
		code[i] = (char)(ip >> (56 - 8 * i));
		printable &= code[i] >= ' ' && code[i] <= '~';
	}
	if (printable) {
		pm_text_char(out, '<');
		pm_text_add(out, code, sizeof(code));
		pm_text_char(out, '>');
		return;
	}
	pm_text_str(out, "<placeholder 0x");
	pm_text_hex(out, ip, 1);
	pm_text_char(out, '>');
}

void hpcrun_placeholder_name(struct pm_text *out, uint32_t module, uint64_t ip)
{
	if (module == HPCRUN_MODULE_GPU_ROOT) {
		pm_text_str(out, "<gpu root>");
	} else if (module == HPCRUN_MODULE_DUMMY) {
		pm_text_str(out, "<dummy>");
	} else if (module != HPCRUN_MODULE_NONE) {
		pm_text_str(
			out, module == HPCRUN_MODULE_GPU_RANGE ? "<gpu range " : "<gpu context ");
		pm_text_u64(out, ip);
		pm_text_char(out, '>');
	} else if (known_name(ip)) {
		pm_text_str(out, known_name(ip));
	} else {
		unknown_name(out, ip);
	}
}

/* ---- metrics ---- */

struct pm_bytes hpcrun_metric_unit(struct pm_bytes name)
{
	struct pm_bytes none = {NULL, 0};
	if (name.len < 2 || name.p[name.len - 1] != ')')
		return none;
	for (size_t i = name.len - 1; i-- > 0;)
		if (name.p[i] == '(')
			return (struct pm_bytes){name.p + i + 1, name.len - i - 2};
	return none;
}
