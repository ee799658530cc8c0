#!/usr/bin/env python3
"""Hold src/, abi/ and include/ to the rules that keep the layers apart.

    utils/check-layers.py [--archive build/src/libpystill.a] [--no-nm] [TOPDIR]

include   only downward, by LAYERS and SEES; private headers within their folder
version   PST_PY( nowhere but in abi/ and include/pystill/abi.h
ptrace    ptrace( nowhere but in src/target/ptrace.c
print     no printing and no exiting but in src/ui/ and src/main.c
state     no variable that is not const, but STATE (needs the archive)
symbol    global symbols start with pst_ (needs the archive)

One line for each violation, FILE:LINE: RULE: TEXT. Exit status: 0 when there is
none, 1 when there are some, 2 when the check itself could not be made.

Without arguments TOPDIR and the archive come from top_srcdir and top_builddir
in the environment, as `make check` sets them; CHECK_LAYERS_FLAGS holds more
arguments. --no-nm leaves the last two rules out: sanitizers add symbols.
"""

import argparse
import collections
import os
import re
import subprocess
import sys

# The public headers of each layer: those that its sources implement.
LAYERS = {
    "base": "arena base error hash hist json names note sample utf8",
    "target": "access elf identity launch maps mem nspace procfs ptrace target view",
    "abi": "abi",
    "python": "python",
    "native": "native",
    "profile": "capture meter profile sampler snapshot trace",
    "writers": "out writer",
    "ui": "cmd opt",
    "main": "",
}

# What each layer sees besides itself: layers, and single public headers.
SEES = {
    "base": "",
    "target": "base",
    "abi": "base target",
    "python": "base target abi",
    "native": "base target",
    "profile": "base target abi python native",
    "writers": "base capture.h meter.h profile.h",
    "ui": "base target abi python native profile writers",
    "main": "base target abi python native profile writers ui",
}

# Not even through another header.
BLIND = {"writers": ("target", "abi", "python", "native")}

OWNER = {name + ".h": layer for layer, names in LAYERS.items() for name in names.split()}
PRIVATE = {"main": "ui/"}  # the folder besides its own whose headers a layer sees

STATE = {"stop_flag"}  # what a signal handler sets

VERSION = re.compile(r"\bPST_PY\s*\(")
PTRACE = re.compile(r"\bptrace\s*\(|\b(SYS|__NR)_ptrace\b")
PRINT = re.compile(
    r"(?<![\w.>])(v?f?printf|v?dprintf|f?puts|f?putc|putchar|perror|_?exit|_Exit|abort)\s*\(")
CURSES = re.compile(r"#\s*include\s*[<\"](n?cursesw?|ncursesw?/.*|term|panel)\.h[>\"]")
INCLUDE = re.compile(r"#\s*include\s*([<\"])([^>\"]+)[>\"]")
SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)

Source = collections.namedtuple("Source", "path layer text bare")
Symbol = collections.namedtuple("Symbol", "member name kind section")
Violation = collections.namedtuple("Violation", "path line rule text")


# The tree

def bare(text):
    """The text with comments and literals blanked, its lines kept; includes stay."""
    def blank(match):
        line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        if re.match(r"\s*#\s*include\s*$", line):
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())
    return SKIPPED.sub(blank, text)


def layer_of(path):
    parts = path.split("/")
    if path == "src/main.c":
        return "main"
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[0] == "include":
        return OWNER.get(parts[-1])
    return "abi" if parts[0] == "abi" else None


def read_sources(top):
    sources = []
    for folder in ("src", "abi", "include"):
        for where, _, names in os.walk(os.path.join(top, folder)):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.relpath(os.path.join(where, name), top)
                    with open(os.path.join(top, path), encoding="utf-8") as handle:
                        text = handle.read()
                    sources.append(Source(path, layer_of(path), text, bare(text)))
    return sorted(sources)


def lines_with(pattern, source):
    """Line number and match, wherever the pattern is."""
    for number, line in enumerate(source.bare.splitlines(), 1):
        for match in pattern.finditer(line):
            yield number, match


# The rules

def check_place(source):
    if source.path.startswith("include/") and source.layer is None:
        yield Violation(source.path, 1, "include", "which layer owns it is not in LAYERS")
    elif source.layer not in LAYERS:
        yield Violation(source.path, 1, "include", "its folder is no layer")


def includes(source):
    """Line number, whether it is public, and name, of each header of ours."""
    for number, match in lines_with(INCLUDE, source):
        quote, name = match.groups()
        if name.startswith("pystill/"):
            yield number, True, name[len("pystill/"):]
        elif quote == '"':
            yield number, False, name


def may_see(layer, header):
    seen = SEES[layer].split()
    return OWNER[header] == layer or OWNER[header] in seen or header in seen


def check_public(source, number, header, closure):
    def violation(text):
        return Violation(source.path, number, "include", "pystill/%s: %s" % (header, text))

    if header not in OWNER:
        yield violation("which layer owns it is not in LAYERS")
    elif not may_see(source.layer, header):
        yield violation("%s does not see %s" % (source.layer, OWNER[header]))
    else:
        for behind in sorted(closure.get(header, ())):
            if OWNER.get(behind) in BLIND.get(source.layer, ()):
                yield violation("brings pystill/%s, of %s" % (behind, OWNER[behind]))


def check_private(source, number, name):
    of_folder = "/" not in name and not source.path.startswith("include/")
    allowed = PRIVATE.get(source.layer)
    if not of_folder and not (allowed and re.match(allowed + "[^/]+$", name)):
        yield Violation(source.path, number, "include", "%s: a private header of others" % name)


def check_includes(source, closure):
    for number, public, name in includes(source):
        if public:
            yield from check_public(source, number, name, closure)
        else:
            yield from check_private(source, number, name)


def header_closure(sources):
    """Public header -> all public headers that it brings."""
    direct = {os.path.basename(source.path):
              {name for _, public, name in includes(source) if public}
              for source in sources if source.path.startswith("include/")}
    closure = {}
    for header in direct:
        reached, ahead = set(), [header]
        while ahead:
            new = direct.get(ahead.pop(), set()) - reached
            reached |= new
            ahead.extend(new)
        closure[header] = reached
    return closure


def check_version(source):
    if source.layer != "abi":
        for number, _ in lines_with(VERSION, source):
            yield Violation(source.path, number, "version", "a Python version outside abi/")


def check_ptrace(source):
    if source.path != "src/target/ptrace.c":
        for number, match in lines_with(PTRACE, source):
            yield Violation(source.path, number, "ptrace",
                            "%s outside src/target/ptrace.c" % match.group().rstrip("( \t"))


def function_lines(source, name):
    """The lines of a function's definition, by the house's style: its brace stands alone."""
    match = re.search(r"^[^\n;]*\b%s\([^;{]*\)\n\{.*?^\}" % name, source.bare,
                      re.DOTALL | re.MULTILINE)
    if not match:
        return range(0)
    return range(source.bare.count("\n", 0, match.start()) + 1,
                 source.bare.count("\n", 0, match.end()) + 2)


EXITS = {"src/base/base.c": "pst_out_of_memory", "src/target/launch.c": "become"}  # that may call _exit()


def check_print(source):
    if source.layer not in ("ui", "main"):
        allowed = function_lines(source, EXITS[source.path]) if source.path in EXITS else range(0)
        for number, match in lines_with(PRINT, source):
            if not (number in allowed and match.group(1) == "_exit"):
                yield Violation(source.path, number, "print",
                                "%s outside src/ui/ and src/main.c" % match.group(1))
    if source.path != "src/ui/tui.c":
        for number, match in lines_with(CURSES, source):
            yield Violation(source.path, number, "print",
                            "%s.h outside src/ui/tui.c" % match.group(1))


def check_source(source, closure):
    misplaced = list(check_place(source))
    yield from misplaced
    if not misplaced:
        yield from check_includes(source, closure)
    yield from check_version(source)
    yield from check_ptrace(source)
    yield from check_print(source)


# The archive

def read_symbols(archive):
    """The symbols that it defines. The sysv form is the one that names sections."""
    nm = os.environ.get("NM", "nm")
    done = subprocess.run([nm, "--format=sysv", "--defined-only", archive], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True,
                          env=dict(os.environ, LC_ALL="C"))
    member = None
    for line in done.stdout.splitlines():
        header = re.match(r"Symbols from .*\[(.*)\]:$", line)
        if header:
            member = header.group(1)
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 7:
            yield Symbol(member, fields[0], fields[2], fields[6])


def definition(sources, symbol):
    """Path and line of the symbol; the archive's members are sources' names without folder."""
    name = re.sub(r"\.\d+$", "", symbol.name)  # gcc numbers the static ones of functions
    stem = symbol.member.rpartition(".")[0]
    for source in sources:
        if os.path.basename(source.path) == stem + ".c":
            for number, line in enumerate(source.bare.splitlines(), 1):
                if re.search(r"^(\w.*|\s+static\b.*)\b%s\b" % re.escape(name), line):
                    return source.path, number
    return symbol.member, 0


def is_state(symbol):
    return (symbol.kind in "bBdDCsSgG" and not symbol.section.startswith(".data.rel.ro")
            and symbol.name not in STATE)


def is_foreign(symbol):
    of_compiler = symbol.name.startswith(("__x86.", "DW.ref."))
    return (symbol.kind.isupper() and symbol.kind != "N"
            and not symbol.name.startswith("pst_") and not of_compiler)


def check_archive(sources, archive):
    for symbol in read_symbols(archive):
        if is_state(symbol):
            yield Violation(*definition(sources, symbol), "state",
                            "variable %s is not const" % symbol.name)
        if is_foreign(symbol):
            yield Violation(*definition(sources, symbol), "symbol",
                            "global %s does not start with pst_" % symbol.name)


def options():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--archive")
    parser.add_argument("--no-nm", action="store_true")
    parser.add_argument("top", nargs="?")
    given = parser.parse_args(os.environ.get("CHECK_LAYERS_FLAGS", "").split() + sys.argv[1:])
    build = os.environ.get("top_builddir")
    if not given.archive and not given.top and build:
        given.archive = os.path.join(build, "src/libpystill.a")
    given.top = given.top or os.environ.get("top_srcdir") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), os.pardir)
    return given


def main():
    given = options()
    sources = read_sources(given.top)
    if not sources:
        raise FileNotFoundError("no sources in %s" % given.top)
    closure = header_closure(sources)
    violations = [violation for source in sources for violation in check_source(source, closure)]
    if given.archive and not given.no_nm:
        violations += check_archive(sources, given.archive)
    for violation in violations:
        print("%s:%d: %s: %s" % violation)
    return 1 if violations else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, subprocess.SubprocessError) as why:
        print("check-layers: %s" % why, file=sys.stderr)
        sys.exit(2)
