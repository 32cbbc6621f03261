#!/usr/bin/env python3
"""DuckDB reads the tables of all threads as one, keys of their directories as columns, and finds the same sums.

Files of one query must have the same keys: threads and GPU streams are two queries. So do those of docs/remote.md.
"""
import collections
import json
import re

from clients import Source, documented, driver, expect, expect_ranks, node_module, run

node_module("@duckdb/node-api")


def keys_of(row):
    return tuple(part.split("=")[0] for part in row["path"].split("/")[1:])


def check(source, keys, threads, columns):
    """The total cost of the threads with these keys: their top-level contexts, by thread."""
    pattern, by = "/".join(f"{key}=*" for key in keys), ", ".join(keys)
    table = f"read_csv('{source.path(f'threads/{pattern}/profile.csv')}', hive_partitioning = true, union_by_name = true)"
    tops = f"context_id in (select context_id from '{source.path('contexts.csv')}' where depth = 0)"
    sums = ", ".join(f'sum(try_cast("{c}" as double))' for c in columns)
    rows, types = json.loads(driver("duckdb.mjs", f"select {by}, {sums} from {table} where {tops} group by {by}",
                                    f"select {', '.join(f'typeof({key})' for key in keys)} from {table} limit 1"))
    expect(set(types[0]) == {"BIGINT"}, f"types of {by}: {types}")
    expect(len(rows) == len(threads), f"{len(rows)} threads with {by}, not {len(threads)}")
    shown = {tuple(row[:len(keys)]): dict(zip(columns, row[len(keys):])) for row in rows}
    for thread in threads:
        for column, value in shown[tuple(thread[key] for key in keys)].items():
            total = float(thread[column] or 0)
            expect(abs((value or 0) - total) <= 1e-9 * abs(total), f"{thread['path']}: {column} {value}, not {total}")
    print(f"DuckDB: {len(threads)} threads with {by}: {len(columns)} columns")


with Source("threads") as source:
    columns = [c for c in source.rows("contexts.csv")[0] if c.endswith("_incl")]
    groups = collections.defaultdict(list)
    for row in source.rows("threads.csv"):
        if any(row[c] for c in columns):
            groups[keys_of(row)].append(row)
    for keys, threads in groups.items():
        check(source, keys, threads, columns)
    if "rank" in source.rows("threads.csv")[0]:
        source.need("threads.parquet", "profiles.parquet")
        queries = re.findall(r"(?m)^select rank[^;]*;", documented(source))
        expect(len(queries) == 2, f"docs/remote.md has other queries: {queries}")
        for sums in json.loads(driver("duckdb.mjs", *queries)):
            expect_ranks(source, dict(sums), "DuckDB")
    # A derived column is what SQL computes of the others.
    incl = [c for c in columns if c.endswith("_incl")]
    if len(incl) > 1:
        a, b = (c[:-len("_incl")] for c in incl[:2])
        formula = f"({a} + 2*{b})/{b}^2 - sqrt({a})"
        for name in ("functions.csv", "contexts.csv", "callers.csv", "threads.csv"):
            with open(source.path("derived.csv"), "w", encoding="utf-8") as file:
                file.write(run(source.profmount, "-o", "derive=d=" + formula, "--cat", source.source, name))
            for end in ("_excl", "_incl"):
                of = formula.replace(a, f'"{a}{end}"::double').replace(b, f'nullif("{b}{end}"::double, 0)')
                query = f"select d{end}::double, {of} from '{source.path('derived.csv')}'"
                rows = json.loads(driver("duckdb.mjs", query))[0]
                expect(rows and all(x == y or abs(x - y) <= 1e-15 * abs(y) for x, y in rows), f"{name}: d{end} of {query}: {rows[:5]}")
        print(f"DuckDB: {formula}")
