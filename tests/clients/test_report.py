#!/usr/bin/env python3
"""report.html in Chromium and Firefox, opened from a file: every view draws, the numbers on screen are those of the CSV
files, and no name of a profile becomes part of the page. In Chromium, axe-core checks accessibility.

    test_report.py PROFMOUNT SOURCE OTHER…
    test_report.py PROFMOUNT --law SOURCE…

SOURCE is a database with threads and a trace; each OTHER is of another format. With --law, only the numbers on screen are
compared, of each SOURCE.
"""
import csv
import functools
import http.server
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

import clients

sys.path.append(os.path.dirname(clients.HERE))
import can_mount  # noqa: E402
import screenlaw  # noqa: E402

LAW_ONLY = "--law" in sys.argv
PROFMOUNT, SOURCE, *OTHERS = (os.path.abspath(a) for a in sys.argv[1:] if a != "--law")
BROWSERS = {"chrome": ("chromium", "/usr/bin/chromium"), "firefox": ("firefox-esr", "/usr/bin/firefox-esr")}
UNITS = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}

# Of the quantities of SOURCE: one that does not add up, and one that is below 0.
DERIVED = ["-o", "derive=ipc=papi_tot_ins/papi_tot_cyc", "-o", "derive=less=ipc*papi_tot_cyc - 2*papi_tot_ins"]

HOSTILE = ["</script><script>document.title='x'</script>", "<!--<script>", "<img src=x onerror=alert(1)>", "'\"`${alert(1)}",
           "javascript:alert(1)", "\u202egnp.exe", "x" * 65536, "&lt;b&gt;\u2028\u2029", "__proto__", "constructor"]


def hostile_stream():
    """A HawkTracer stream whose labels are HOSTILE: docs/formats/htdump.md."""
    n = iter(range(1, 1 << 20))

    def event(class_id, fields):
        return struct.pack("<IQQ", class_id, 1000 * next(n), next(n)) + fields

    def klass(number, name, fields):
        out = event(2, struct.pack("<I", number) + name + b"\0" + bytes([len(fields)]))
        for kind, field, size, data_type in fields:
            out += event(3, struct.pack("<I", number) + kind + b"\0" + field + b"\0" + struct.pack("<QB", size, data_type))
        return out

    data = struct.pack("<IQQ", 0, 0, 0) + b"\0"
    data += klass(9, b"Call", [(b"uint64_t", b"duration", 8, 99), (b"uint32_t", b"thread_id", 4, 99), (b"char*", b"label", 8, 2)])
    for i, label in enumerate(HOSTILE):
        data += struct.pack("<IQQ", 9, 10 ** 6 * (i + 1), 100 + i) + struct.pack("<QI", 1000 * (i + 1), 7) + label.encode() + b"\0"
    return data


def hostile_events():
    """Trace events whose calls, categories, threads and arguments are HOSTILE."""
    events = [{"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": HOSTILE[0]}}]
    events += [{"ph": "X", "pid": 1, "tid": 1, "ts": 1000 * i, "dur": 100 + i, "name": name, "cat": name, "args": {name: name}}
               for i, name in enumerate(HOSTILE)]
    return json.dumps({"traceEvents": events}).encode()


def hostile_profile():
    """A NYTProf profile whose program, files, subs and source lines are HOSTILE: docs/formats/nytprof.md."""
    def number(n):
        return bytes([n]) if n < 0x80 else bytes([0x80 | n >> 8, n & 255]) if n < 0x4000 else \
            bytes([0xc0 | n >> 16, n >> 8 & 255, n & 255]) if n < 0x200000 else b"\xff" + struct.pack(">I", n)

    def record(tag, *fields):
        return tag + b"".join(struct.pack("<d", f) if isinstance(f, float) else number(f) if isinstance(f, int) else
                              b'"' + number(len(f.encode())) + f.encode() for f in fields)

    data = b"NYTProf 5 0\n:basetime=1700000000\n:ticks_per_sec=10000000\n:application=%s\n" % HOSTILE[0].encode()
    data += record(b"P", 7, 1, 1.7e9)
    for i, name in enumerate(HOSTILE, 1):
        data += record(b"@", i, 0, 0, 0, 0, 0, name) + record(b"+", 1000 * i, i, 1)
        data += record(b"<", 1, 2000.0 * i, 1000.0 * i, name) + record(b"s", i, name, 1, 2)
        data += record(b"S", i, 1, name + "\n") + record(b"c", i, 1, name, 1, 1e-3, 1e-3, 0.0, 0, name)
    return data + record(b"p", 7, 1.7e9 + 1)


class Mounted:
    """A mount of sources, with options before them, as a context manager: its folder."""

    def __init__(self, *sources):
        self.sources = sources

    def __enter__(self):
        self.point = tempfile.mkdtemp(prefix="profmount-report-")
        subprocess.run([PROFMOUNT, *self.sources, self.point], check=True)
        return self.point

    def __exit__(self, *_):
        subprocess.run(["fusermount3", "-u", self.point], check=True)
        os.rmdir(self.point)


def rows(folder, name):
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def seconds(text):
    """`6.448 s 46.8%` → 6.448"""
    match = re.match(r"([\d,.]+) (s|ms|µs|ns)\b", text)
    return float(match.group(1).replace(",", "")) * UNITS[match.group(2)] if match else 0.0


class Report(unittest.TestCase):
    def drive(self, browser, script, *arguments):
        """The output of a script that gets the browser's program before the last of its arguments."""
        command, path = BROWSERS[browser]
        program = shutil.which(command) or (path if os.path.exists(path) else None)
        if not program:
            self.skipTest(f"{command} is not installed (Debian: apt-get install {command})")
        with tempfile.TemporaryDirectory() as home:
            said = clients.run("node", os.path.join(clients.HERE, script), *arguments[:-1], program, arguments[-1],
                               env={**os.environ, "HOME": home})
        return json.loads(said.strip().split("\n")[-1])

    def walk(self, browser, folder, url=None):
        return self.drive(browser, "report.mjs", browser, url or f"file://{folder}/report.html")

    def check_functions(self, shown, folder):
        """All rows that were loaded equal functions.csv exactly; those on screen do as far as they are rounded."""
        wanted = rows(folder, "functions.csv")
        columns = shown["kept"]["columns"]
        self.assertEqual(len(shown["kept"]["functions"]), len(wanted))
        for have, want in zip(shown["kept"]["functions"], wanted):
            self.assertEqual(have[0].encode("utf-8", "replace"), want["name"].encode("utf-8", "replace"))
            self.assertEqual(have[1:], [float(want[c]) if want[c] else None for c in columns])
        self.assertGreater(len(shown["views"]["functions"]["rows"]), 0)

    def check_law(self, folder, browser="chrome"):
        """Each number on screen is the cell of a table that it says it is."""
        shown = self.drive(browser, "law.mjs", browser, f"file://{folder}/report.html")
        self.assertEqual(shown["errors"], [])
        self.assertEqual(shown["strays"], [])
        self.assertGreater(len(shown["cells"]), 5)
        wrong = screenlaw.violations(shown, folder)
        self.assertEqual(wrong[:10], [], f"{len(wrong)} of {len(shown['cells'])} numbers")
        return shown

    def check_views(self, shown):
        self.assertEqual(shown["errors"], [])
        for name, view in shown["views"].items():
            with self.subTest(view=name):
                self.assertEqual(view["alerts"], [])
                self.assertEqual(view["barriers"], [])
                self.assertEqual(view["elements"], 0)
                self.assertTrue(view["text"].strip() or view["drawn"])
                if name in ("flame", "timeline", "kinds"):
                    self.assertGreater(max(view["drawn"]), 3)
                if name == "timeline":  # counters are below the threads
                    self.assertEqual(len(view["drawn"]), 2 if "counters" in shown["views"] else 1)

    def check_source(self, browser):
        with Mounted(SOURCE) as folder:
            shown = self.walk(browser, folder)
            self.assertEqual(shown["twice"], {"drawn": 1, "pages": 1, "repeated": 0})
            self.check_views(shown)
            self.check_functions(shown, folder)
            self.assertEqual(shown["ids"], ["overview", "flame", "tree", "functions", "source", "timeline", "threads", "tables"])
            for have, want in zip(shown["views"]["functions"]["rows"], rows(folder, "functions.csv")):
                self.assertAlmostEqual(seconds(have[1]), float(want["cputime_sec_excl"]), delta=6e-4 * float(want["cputime_sec_excl"]))
                self.assertAlmostEqual(seconds(have[2]), float(want["cputime_sec_incl"]), delta=6e-4 * float(want["cputime_sec_incl"]))
                self.assertEqual(have[0], want["name"])
            threads = {row["path"].split("/", 1)[1]: float(row["cputime_sec_incl"]) for row in rows(folder, "threads.csv")}
            for have in shown["views"]["threads"]["rows"]:
                self.assertAlmostEqual(seconds(have[1]), threads[have[0]], delta=6e-4)
            flat = {row["name"]: float(row["cputime_sec_excl"]) for row in rows(folder, "functions.csv")}
            for have in shown["views"]["bottomup"]["rows"]:
                name = have[0]
                self.assertAlmostEqual(seconds(have[1]), flat[name], delta=6e-4 * flat[name])
            tops = [row for row in rows(folder, "contexts.csv") if row["depth"] == "0"]
            self.assertRegex(shown["views"]["kinds"]["text"], r"(?m)^program$")
            self.assertEqual(shown["views"]["tree"]["rows"][0][0], tops[0]["name"])

    def check_hostile(self, browser):
        sources = [("hostile.htdump", hostile_stream()), ("nytprof.out", hostile_profile())]
        if browser == "chrome":  # of the formats over the builder, one
            sources.append(("hostile.json", hostile_events()))
        for name, data in sources:
            with self.subTest(name), tempfile.TemporaryDirectory() as place:
                source = os.path.join(place, name)
                with open(source, "wb") as f:
                    f.write(data)
                with Mounted(source) as folder:
                    shown = self.walk(browser, folder)
                    self.check_views(shown)
                    self.check_functions(shown, folder)
                    self.assertRegex(shown["title"], r"^(hostile|</script>)")
                    names = {row[0] for row in shown["kept"]["functions"]}
                    self.assertEqual(names & set(HOSTILE), set(HOSTILE))

    def check_trace(self, shown, folder):
        """The waterfall of the first trace has its calls."""
        path = rows(folder, "traces.csv")[0]["path"]
        calls = rows(os.path.join(folder, path), "calls.csv")
        shown = [row for row in shown["views"]["trace"]["rows"] if len(row) == 5]
        self.assertEqual([row[0] for row in shown], [call["method"] for call in calls])
        for have, call in zip(shown, calls):
            self.assertAlmostEqual(seconds(have[2]), int(call["duration_ns"]) * 1e-9, delta=6e-4 * int(call["duration_ns"]) * 1e-9)

    def check_times(self, shown, folder):
        """Of the first function, as far as numbers on screen are rounded."""
        first = rows(folder, "functions.csv")[0]
        found = re.search(r"time of a call\s+50% at most (.*), 90% at most (.*), 99% at most (.*), longest (.*)", shown["views"]["function"]["text"])
        self.assertEqual(bool(found), bool(first.get("p50_ns")))
        for have, column in zip(found.groups() if found else (), ("p50_ns", "p90_ns", "p99_ns", "max_ns")):
            want = int(first[column]) * 1e-9
            self.assertAlmostEqual(seconds(have), want, delta=6e-4 * want)

    def check_every_format(self, browser):
        for source in OTHERS:
            with self.subTest(source=source), Mounted(source) as folder:
                shown = self.walk(browser, folder)
                self.check_views(shown)
                self.check_functions(shown, folder)
                self.check_times(shown, folder)
                if "trace" in shown["views"]:
                    self.check_trace(shown, folder)

    def test_numbers_on_screen_are_those_of_the_tables(self):
        for source in (SOURCE, *OTHERS):
            derived = DERIVED if source == SOURCE and not LAW_ONLY else []
            with self.subTest(source=source), Mounted(*derived, source) as folder:
                shown = self.check_law(folder)
                if derived:
                    told = {(cell.split("|")[0], cell.split("|")[-1]) for _, cell in shown["cells"]}
                    self.assertLessEqual({("lines.csv", "ipc_excl"), ("functions.csv", "ipc_excl"), ("functions.csv", "less_excl"), ("contexts.csv", "ipc_incl"), ("contexts.csv", "ipc_excl")}, told)
                    self.assertTrue(any("|up=" in cell and cell.endswith("|ipc_excl") for _, cell in shown["cells"]))
                if "kineto" in source:  # calls with arguments, which a click in the timeline shows
                    self.assertGreater(min(len(shown["args"]), shown["inWindow"], shown["own"]), 0)

    def test_numbers_of_several_runs_are_those_of_the_tables(self):
        with Mounted(f"a={SOURCE}", f"b={OTHERS[0]}", f"c={SOURCE}") as folder:
            self.check_law(folder)
            shown = self.check_law(os.path.join(folder, "compare", "c"))
            self.assertTrue(any("_diff" in cell for _, cell in shown["cells"]))

    def test_chromium_shows_every_format(self):
        self.check_every_format("chrome")

    def test_firefox_shows_every_format(self):
        self.check_every_format("firefox")

    def test_chromium_shows_runs_and_what_compares_them(self):
        with Mounted(f"a={SOURCE}", f"b={OTHERS[0]}") as folder:
            run = os.path.join(folder, "runs", "run=b")
            shown = self.walk("chrome", run)
            self.check_views(shown)
            self.check_functions(shown, run)
            shown = self.walk("chrome", os.path.join(folder, "compare", "b"))
            self.check_views(shown)
            self.assertEqual(shown["ids"], ["overview", "tables"])

    def test_chromium_shows_a_window(self):
        with Mounted(SOURCE) as folder:
            window = os.path.join(folder, "windows", os.readlink(os.path.join(folder, "windows", "1ns-")))
            shown = self.walk("chrome", window)
            self.check_views(shown)
            self.check_functions(shown, window)

    def test_a_page_that_is_sent_needs_no_mount(self):
        for source in (SOURCE, *OTHERS):
            with self.subTest(source=source), tempfile.TemporaryDirectory() as place:
                subprocess.run([PROFMOUNT, "--extract", source, place, "export/report.html", "functions.csv"], check=True)
                path = os.path.join(place, "report.html")
                os.rename(os.path.join(place, "export", "report.html"), path)
                self.assertLess(os.path.getsize(path), 20 << 20)
                shown = self.drive("chrome", "sent.mjs", f"file://{path}")
                self.assertEqual(shown["errors"], [])
                self.assertEqual(shown["asked"], 0)
                wanted = [row["name"] for row in rows(place, "functions.csv")]
                self.assertEqual(shown["functions"], [name.strip() for name in wanted[:len(shown["functions"])]])
                self.assertGreater(len(shown["functions"]), 0)
                self.assertTrue(all(drawn for drawn in shown["drawn"].values()), shown["drawn"])

    def test_a_reader_with_keys_and_mouse_in_chromium(self):
        """Search is literal; keys work after clicks; Esc and Back undo; names are copied whole."""
        with Mounted(*DERIVED, SOURCE) as folder:
            shown = self.drive("chrome", "steps.mjs", f"file://{folder}/report.html")
            functions = rows(folder, "functions.csv")
            columns = [c for c in rows(folder, "functions.csv")[0] if re.search("_(excl|incl)$", c)]
            lines = rows(folder, "lines.csv")
        self.assertEqual(shown["errors"], [])
        found = shown["search"]
        self.assertEqual(found["literally"], [found["longest"]])
        self.assertEqual(found["pattern"], [name for name in found["names"] if name.startswith(found["names"][0][:2])])
        self.assertEqual(found["none"], [])
        for i, order in enumerate(shown["sorted"]):
            told = [cell.split("|")[1:] for cell in order if cell]
            self.assertEqual({column for _, column in told}, {"less_excl"})
            values = [float(functions[int(row)]["less_excl"]) for row, _ in told]
            self.assertEqual(values, sorted(values, reverse=i == 0))
            self.assertEqual([bool(cell) for cell in order], sorted(map(bool, order), reverse=True))  # empty cells are the last
        self.assertEqual(shown["byName"], [sorted(f["name"] for f in functions)[:len(shown["byName"][0])],
                                           sorted((f["name"] for f in functions), reverse=True)[:len(shown["byName"][1])]])
        self.assertIn("ipc = papi_tot_ins/papi_tot_cyc", shown["hints"]["ipc"])
        self.assertEqual(shown["copied"], found["longest"])
        outside, inside, again = shown["flame"]
        self.assertIn("node", inside)
        self.assertEqual(outside, again)
        self.assertGreater(shown["path"], 0)
        near, right = ({k: int(step[k]) for k in ("from", "to")} for step in shown["moved"])
        self.assertLess(near["from"], right["from"])
        self.assertEqual(near["to"] - near["from"], right["to"] - right["from"])
        self.assertIn("t", shown["clicked"])
        self.assertNotIn("t", shown["closed"])
        begin, end = shown["marked"]["marks"].split("-")
        self.assertEqual(shown["window"]["win"], f"{begin}ns-{end}ns")
        self.assertEqual(shown["back"], shown["marked"])
        self.assertEqual(shown["third"], "tree")
        in_sight = {int(cell.split("|")[1]) for cell in shown["source"]["lines"]}
        file = lines[min(in_sight)]["file"]
        excl = next(c for c in columns if c.endswith("_excl"))
        hottest = max((i for i, line in enumerate(lines) if line["file"] == file), key=lambda i: float(lines[i][excl] or 0))
        self.assertIn(hottest, in_sight)
        self.assertGreater(shown["source"]["hot"], 0)
        self.assertEqual(shown["units"], ["2 GiB", "2 GiB/s", "2 GiB/s", "2.147 s", "2147483648"])

    def test_pages_without_scripts_lead_to_the_files(self):
        with Mounted(f"a={SOURCE}", f"b={OTHERS[0]}") as folder:
            for place in ("runs/run=a", "compare/b"):
                with self.subTest(place):
                    place = os.path.join(folder, place)
                    shown = self.drive("chrome", "noscript.mjs", f"file://{place}/report.html")
                    self.assertIn("This page needs scripts", shown["text"])
                    self.assertEqual(shown["controls"], 0)
                    for link in shown["links"]:
                        self.assertTrue(os.path.isfile(os.path.join(place, link)), link)
                    with open(os.path.join(place, "summary.txt"), encoding="utf-8") as f:
                        self.assertEqual([text.split() for text in shown["frames"]], [f.read().split()])

    def test_chromium_shows_a_mount_over_http(self):
        with Mounted(SOURCE) as folder:
            handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
            handler.func.log_message = lambda *_: None
            with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
                thread = threading.Thread(target=server.serve_forever)
                thread.start()
                try:
                    shown = self.walk("chrome", folder, f"http://127.0.0.1:{server.server_port}/report.html")
                finally:
                    server.shutdown()
                    thread.join()
            self.check_views(shown)
            self.check_functions(shown, folder)

    def test_chromium_shows_the_tables(self):
        self.check_source("chrome")

    def test_firefox_shows_the_tables(self):
        self.check_source("firefox")

    def test_chromium_takes_names_for_text(self):
        self.check_hostile("chrome")

    def test_firefox_takes_names_for_text(self):
        self.check_hostile("firefox")


if __name__ == "__main__":
    clients.node_module("puppeteer-core")
    clients.node_module("axe-core")
    why = can_mount.why_not()
    if why:
        clients.skip(why)
    unittest.main(argv=sys.argv[:1], verbosity=2,
                  defaultTest="Report.test_numbers_on_screen_are_those_of_the_tables" if LAW_ONLY else None)
