#!/usr/bin/env bash
# Formatting, static analysis and the layers. Fails on the first kind that finds something.
set -euo pipefail
cd "$(dirname "$0")/.."

sources=$(git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp')
echo "lint: clang-format"
clang-format-19 --dry-run --Werror $sources

echo "lint: layers"
python3 tools/check_layers.py

echo "lint: clang-tidy"
cmake --preset clang -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
cmake --build --preset clang --target lithe_commit >/dev/null
# (CGAL 5.5 does not compile with clang 19, so the files behind LITHE_GPL are not in that build)
git ls-files --cached --others --exclude-standard 'src/*.cpp' 'apps/*.cpp' 'bench/*.cpp' |
  grep -v -e cgal/delaunay.cpp -e cholmod |
  xargs -P "$(nproc)" -n 4 clang-tidy-19 --quiet -p build/clang --warnings-as-errors='*' 2> >(grep -v 'warnings generated' >&2)
