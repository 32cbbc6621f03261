#!/usr/bin/env python3
"""flamegraph.pl draws folded stacks: the picture is valid and its total is equal."""
import re

from clients import Source, expect_total, program, run

perl = program("flamegraph.pl", "libdevel-nytprof-perl", "/usr/share/perl5/Devel/NYTProf/flamegraph.pl")
xmllint = program("xmllint", "libxml2-utils")
convert = program("rsvg-convert", "librsvg2-bin")

with Source("export") as source:
    for metric, path in source.exports("", ".collapsedstack.txt"):
        total, _ = source.total(metric)
        if total < 1:
            continue
        svg, png = source.path("out.svg"), source.path("out.png")
        with open(svg, "w", encoding="utf-8") as file:
            file.write(run("perl", perl, "--countname", metric, path))
        run(xmllint, "--noout", "--nonet", svg)
        run(convert, "--width", "1200", svg, "-o", png)
        with open(svg, encoding="utf-8") as file:
            shown = re.search(r"<title>all \(([0-9,]+) ", file.read()).group(1)
        expect_total(source, metric, int(shown.replace(",", "")), "flamegraph.pl")
