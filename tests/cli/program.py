"""Runs the lithe program in an empty folder and looks at what it did."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

LITHE = os.environ["LITHE"]
GPL = os.environ.get("LITHE_GPL", "ON").upper() in ("ON", "1", "TRUE")

CUBE = """\
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
"""


class ProgramTest(unittest.TestCase):
    """Each test has its own empty folder, the program's working folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def run_program(self, *arguments, timeout=300):
        return subprocess.run([LITHE, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=timeout)

    def succeed(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout

    def succeed_json(self, *arguments):
        return json.loads(self.succeed(*arguments))

    def refuse(self, *arguments, says):
        """The program ends with 2 and one line that holds every phrase of `says`, and the folder is as before."""
        before = self.files()
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 2, f"{arguments}\n{done.stdout}{done.stderr}")
        message = done.stderr.strip()
        self.assertEqual(len(message.splitlines()), 1, message)
        self.assertTrue(message.startswith("lithe: "), message)
        for phrase in says:
            self.assertIn(phrase, message)
        self.assertEqual(self.files(), before, "something was written")
        return message

    def files(self):
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in self.folder.rglob("*") if p.is_file()}
