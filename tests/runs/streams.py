"""Small HTDUMP streams of an imaginary program, with costs chosen by the test: docs/formats/htdump.md."""
import os
import struct

CALL = 5
# class → its fields: (type, name, size, kind of data)
BASE = ("HT_Event", "base", 24, 1)
CLASSES = {
    0: ("HT_EndiannessInfoEvent", [BASE, ("uint8_t", "endianness", 1, 99)]),
    1: ("HT_Event", [("HT_EventKlass*", "klass", 8, 6), ("HT_TimestampNs", "timestamp", 8, 99), ("HT_EventId", "id", 8, 99)]),
    2: ("HT_EventKlassInfoEvent", [BASE, ("HT_EventKlassId", "info_klass_id", 4, 99), ("const char*", "event_klass_name", 8, 2),
                                   ("uint8_t", "field_count", 1, 99)]),
    3: ("HT_EventKlassFieldInfoEvent", [BASE, ("HT_EventKlassId", "info_klass_id", 4, 99), ("const char*", "field_type", 8, 2),
                                        ("const char*", "field_name", 8, 2), ("uint64_t", "size", 8, 99),
                                        ("uint8_t", "data_type", 1, 99)]),
    4: ("HT_CallstackBaseEvent", [BASE, ("HT_DurationNs", "duration", 8, 99), ("HT_ThreadId", "thread_id", 4, 99)]),
    CALL: ("HT_CallstackStringEvent", [("HT_CallstackBaseEvent", "base", 36, 1), ("const char*", "label", 8, 2)]),
}


def preamble():
    head = struct.Struct("<IQQ")
    out, count = [head.pack(0, 0, 0) + b"\0"], 1
    for klass, (name, fields) in CLASSES.items():
        out.append(head.pack(2, 0, count) + struct.pack("<I", klass) + name.encode() + b"\0" + bytes([len(fields)]))
        count += 1
        for kind, field, size, data in fields:
            out.append(head.pack(3, 0, count) + struct.pack("<I", klass) + kind.encode() + b"\0" + field.encode() + b"\0" +
                       struct.pack("<QB", size, data))
            count += 1
    return b"".join(out), count


PREAMBLE, FIRST = preamble()


def write(path, costs, threads=1):
    """`costs`: function → own ns on each thread. All are called by main, one after the other."""
    out, number = [PREAMBLE], FIRST
    for thread in range(1, threads + 1):
        at = 1_000_000
        own = costs.get("main", 1)
        whole = own + sum(cost for name, cost in costs.items() if name != "main")
        calls = [("main", at, whole)]
        at += own
        for name, cost in costs.items():
            if name != "main":
                calls.append((name, at, cost))
                at += cost
        for name, begin, length in calls:
            out.append(struct.pack("<IQQQI", CALL, begin, number, length, thread) + name.encode() + b"\0")
            number += 1
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as f:
        f.write(b"".join(out))
    return path


def nested(path, depth):
    """Calls of one function, each in the one before."""
    call = struct.Struct("<IQQQI")
    with open(path, "wb") as f:
        f.write(PREAMBLE)
        f.writelines(call.pack(CALL, i, FIRST + i, 2 * (depth - i), 1) + b"f\0" for i in range(depth))
    return path
