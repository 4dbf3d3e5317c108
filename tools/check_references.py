#!/usr/bin/env python3
"""Fail when the code or the docs cite a paper that docs/references.bib does not have, or it has one that nobody cites."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CITATION = re.compile(r"\[([A-Z][A-Za-z]*\d\d(?:, (?:[A-Z][A-Za-z]*\d\d|[^\]]*))*)\]")
KEY = re.compile(r"\b[A-Z][A-Za-z]*\d\d\b")


def cited_keys():
    cited = {}
    for folder in ("src", "apps", "bench", "docs", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in {".hpp", ".cpp", ".md"}:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                for citation in CITATION.findall(line):
                    for key in KEY.findall(citation):
                        cited.setdefault(key, f"{path.relative_to(ROOT)}:{number}")
    return cited


def main():
    cited = cited_keys()
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text(), re.M))
    faults = [f"{cited[key]}: [{key}] is not in docs/references.bib" for key in sorted(set(cited) - known)]
    faults += [f"docs/references.bib: {key} is cited nowhere" for key in sorted(known - set(cited))]
    print("\n".join(faults) if faults else f"{len(known)} references ok")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
