#!/usr/bin/env python3
"""Decision 0090 lists every system call that the confined process may make, as fs/confine_calls.c allows them: fails where
the two differ.

    tests/check_calls.py [ROOT]

Then it changes either of them, and fails if the change is not detected. --print prints the list for the decision.
"""
import os
import re
import sys
import textwrap

CODE, DECISION = "fs/confine_calls.c", "docs/decisions/0090-least-privilege.md"
KINDS = ("with any arguments", "with some arguments", "only for `--extract`")


def calls_of_code(code):
    """Kind → calls."""
    def block(begin):
        found = re.search(re.escape(begin) + r".*?^}", code, re.S | re.M)
        if not found:
            raise SystemExit(f"{CODE}: no {begin}")
        return set(re.findall(r"SCMP_SYS\((\w+)\)", found[0]))

    allowed = code[code.index("allowed_calls[] = {"):]
    return dict(zip(KINDS, (set(re.findall(r"SCMP_SYS\((\w+)\)", allowed[:allowed.index("};")])),
                            block("static int allow_files(") | block("static int allow_process("),
                            block("static int allow_extracting("))))


def calls_of_decision(text):
    section = text[text.index("## Every call"):].split("\n## ")[0]
    found = {}
    for kind in KINDS:
        line = re.search(rf"^- {re.escape(kind)}: (.*?)(?=^- |\n\n|\Z)", section, re.S | re.M)
        found[kind] = set(re.findall(r"\w+", line[1])) if line else set()
    return found


def differences(code, text):
    allowed, listed = calls_of_code(code), calls_of_decision(text)
    mentioned = set(re.findall(r"SCMP_SYS\((\w+)\)", code))
    for kind in KINDS:
        for call in sorted(allowed[kind] - listed[kind]):
            yield f"{call} is allowed {kind}, but {DECISION} does not list it"
        for call in sorted(listed[kind] - allowed[kind]):
            yield f"{DECISION} lists {call} {kind}, but it is not allowed"
    for call in sorted(mentioned - set().union(*allowed.values())):
        yield f"{CODE} mentions {call} where this test does not look"


def self_test(code, text):
    changes = ((code.replace("SCMP_SYS(read)", "SCMP_SYS(kill), SCMP_SYS(read)", 1), text),
               (code.replace("SCMP_SYS(tgkill)", "SCMP_SYS(tkill)", 1), text),
               (code.replace("SCMP_SYS(mkdirat)", "SCMP_SYS(linkat)", 1), text),
               (code + "\nstatic int other = SCMP_SYS(socket);\n", text),
               (code, text.replace("readahead", "sendfile")))
    return [f"change {i} is not seen" for i, change in enumerate(changes) if not list(differences(*change))]


def section_of(code):
    """What the decision should say."""
    lines = [textwrap.fill(f"- {kind}: " + " ".join(sorted(calls)), 120, subsequent_indent="  ")
             for kind, calls in calls_of_code(code).items()]
    return "\n".join(lines)


def main(arguments):
    roots = [a for a in arguments if not a.startswith("--")]
    root = roots[0] if roots else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    with open(os.path.join(root, CODE), encoding="utf-8") as c, open(os.path.join(root, DECISION), encoding="utf-8") as d:
        code, text = c.read(), d.read()
    if "--print" in arguments:
        print(section_of(code))
        return 0
    wrong = list(differences(code, text)) + self_test(code, text)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
