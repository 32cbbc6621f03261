#!/usr/bin/env python3
"""DuckDB finds percentiles of methods, and the sums of windows, in calls.csv of all traces of a store.

    test_stores.py PROFMOUNT SOURCE

None of the traces stands in another one: a call is in one calls.csv alone.
"""
import json
import os
import shutil
import sys
import tempfile

from clients import driver, expect, node_module, run

node_module("@duckdb/node-api")
PROFMOUNT, SOURCE = (os.path.abspath(path) for path in sys.argv[1:])


def query(sql):
    return json.loads(driver("duckdb.mjs", sql))[0]


class Store:
    def __init__(self, folder):
        self.folder = folder
        run(PROFMOUNT, "--extract", SOURCE, folder, "stores", "methods.csv", "traces.csv", "info.json", status=None)
        with open(self.path("info.json"), encoding="utf-8") as file:
            self.run_ns = json.load(file)["duration_ns"]
        all_calls = f"""read_csv('{folder}/stores/*/traces/*/calls.csv', header = true, quote = '"', escape = '"',
            types = {{'time_ns': 'BIGINT', 'duration_ns': 'BIGINT', 'method': 'VARCHAR'}}, union_by_name = true)"""
        query(f"copy (select * from {all_calls}) to '{self.path('calls.parquet')}'")
        self.calls = f"""(select method, error, time_ns::hugeint as time_ns, duration_ns::hugeint as duration_ns
            from '{self.path('calls.parquet')}')"""

    def path(self, name):
        return os.path.join(self.folder, name)

    def table(self, name):
        return f"read_csv('{self.path(name)}', all_varchar = true, header = true, quote = '\"', escape = '\"')"

    def percentiles(self):
        columns = ", ".join(f"quantile_disc(greatest(duration_ns, 0), {share}) as p{share * 100:.0f}" for share in (0.5, 0.9, 0.99, 1.0))
        wrong = query(f"""select * from (select method, {columns} from {self.calls} where duration_ns is not null group by method) a
            full join (select * from {self.table("methods.csv")} where max_ns is not null) b using (method)
            where p50 is distinct from p50_ns::hugeint or p90 is distinct from p90_ns::hugeint
            or p99 is distinct from p99_ns::hugeint or p100 is distinct from max_ns::hugeint""")
        expect(not wrong, f"methods.csv: {wrong[:3]}")

    def window(self, start, end):
        name = run(PROFMOUNT, "--cat", SOURCE, f"windows/{start}ns-{end}ns", status=None)
        name = name if "/" not in name and name.endswith("s") else f"{start}ns-{end}ns"
        run(PROFMOUNT, "--extract", SOURCE, self.folder, *(f"windows/{name}/{table}.csv" for table in ("contexts", "methods", "traces")))
        begins = f"time_ns >= {start} and (time_ns < {end} or {end == self.run_ns} and time_ns = {end})"
        inside = f"greatest(0, least(time_ns + greatest(0, coalesce(duration_ns, 0)), {end}) - greatest(time_ns, {start}))"
        must = f"""select method, sum({inside})::hugeint as ns, sum(({begins})::int) as calls from {self.calls}
            where ({begins}) or {inside} > 0 group by method"""
        of_methods = f"select method, calls::hugeint as n, time_ns_excl::hugeint as own from {self.table(f'windows/{name}/methods.csv')}"
        of_contexts = f"""select name as method, sum(time_ns_incl::hugeint) as all_ns, sum(calls::hugeint) as n,
            sum(time_ns_excl::hugeint) as own from {self.table(f'windows/{name}/contexts.csv')} group by name"""
        for table, times in ((of_contexts, "coalesce(a.ns, 0) <> coalesce(b.all_ns, 0)"), (of_methods, "false")):
            wrong = query(f"""select * from ({must}) a full join ({table}) b using (method)
                where {times} or coalesce(a.calls, 0) <> coalesce(b.n, 0)""")
            expect(not wrong, f"windows/{name}: {wrong[:3]}")
        wrong = query(f"select * from ({of_methods}) a full join ({of_contexts}) b using (method) where a.own is distinct from b.own")
        expect(not wrong, f"windows/{name}: methods.csv is not contexts.csv: {wrong[:3]}")
        self.methods(begins, name)
        self.traces(start, end, begins, name)
        return int(query(f"select coalesce(sum(own), 0) from ({of_contexts})")[0][0])

    def methods(self, begins, name):
        """errors, the shortest, the longest and percentiles are of the calls that begin inside, whole."""
        shares = ", ".join(f"quantile_disc(greatest(duration_ns, 0), {share}) as q{share * 100:.0f}" for share in (0.5, 0.9, 0.99, 1.0))
        must = f"""select method, sum(error)::hugeint as n, min(duration_ns) as least, max(duration_ns) as most, {shares}
            from {self.calls} where {begins} group by method"""
        columns = "errors, time_ns_min, time_ns_max, p50_ns, p90_ns, p99_ns, max_ns"
        names = ", ".join(f"{column}::hugeint as {column}" for column in columns.split(", "))
        wrong = query(f"""select * from ({must}) a full join (select method, {names} from
            {self.table(f'windows/{name}/methods.csv')}) b using (method) where coalesce(n, 0) <> coalesce(errors, 0)
            or least is distinct from time_ns_min or most is distinct from time_ns_max or q50 is distinct from p50_ns
            or q90 is distinct from p90_ns or q99 is distinct from p99_ns or q100 is distinct from max_ns""")
        expect(not wrong, f"windows/{name}/methods.csv: {wrong[:3]}")

    def traces(self, start, end, begins, name):
        """Traces that begin inside or are partly inside, cut off at the edges."""
        must = f"""select path, greatest(time_ns, {start}) as t, case when duration_ns is null then null else
            greatest(0, least(time_ns + duration_ns, {end}) - greatest(time_ns, {start})) end as d from (select path,
            time_ns::hugeint as time_ns, duration_ns::hugeint as duration_ns from {self.table("traces.csv")})
            where ({begins}) or (time_ns < {end} and time_ns + coalesce(duration_ns, 0) > {start})"""
        wrong = query(f"""select * from ({must}) a full join (select path, time_ns::hugeint as time_ns,
            duration_ns::hugeint as duration_ns from {self.table(f'windows/{name}/traces.csv')}) b using (path)
            where t is distinct from time_ns or d is distinct from duration_ns""")
        expect(not wrong, f"windows/{name}/traces.csv: {wrong[:3]}")


folder = tempfile.mkdtemp(prefix="profmount-clients-")
try:
    store = Store(folder)
    store.percentiles()
    run_ns = store.run_ns
    third, half = run_ns // 3, run_ns // 2
    own = [store.window(start, end) for start, end in ((0, half), (half, run_ns), (0, run_ns))]
    expect(own[0] + own[1] == own[2], f"halves do not add up: {own}")
    store.window(third, third + 1)
    store.window(run_ns // 7, run_ns // 7 * 3)
    print(f"DuckDB: percentiles and 5 windows of {SOURCE}")
finally:
    shutil.rmtree(folder)
