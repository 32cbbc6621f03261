"""The example of docs/adding-a-format.md as a C file: example.py DOCUMENT, to standard output."""
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    text = f.read()
begin = text.index('    #include "formats/builder/builder.h"')
block = text[begin:text.index("\nWhat to know:")]
print("\n".join(line[4:] for line in block.split("\n")))
