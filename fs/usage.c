/*
 * What -h and -V print. profmount(1), the completions and this name the same options
 * (test_install.py).
 */
#include <stdio.h>

#include "fs/confine.h"
#include "fs/options.h"

const char pmfs_usage[] =
	"usage: profmount [options] SOURCE MOUNTPOINT\n"
	"       profmount [options] [NAME=]SOURCE [NAME=]SOURCE... MOUNTPOINT\n"
	"       profmount --ls SOURCE [PATH]\n"
	"       profmount --cat SOURCE PATH...\n"
	"       profmount --extract SOURCE DIR [PATH...]\n"
	"       profmount --check SOURCE\n"
	"       profmount --formats\n"
	"       profmount -u MOUNTPOINT\n"
	"\n"
	"Mounts the performance profile or trace store SOURCE as read-only files. Unmount with\n"
	"`profmount -u MOUNTPOINT`. README.txt in the mount describes its contents.\n"
	"\n"
	"Several SOURCEs, or a folder that holds some, are runs, which are compared with the first\n"
	"one; runs of one NAME are repetitions. The commands take several as `[NAME=]SOURCE... --`.\n"
	"\n"
	"    -f                  stay in the foreground\n"
	"    -d                  the same, and print each FUSE request\n"
	"    -s                  single-threaded: build one document at a time\n"
	"    -o format=NAME      treat SOURCE as this format (see --formats)\n"
	"    -o metric=NAME      primary quantity (a column of metrics.csv or its stem): comes first\n"
	"                        in tables, and sorts them; used by pictures and summary.txt\n"
	"    -o cache=SIZE       cache at most SIZE bytes of rendered files (k, M, G; 256M)\n"
	"    -o memory=SIZE      keep at most SIZE bytes in memory (default: a quarter of the machine's)\n"
	"    -o lean             no directory for each context, function and iteration\n"
	"    -o idle=TIME        unmount after that time without a request (s, m, h, d)\n"
	"    -o evals            NYTProf: keep evals of the same line and text separate\n"
	"    -o max=SIZE         limit --extract to SIZE bytes (default: the larger of 1G and 64 times\n"
	"                        the size of SOURCE)\n"
	"    -o iterations=NAME  a function, label or method whose calls are iterations: each is a\n"
	"                        row of iterations.csv and a window\n"
	"    -o values=FIELD     trace events: a number of `args` (several: FIELD\\,FIELD) is a quantity\n"
	"    -o focus=PATTERN    call paths on which a function matches (also ignore=, hide=, from=;\n"
	"                        several, in their order; a comma in PATTERN is \\,)\n"
	"    -o derive=NAME=FORMULA  a metric computed in each row, like ipc=papi_tot_ins/papi_tot_cyc\n"
	"                        (several; a comma in FORMULA is \\,)\n"
	"    -o tsv              list tables as TSV, too: X.tsv beside X.csv, otherwise found by name\n"
	"    -o parquet          --extract writes each X.csv as X.parquet, too\n"
	"    -o symbols=no       hpcrun: show addresses only, without functions and lines\n"
	"    -o sysroot=DIR      hpcrun: look for the measured programs and libraries below DIR\n"
	"    -o xattr            provide extended attributes user.profmount.*\n"
	"    -o allow_other      allow access by other users (-o allow_root: by root)\n"
	"    -o uid=N,gid=N      owner of all files (default: the mounting user)\n"
	"    -o auto_unmount     unmount when the process dies\n"
	"    -o follow           follow SOURCE while it is being written\n"
	"    -o run=[NAME=]SOURCE  one more SOURCE, for fstab\n"
	"    -o base=NAME        compare with the runs of that name\n"
	"    -o repetitions=yes  runs whose names differ only in a last number, counted from 0 or 1,\n"
	"                        are repetitions\n"
	"    -o exact            compare names as they are, without what builds add to them\n"
	"    -o normalize        compare shares of the whole, for runs of unequal length\n"
	"    -o scaling=strong|weak  how work grows with threads in scaling.csv (strong: not at all)\n"
	"    -u, --unmount       unmount MOUNTPOINT\n"
	"    -h, --help          print this\n"
	"    -V, --version       print the version, the libraries, and how reading is confined here\n"
	"\n"
	"Without a mount, the same files:\n"
	"    --ls                list a directory\n"
	"    --cat               write files to standard output\n"
	"    --extract           write everything, or the PATHs, to DIR; unreadable files are reported\n"
	"                        on standard error and skipped (exit 1)\n"
	"    --check             read all of SOURCE and report damage: exit 0 sound, 1 damaged,\n"
	"                        2 unusable\n"
	"    --formats           list the formats\n";

void pmfs_print_version(void)
{
	struct pmfs_confinement confinement;
	pmfs_confinement(&confinement);
	printf("profmount " PMFS_VERSION "\n"
	       "built with: " PMFS_WITH "\n"
	       "built without: " PMFS_WITHOUT "\n"
	       "reading is confined by: %s\n",
		confinement.layers[0] ? confinement.layers : "nothing");
	if (confinement.missing[0])
		printf("and not by: %s\n", confinement.missing);
}
