"""Other people's programs, run on what we export. Absent ones skip their test with a message."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = pathlib.Path(os.environ["LITHE_CLIENTS"])  # where bootstrap puts what comes from npm


class ClientTest(unittest.TestCase):
    """The sample animation in every format, in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run([os.environ["LITHE_SAMPLES"], cls.folder], check=True)
        cls.expected = json.loads((cls.folder / "expected.json").read_text())
        cls.character = json.loads((cls.folder / "character.json").read_text())  # of character.glb
        cls.flesh = json.loads((cls.folder / "flesh.json").read_text())  # of flesh.glb
        cls.reduced = json.loads((cls.folder / "reduced.json").read_text())  # of reduced.glb

    def need(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed; tools/bootstrap.sh clients installs it")

    def ask(self, *command):
        """Runs a script in a client; it writes its findings as JSON into the file that is its last argument."""
        findings = self.folder / "findings.json"
        findings.unlink(missing_ok=True)
        # the Python inside these programs takes its modules from where the first python3 of PATH lies
        environment = {**os.environ, "PATH": "/usr/bin:" + os.environ["PATH"]}
        done = subprocess.run([*map(str, command), str(findings)], cwd=self.folder, capture_output=True, text=True,
                              timeout=500, env=environment)
        self.assertTrue(findings.exists(), f"{command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return json.loads(findings.read_text())

    def assert_positions(self, found, body, frame, tolerance, expected=None):
        """The found points are where they should be, in order; what follows behind them are doubles of some."""
        wanted = (expected or self.expected)["positions"][str(frame)][body]
        self.assertGreaterEqual(len(found), len(wanted))
        worst = max(abs(a - b) for x, y in zip(found, wanted) for a, b in zip(x, y))
        self.assertLessEqual(worst, tolerance, f"{body} at frame {frame}")
        return worst
