"""A strict reader of Parquet: the footer must account for every byte of a file, and every statistic must be correct.

    parquet.py FILE.parquet [FILE.csv]

Knows only what profmount writes: flat optional columns, uncompressed pages of version 1, PLAIN and RLE_DICTIONARY; of tables that
are laid out (no null counts) each page has room for values of all rows, filled up with zeros. Independent of
profmount and of other readers: from parquet.thrift, Encodings.md and the specification of Thrift's compact protocol.
"""
import csv
import math
import struct
import sys

INT64, DOUBLE, BYTE_ARRAY = 2, 5, 6
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8


class Broken(Exception):
    pass


def must(truth, otherwise):
    if not truth:
        raise Broken(otherwise)


class Thrift:
    """Structs as dicts by field id; the caller knows what the fields mean."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        must(self.at < len(self.data), "thrift ends early")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            size = self.varint()
            must(self.at + size <= len(self.data), "a thrift string ends early")
            self.at += size
            return self.data[self.at - size:self.at]
        if kind == 9:
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(size)]
        must(kind == 12, f"thrift type {kind}")
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            must(head >> 4, "a long field header")
            last += head >> 4
            fields[last] = self.value(head & 15)


def hybrid(data, at, end, width, count, most):
    """Runs of RLE and bit-packing: `count` values with room for `most`, and where they end."""
    values, reader = [], Thrift(data, at)
    while len(values) < most:
        must(reader.at < end, "a run is missing")
        head = reader.varint()
        if head & 1:
            size = (head >> 1) * width
            bits = int.from_bytes(data[reader.at:reader.at + size], "little")
            mask = (1 << width) - 1
            if width == 1:
                text = bin(bits)[2:].zfill(8 * (head >> 1))[::-1]
                values += [int(c) for c in text]
            else:
                for i in range(0, head >> 1):
                    eight = int.from_bytes(data[reader.at + i * width:reader.at + (i + 1) * width], "little")
                    values += [eight >> k * width & mask for k in range(8)]
            reader.at += size
        else:
            size = (width + 7) // 8
            values += [int.from_bytes(data[reader.at:reader.at + size], "little")] * (head >> 1)
            reader.at += size
    must(len(values) - most < 8, "a run is too long")
    must(not any(values[count:]), "what fills up a run is not 0")
    return values[:count], reader.at


def page(data, at, kind):
    reader = Thrift(data, at)
    head = reader.struct()
    must(head[1] == kind, f"a page of kind {head[1]}, not {kind}")
    must(head[2] == head[3], "a page is compressed")
    must(reader.at + head[3] <= len(data), "a page is longer than the file")
    return head[5 if kind == 0 else 7], reader.at, reader.at + head[3]


def plain(data, at, end, kind, count, most):
    if kind == BYTE_ARRAY:
        values = []
        for _ in range(count):
            size = int.from_bytes(data[at:at + 4], "little")
            values.append(data[at + 4:at + 4 + size].decode("utf-8"))
            at += 4 + size
    else:
        values = list(struct.unpack_from(f"<{count}{'q' if kind == INT64 else 'd'}", data, at))
        must(not any(data[at + 8 * count:at + 8 * most]), "what fills up a page is not 0")
        at += 8 * most
    must(at == end, "a page has other bytes than its values")
    return values


def column(data, meta, unsigned, laid_out):
    """The values of a column chunk, None for null; and where the chunk ends."""
    kind, at, words = meta[1], meta.get(11, meta[9]), None
    must(meta[4] == 0 and meta[6] == meta[7], "a chunk is compressed")
    begin = at
    if 11 in meta:
        head, at, end = page(data, at, 2)
        must(head[2] == PLAIN, "a dictionary is not plain")
        words = plain(data, at, end, kind, head[1], head[1])
        must(len(set(words)) == len(words), "a dictionary has a text twice")
        at = end
    must(at == meta[9], "the data page is elsewhere")
    head, at, end = page(data, at, 0)
    must(head[1] == meta[5] and head[3] == RLE, "a data page has other rows")
    size = int.from_bytes(data[at:at + 4], "little")
    levels, stop = hybrid(data, at + 4, at + 4 + size, 1, head[1], head[1])
    must(stop == at + 4 + size, "levels have another size")
    at, count = stop, sum(levels)
    most = head[1] if laid_out else count
    if words is not None:
        must(head[2] == RLE_DICTIONARY, "indexes are said to be values")
        indexes, stop = hybrid(data, at + 1, end, data[at], count, most)
        must(stop == end, "a page has other bytes than its indexes")
        values = [words[i] for i in indexes]
        must(laid_out or set(values) == set(words), "a dictionary has a text that no row has")
    else:
        must(head[2] == PLAIN, "an encoding without a dictionary")
        values = plain(data, at, end, kind, count, most)
        if unsigned:
            values = [v % 2 ** 64 for v in values]
    must(end - begin == meta[7], "a chunk has another size")
    rest = iter(values)
    return [next(rest) if level else None for level in levels], end


def check_text_bounds(statistics, known):
    if 5 not in statistics:
        must(6 not in statistics and any(len(v) > 32 for v in known), "no bounds of texts")
        return
    low, high, low_is_exact, high_is_exact = (statistics[i] for i in (6, 5, 8, 7))
    low.decode("utf-8"), high.decode("utf-8")
    least, greatest = min(known), max(known)
    must(low == least if low_is_exact else low < least and least.startswith(low), f"bound {low}, not {least}")
    must(high == greatest if high_is_exact else greatest < high, f"bound {high}, not {greatest}")


def check_statistics(meta, values, unsigned):
    statistics = meta.get(12, {})
    known = [v for v in values if v is not None]
    must(statistics.get(3, len(values) - len(known)) == len(values) - len(known), "null_count is not true")
    if 3 not in statistics and 5 not in statistics:
        return
    if not known:
        must(5 not in statistics and 6 not in statistics, "bounds of nothing")
        return
    if meta[1] == BYTE_ARRAY:
        check_text_bounds(statistics, [v.encode() for v in known])
        return
    form = "<d" if meta[1] == DOUBLE else "<Q" if unsigned else "<q"
    low, high = (struct.unpack(form, statistics[i])[0] for i in (6, 5))
    must(low == min(known) and high == max(known), f"bounds {low} {high}, not {min(known)} {max(known)}")
    if meta[1] == DOUBLE:
        must(low != 0 or math.copysign(1, low) < 0, "the least zero is not -0")
        must(high != 0 or math.copysign(1, high) > 0, "the greatest zero is not +0")


def read(path):
    """Names, rows and metadata of a file, checked in all its bytes."""
    with open(path, "rb") as file:
        data = file.read()
    must(data[:4] == b"PAR1" and data[-4:] == b"PAR1", "no magic number")
    size = int.from_bytes(data[-8:-4], "little")
    footer = len(data) - 8 - size
    reader = Thrift(data[:-8], footer)
    meta = reader.struct()
    must(reader.at == len(data) - 8, "the footer has another length")
    root, *fields = meta[2]
    must(root[5] == len(fields) == len(meta[7]), "another number of columns")
    must(all(f[3] == 1 for f in fields), "a column is not optional")
    names = [f[4].decode() for f in fields]
    unsigned = [f.get(6) == 14 for f in fields]
    for field in fields:
        kinds = list(field.get(10, {}))
        number = [10] if field.get(6) == 14 else [8] if field[4] == b"timestamp_ns" else []
        must(kinds == [] or kinds == ([1] if field[1] == BYTE_ARRAY else number), f"{field[4]} is of logical type {kinds}")
    columns, places = [[] for _ in fields], []
    laid_out = not all(3 in chunk[3].get(12, {}) for group in meta[4] for chunk in group[1])
    for group in meta[4]:
        must(group[2] == group[6] == sum(c[3][7] for c in group[1]), "a row group has another size")
        must(group[5] == group[1][0][2], "a row group is elsewhere")
        for i, chunk in enumerate(group[1]):
            must(chunk[3][3] == [fields[i][4]] and chunk[3][1] == fields[i][1], "a chunk is another column's")
            must(chunk[2] == chunk[3].get(11, chunk[3][9]), "a chunk is elsewhere")
            values, end = column(data, chunk[3], unsigned[i], laid_out)
            places.append((chunk[2], end))
            must(len(values) == group[3] == chunk[3][5], "a chunk has other rows")
            check_statistics(chunk[3], values, unsigned[i])
            columns[i] += values
    # Chunks of files that are laid out stand in another order.
    places = (sorted(places) if laid_out else places) + [(footer, footer)]
    at = 4
    for begin, end in places:
        must(begin == at or begin == footer and laid_out and not any(data[at:footer]), "bytes that are no chunk's")
        at = end
    must(meta[3] == sum(g[3] for g in meta[4]), "num_rows is not true")
    pairs = {pair[1].decode(): pair[2].decode() for pair in meta.get(5, [])}
    return names, columns, pairs


def same(cell, value):
    """Does the value equal the cell of the CSV?"""
    if value is None or cell == "":
        return value is None and cell == ""
    if isinstance(value, str):
        return cell == value
    if isinstance(value, int):
        return int(float(cell)) == value if "e" in cell or "." in cell else int(cell) == value
    return float(cell) == value


def compare(parquet, table):
    """The number of equal cells; the first difference is an error."""
    names, columns, pairs = read(parquet)
    csv.field_size_limit(1 << 30)
    with open(table, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    must(header == names, f"columns {names}, not {header}")
    must(all(len(c) == len(rows) for c in columns), f"{len(columns[0])} rows, not {len(rows)}")
    must("units" in pairs, "no units")
    for i, name in enumerate(names):
        for k, row in enumerate(rows):
            must(same(row[i], columns[i][k]), f"row {k} of {name}: {columns[i][k]!r}, not {row[i]!r}")
    return len(rows) * len(names)


if __name__ == "__main__":
    try:
        if len(sys.argv) > 2:
            print(f"{sys.argv[1]}: {compare(*sys.argv[1:3])} cells agree")
        else:
            print(f"{sys.argv[1]}: {[len(c) for c in read(sys.argv[1])[1][:1]]} rows")
    except (Broken, KeyError, IndexError, ValueError, struct.error) as error:
        sys.exit(f"{sys.argv[1]}: {error!r}")
