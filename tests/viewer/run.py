"""Runs a test of the viewer in Node, or says why not (exit 77: skipped)."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def missing():
    node = shutil.which("node")
    if not node:
        return "there is no Node here"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.match(r"v(\d+)", version).group(1)) < 20:
        return f"Node is {version.strip()}, and the test needs 20"
    modules = pathlib.Path(os.environ["LITHE_NODE_MODULES"])
    for package in ("playwright-core", "typescript"):
        if not (modules / package).is_dir():
            return f"{package} is not in {modules}"
    if not any(map(shutil.which, BROWSERS)):
        return "there is no Chromium here"
    return None


def main():
    if reason := missing():
        print(f"skipped: {reason}; tools/bootstrap.sh test installs what it can")
        return 77
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    return subprocess.run(["node", "--test", "--test-reporter=spec", *sys.argv[1:]],
                          env={**os.environ, "LITHE_BROWSER": browser}).returncode


if __name__ == "__main__":
    sys.exit(main())
