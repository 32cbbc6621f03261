"""Questions that users of each kind of profile ask every week, on real profiles: each is answered by at most two commands, whose
output fits a screen or two, and holds the answer. Where the folder of real profiles is not beside the project, nothing is tested.

    test_questions.py PROFMOUNT CORPUS         with -v: prints each question, its commands, and how many bytes they print
"""
import os
import shlex
import subprocess
import sys
import unittest

PROFMOUNT, CORPUS = (os.path.abspath(path) for path in sys.argv[1:3])
MOST_BYTES, MOST_COMMANDS = 4096, 2

LULESH, PC = "hpctoolkit/data/viewer-issue-233", "hpctoolkit/data/r2024.01-loops-cuda-nvidiapc-t"
STORE, TORCH = "zts/data/exceptions", "traceevents/data/kineto-alexnet.json.gz"
SECOND = "windows/20190516T094640Z-20190516T094641Z"

# Question, source, commands `PATH | FILTERS`, and for each a regular expression of what it must print. A source may begin with
# options, and be several.
QUESTIONS = [
    ("What would this MPI + OpenMP run save without its barrier waiting, and who causes it?", LULESH,
     [("ignore/<omp*wait>/summary.txt | head -n 12", r"Filtered by ignore/<omp\*wait>: \d\d\.\d% of the whole"),
      ("hide/module:libc*/blame.csv | head -n 6", r"\n65356\d{6},0\.31\d+,.*omp barrier.*Release<double>")]),
    ("What would the run cost without MPI?", LULESH,
     [("ignore/category:mpi/summary.txt | head -n 20", r"Filtered by ignore/category:mpi: \d\d\.\d% of the whole")]),
    ("Who waits for whom, also in one second?", LULESH, [("windows/1s-2s/blame.csv | head -n 6", r"\n84671\d{5},0\.3\d+,.*__brk")]),
    ("Which rank waits for whom in MPI? (who hardly waits holds up the others)", LULESH,
     [("focus/category:mpi/ranks.csv | sort -t, -k4,4gr", r"(?m)^0,5,0\.218246,0\.218246$")]),
    ("What does this solver alone cost, per rank?", LULESH, [("from/*CalcQ*/ranks.csv | head -n 6", r"\n0,5,1\.529058,1\.529058\n")]),
    ("What is below this library?", LULESH, [("from/module:libopen-pal*/functions.txt | head -n 8", r"76\.8% +16\.10 s +17\.01 s +mca_btl_vader")]),
    ("How well are threads and ranks used?", LULESH, [("efficiency.csv", r"\nlulesh2\.0,81,27,8185391000,,0\.699\d+,0\.885\d+,0\.619\d+")]),
    ("Which functions are unevenly spread over threads?", LULESH, [("imbalance-functions.csv | head -n 4", r"^function_id,.*slowest_rank,name\n")]),
    ("What does each thread do, by kind of work?", LULESH, [("threads-by-category.csv | head -n 7", r"openmp,threads/node=0/rank=16/thread=4\n")]),
    ("What share do MPI, OpenMP, GPU, I/O and idle time have?", LULESH, [("summary.txt | head -n 12", r"\nkinds +program \d+\.\d%, openmp \d+\.\d%")]),
    ("Which functions cost most, for people?", LULESH, [("functions.txt | head -n 12", r"share +own +inclusive")]),
    ("What does a program need to know first?", LULESH, [("summary.json", r'^\{"profile":"viewer-issue-233"')]),
    ("When did a GPU have nothing to do, and what ran on the host then?", TORCH,
     [("gpu-gaps.csv | head -n 4", r"\n31333585000,11903747000,18,threads/process=0/thread=20,"), ("by-id/18/path.txt", r"\naten::cudnn_convolution\t\ncudaFree\t\n")]),
    ("Which kernels run in this time? Below this annotation?", TORCH,
     [("windows/30s-35s/gpu.csv | cut -c-150", r"\n16,55503000,3468937\.5,34780000,.*,copy,"), ("ignore/Mem*/gpu.csv | cut -c-150 | head -n 3", r"\n6,2621000,.*sgemm")]),
    ("Which kernels and copies changed between two runs?", "base=hpctoolkit/data/develop-loops-cuda-nvidia-t new=" + PC,
     [("compare/new/gpu.csv", r"\n29794428,21072862,-8721566,.*kernmain\(\)\n")]),
    ("What are registers, blocks and occupancy of a kernel?", PC, [("functions.csv | head -n 2", r"gker_thr_reg_excl,.*gker_blks_excl,gker_occ_thr_excl,[^\n]*\n.*,32,12\.5,")]),
    ("How many bytes does each copy move?", "-o values=bytes " + TORCH, [("functions.csv | grep -E '^function_id|Memcpy'", r"bytes_excl,bytes_incl,calls(.|\n)*,244403360,244403360,16,.*,Memcpy HtoD")]),
    ("Which SQL takes most time in all, and how long at p99?", STORE,
     [("statements.csv | head -n 3", r"\n13,8,41,1,1363214336,13041664,239403008,239403008,[^\n]*select c\.\* from")]),
    ("Which calls ran that SQL, and when?", STORE, [("spans.csv | grep -F 'insert into' | head -n 5", r"(\d+,){4}0,2,5,stores/.*attribute")]),
    ("Which URLs and methods are slow, how often do they fail?", STORE, [("requests.csv | head -n 4", r"\n20,10,337559355392,1174011904,63350767616,63350767616,")]),
    ("Which values of attributes are slow or fail?", STORE, [("attributes.csv | head -n 4", r"\n20,10,20,1,337559355392,.*,component,")]),
    ("What was thrown at that time of day, in which traces, and what was slow?", STORE,
     [(SECOND + "/exceptions.csv | head -n 6", r"\n4,122832704,514437312,.*java\.lang\.IllegalStateException"), (SECOND + "/summary.txt", r"Slowest traces")]),
    ("Which exceptions are there, and what do the slow traces not explain?", STORE, [("summary.txt", r"(?s)Slowest traces.*no call.*Exceptions")]),
    ("How many bytes were read by each label?", "-o values=bytes htdump/data/real_iocalls.htdump",
     [("functions.csv", r"calls,bytes_excl,bytes_incl,.*\n1,1,7029347,11456373,26,2076672,2076672,")]),
    ("How deep is the recursion, and what does it overlap?", "htdump/data/real_fib.htdump",
     [("functions/fib/info.txt", r"recursion_depth: 13\nrecursive_time_ns_incl: 1086646\n")]),
    ("What did string evals cost, and which line ran them?", "nytprof/data/evals-calls2-blocks.out",
     [("source/home/camel/project/scripts/evals.pl.annotated.txt | head -n 24", r" 4  sub run.*\n.*2\.300 µs in 3 evals of 3 texts\n")]),
    ("What does Perl's debugger cost, and what is left without it?", "nytprof/data/control-sigexit.out",
     [("ignore/DB::*/functions.txt | head -n 8", r"^Functions by time_ns_excl(?!(.|\n)*DB::)")]),
]


def parts(source):
    """The options and the sources of a command."""
    words = shlex.split(source)
    options = words[:2] if words[0] == "-o" else []
    sources = [name + "=" * bool(equals) + os.path.join(CORPUS, path or name) if equals else os.path.join(CORPUS, name)
               for name, equals, path in (word.partition("=") for word in words[len(options):])]
    return options, sources


class Questions(unittest.TestCase):
    def test_each(self):
        for question, source, commands in QUESTIONS:
            with self.subTest(question):
                options, sources = parts(source)
                self.assertTrue(all(os.path.exists(path.split("=")[-1]) for path in sources), sources)
                printed = 0
                for command, wanted in commands:
                    path, _, filters = command.partition(" | ")
                    words = [PROFMOUNT, *options, "--cat", *sources, *(["--"] if len(sources) > 1 else []), path]
                    done = subprocess.run([*words], capture_output=True, timeout=600, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, b""), command)
                    output = subprocess.run(["sh", "-c", filters or "cat"], input=done.stdout, capture_output=True, timeout=600, check=True).stdout
                    printed += len(output)
                    self.assertRegex(output.decode(), wanted, command)
                self.assertLessEqual(len(commands), MOST_COMMANDS)
                self.assertLessEqual(printed, MOST_BYTES)
                if "-v" in sys.argv:
                    print(f"{printed:5} {question}\n      {source}: " + "; ".join(command for command, _ in commands))


if __name__ == "__main__":
    if not os.path.isdir(CORPUS):
        print(f"SKIPPED: there is no {CORPUS}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
