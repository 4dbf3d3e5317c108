#!/usr/bin/env python3
"""Fail when a source file includes a room that its own room may not see.

The rows of tools/layers.txt say who may see whom. Rooms that stand in the tree but not in the file fail too.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = {".hpp", ".cpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'\s*#\s*include\s*[<"]lithe/(\w+)/')


def read_layers(path):
    """room -> the rooms that it may include, itself among them."""
    allowed = {}
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        room, uses = (part.strip() for part in line.split(":"))
        unknown = set(uses.split()) - set(allowed)
        if unknown:
            sys.exit(f"{path.name}: {room} lists {', '.join(sorted(unknown))} before they are declared")
        allowed[room] = set(uses.split()) | {room}
    return allowed


def faults(tree, allowed):
    for path in sorted(tree.rglob("*")):
        if path.suffix not in SOURCES:
            continue
        room = path.relative_to(tree).parts[0]
        if room not in allowed:
            yield f"{path}: room '{room}' has no row in layers.txt"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            seen = INCLUDE.match(line)
            if seen and seen[1] not in allowed[room]:
                yield f"{path}:{number}: {room} may not include {seen[1]}"


def main():
    tree = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src/lithe"
    found = list(faults(tree, read_layers(ROOT / "tools/layers.txt")))
    print("\n".join(found) if found else "layers ok")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
