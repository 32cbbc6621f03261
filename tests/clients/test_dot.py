#!/usr/bin/env python3
"""Graphviz renders callgraph.dot without warnings, and draws as many functions as the label says."""
import re
import xml.etree.ElementTree

from clients import Source, expect, program, run

dot = program("dot", "graphviz")
xmllint = program("xmllint", "libxml2-utils")
convert = program("rsvg-convert", "librsvg2-bin")

with Source("export") as source:
    svg = source.path("out.svg")
    said = run(dot, "-Tsvg", "-o", svg, source.path("export/callgraph.dot"))
    expect(said == "", said)
    run(xmllint, "--noout", "--nonet", svg)
    run(convert, svg, "-o", source.path("out.png"))
    root = xml.etree.ElementTree.parse(svg).getroot()
    nodes = [e for e in root.iter() if e.get("class") == "node"]
    label = "".join(e.text or "" for e in root.iter() if e.tag.endswith("}text"))
    shown = re.search(r"([0-9]+) of [0-9]+ functions", label)
    expect(shown and len(nodes) == int(shown.group(1)) > 0, f"{len(nodes)} nodes: {label[:200]}")
    print(f"graphviz: {len(nodes)} functions")
