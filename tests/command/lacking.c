/*
 * Runs a program as on a kernel that lacks Landlock, seccomp filters, or both:
 *
 *     lacking [landlock] [seccomp] -- PROGRAM ARGUMENT…
 *
 * The calls that would set them up fail.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <seccomp.h>

enum { LANDLOCK_CREATE_RULESET = 444 }; /* on every machine; libseccomp before 2.5.2 lacks it */

static int take_away(scmp_filter_ctx filter, const char *layer)
{
	const uint32_t missing = SCMP_ACT_ERRNO(ENOSYS), invalid = SCMP_ACT_ERRNO(EINVAL);
	if (strcmp(layer, "landlock") == 0)
		return seccomp_rule_add(filter, missing, LANDLOCK_CREATE_RULESET, 0);
	if (strcmp(layer, "seccomp") != 0)
		return -EINVAL;
	int r = seccomp_rule_add(filter, missing, SCMP_SYS(seccomp), 0);
	return r < 0 ? r
		     : seccomp_rule_add(filter, invalid, SCMP_SYS(prctl), 1,
			       SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
}

int main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int i = 1, r = filter ? 0 : -ENOMEM;
	for (; r == 0 && i < argc && strcmp(argv[i], "--") != 0; i++)
		r = take_away(filter, argv[i]);
	if (r == 0 && i + 1 >= argc)
		r = -EINVAL;
	/* Where that is possible a set-user-id program stays one. */
	if (r == 0 && geteuid() == 0)
		r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	if (r == 0)
		r = seccomp_load(filter);
	if (r == 0) {
		execv(argv[i + 1], argv + i + 1);
		r = -errno;
	}
	fprintf(stderr, "lacking: %s\n", strerror(-r));
	return 126;
}
