"""`lithe view` on the command line: what it refuses, what it prints, and that it ends."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

LITHE = os.environ["LITHE"]


def refused(*arguments):
    done = subprocess.run([LITHE, "view", *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


class Usage(unittest.TestCase):
    def test_refuses_bad_input_before_anybody_opens_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            scene = pathlib.Path(folder) / "bad.toml"
            scene.write_text("[[body]]\nshape = \"sphere\"\nyong = 3\n")
            for arguments, words in ((["no-such-scene"], "no-such-scene"), ([str(scene)], "bad.toml:3:1"),
                                     (["drop", "--host", "nowhere", "--port", "0"], "not an address"),
                                     (["drop", "--port", "70000"], "70000")):
                status, text = refused(*arguments)
                self.assertEqual(status, 2, text)
                self.assertIn(words, text)

    def test_demos_say_where_to_touch_them(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([LITHE, "demo", "incline", "-o", folder, "--frames", "1", "--size", "160x90"],
                                  capture_output=True, text=True, timeout=280)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"lithe view incline --port 8123, and open http://127.0.0.1:8123/")

    def serve(self, *arguments):
        """Starts the server on a free port; its address."""
        process = subprocess.Popen([LITHE, "view", "free-flight", "--port", "0", *arguments], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        for line in process.stdout:
            if found := re.match(r"open (\S+)", line):
                return process, found[1]
        raise AssertionError("it said no address")

    def test_serves_this_machine_until_it_is_told_to_end(self):
        with tempfile.TemporaryDirectory() as folder:
            process, address = self.serve("-o", folder)
            self.assertTrue(address.startswith("http://127.0.0.1:"))
            with urllib.request.urlopen(address, timeout=20) as page:
                self.assertIn(b"<title>Lithe</title>", page.read())
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), 0)
            self.assertEqual(os.listdir(folder), [])

    def test_wants_the_token_when_it_answers_others(self):
        process, address = self.serve("--host", "127.0.0.1")
        try:
            self.assertRegex(address, r"\?token=[0-9a-f]{32}$")
            with urllib.request.urlopen(address, timeout=20) as page:
                self.assertEqual(page.status, 200)
            with self.assertRaises(urllib.error.HTTPError) as refusal:
                urllib.request.urlopen(address.split("?")[0], timeout=20)
            self.assertEqual(refusal.exception.code, 403)
            refusal.exception.close()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


if __name__ == "__main__":
    unittest.main()
