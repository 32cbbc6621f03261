"""Runs the lines of Dask in docs/remote.md: run_dask.py SCHEDULER WORKERS FILE

Prints as JSON what they call `costs`, the seconds that they took once that many workers were there, and the processor
seconds of each worker by its address.
"""
import json
import sys
import time

import dask.dataframe
import distributed

scheduler, workers, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    code = compile(file.read(), path, "exec")
with distributed.Client(scheduler) as client:
    client.wait_for_workers(int(workers))
    # Each worker has imported what it needs before the time is taken.
    client.run(lambda: dask.dataframe.__name__)
    before = client.run(time.process_time)
    begin, lines = time.monotonic(), {}
    exec(code, lines)
    seconds = time.monotonic() - begin
    lines["client"].close()
    used = {worker: after - before[worker] for worker, after in client.run(time.process_time).items()}
costs = {name: int(ns) for name, ns in lines["costs"].items()}
print(json.dumps({"costs": costs, "seconds": seconds, "used": used}))
