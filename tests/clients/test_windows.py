#!/usr/bin/env python3
"""DuckDB cuts the rows of all trace.csv at the edges of windows, and finds the sums of the windows, to the nanosecond.

Windows side by side add up to the one that joins them; a thread's window is its part of the run's. Percentiles of calls
are those of quantile_disc.
"""
import json

from clients import Source, driver, expect, node_module, run

node_module("@duckdb/node-api")


def query(sql):
    return json.loads(driver("duckdb.mjs", sql))[0]


def edges(run_ns):
    """Windows of all kinds: the whole run, its halves, a nanosecond, and some in between."""
    some = [(0, run_ns), (0, run_ns // 2), (run_ns // 2, run_ns), (run_ns // 3, run_ns // 3 + 1),
            (run_ns // 7, run_ns // 7 * 3), (run_ns - 1, run_ns)]
    return [(start, end) for start, end in some if start < end]


class Windows:
    def __init__(self, source):
        self.source = source
        self.run_ns = json.loads(run(source.profmount, "--cat", source.source, "info.json"))["duration_ns"]
        self.threads = [row["path"] for row in source.rows("threads.csv") if row["samples"]]
        with open(source.path(self.threads[0] + "/trace.csv"), encoding="utf-8") as file:
            self.calls = "self_ns" in file.readline()

    def name(self, start, end):
        """The canonical name: that of the directory which the link leads to."""
        said = run(self.source.profmount, "--cat", self.source.source, f"windows/{start}ns-{end}ns", status=None)
        return said if "/" not in said and said.endswith("s") else f"{start}ns-{end}ns"

    def cut(self, start, end, traces):
        """SQL: what of the rows lies inside, by context; those without one, or in which nothing ran, cost nothing."""
        last = end == self.run_ns
        begins = f"time_ns >= {start} and (time_ns < {end} or {last} and time_ns = {end})"
        table = f"read_csv({traces}, union_by_name = true, types = {{'time_ns': 'BIGINT', 'duration_ns': 'BIGINT', 'context_id': 'BIGINT'}})"
        return f"""select context_id, sum(greatest(0, least(time_ns + coalesce(duration_ns, 0), {end}) -
            greatest(time_ns, {start}))) as ns, sum(({begins})::int) as calls from {table}
            where context_id > 0 and coalesce(name, '') <> '<no activity>' and (({begins}) or (time_ns < {end} and time_ns + coalesce(duration_ns, 0) > {start}))
            group by context_id"""

    def check(self, start, end):
        name = self.name(start, end)
        self.source.need(f"windows/{name}/contexts.csv", f"windows/{name}/threads.csv")
        traces = [self.source.path(path + "/trace.csv") for path in self.threads]
        column, calls = ("time_ns_incl", "calls") if self.calls else ("time_ns_excl", "0")
        contexts = f"""select context_id::bigint as context_id, {column}::bigint as ns, {calls}::bigint as calls from
            read_csv('{self.source.path(f"windows/{name}/contexts.csv")}', all_varchar = true)"""
        wrong = query(f"""select * from ({self.cut(start, end, traces)}) a full join ({contexts}) b using (context_id)
            where coalesce(a.ns, 0) <> coalesce(b.ns, 0) or {self.calls} and coalesce(a.calls, 0) <> coalesce(b.calls, 0)""")
        expect(not wrong, f"windows/{name}: {wrong[:3]}")
        return name

    def percentiles(self):
        """functions.csv of calls, against quantile_disc of the durations in trace.csv."""
        self.source.need("functions.csv")
        shares = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "max_ns": 1.0}
        traces = [self.source.path(path + "/trace.csv") for path in self.threads]
        wanted = ", ".join(f"quantile_disc(duration_ns, {share}) as want_{column}" for column, share in shares.items())
        differs = " or ".join(f"want_{column}::varchar is distinct from {column}" for column in shares)
        wrong = query(f"""select * from (select function as name, {wanted} from read_csv({traces}, union_by_name = true,
            types = {{'duration_ns': 'BIGINT', 'function': 'VARCHAR'}}) where duration_ns is not null group by function) a
            full join (select * from read_csv('{self.source.path("functions.csv")}', all_varchar = true) where max_ns is not null) b
            using (name) where {differs}""")
        expect(not wrong, f"functions.csv: {wrong[:3]}")

    def total(self, name, column):
        return int(query(f"""select coalesce(sum({column}::bigint), 0) from
            read_csv('{self.source.path(f"windows/{name}/contexts.csv")}', all_varchar = true)""")[0][0])


with Source("threads") as source:
    windows = Windows(source)
    names = {edge: windows.check(*edge) for edge in edges(windows.run_ns)}
    if windows.calls:
        windows.percentiles()
    half = windows.run_ns // 2
    both = [windows.total(names[edge], "time_ns_excl") for edge in ((0, half), (half, windows.run_ns), (0, windows.run_ns))]
    expect(both[0] + both[1] == both[2], f"halves do not add up: {both}")
    path = windows.threads[0]
    one = f"{path}/windows/{names[(0, half)]}/{path}/trace.csv"
    of_run = f"windows/{names[(0, half)]}/{path}/trace.csv"
    source.need(one, of_run)
    with open(source.path(one), "rb") as a, open(source.path(of_run), "rb") as b:
        expect(a.read() == b.read(), f"{one} is not {of_run}")
    print(f"DuckDB: {len(names)} windows of {len(windows.threads)} traces of {'calls' if windows.calls else 'samples'}")
