"""Opens a report in Chromium and reads the numbers of its plots off the screen."""
import html
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BROWSER = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
               None)


def measure(page):
    """What measure.js finds in a copy of the page."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "page.html"
        script = f"<script>{(HERE / 'measure.js').read_text()}</script>"
        copy.write_text(page.read_text().replace("</body>", script + "</body>"))
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,1400",
                               f"--user-data-dir={folder}/profile", "--dump-dom", copy.as_uri()],
                              capture_output=True, text=True, timeout=120)
    found = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    if not found:
        raise AssertionError(f"the browser found nothing\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return json.loads(html.unescape(found.group(1)))


class PageTest(unittest.TestCase):
    """A page that a program writes, with the numbers that it shows."""

    @classmethod
    def write(cls, program):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.page = pathlib.Path(folder.name) / "report.html"
        subprocess.run([program, folder.name], check=True)
        cls.metrics = json.loads((cls.page.parent / "metrics.json").read_text())
        cls.measured = measure(cls.page)

    def assert_curve(self, title, name, *, log):
        plot = self.metrics[title]
        wanted = [(x, y) for x, y in zip(plot["x"], plot["series"][name]) if y is not None and (y > 0 or not log)]
        found = self.measured[title]["curves"][name]
        self.assertEqual(len(found), len(wanted), name)
        value = math.log if log else float
        values = [value(y) for series in plot["series"].values() for y in series if y is not None and (y > 0 or not log)]
        # paths are written to 0.01 of 290 or more units over the range of the values, 0.02 with the ticks
        x_tolerance = 1e-4 * (max(plot["x"]) - min(plot["x"]))
        y_tolerance = 2e-4 * (max(values) - min(values))
        for (x, y), (x_found, y_found) in zip(wanted, found):
            self.assertAlmostEqual(x, x_found, delta=x_tolerance)
            self.assertAlmostEqual(value(y), value(y_found), delta=y_tolerance)

    def assert_self_contained(self):
        text = self.page.read_text()
        self.assertNotRegex(text, r"https?://|<link|@import|url\(")
        self.assertTrue(all(source.startswith("data:") for source in re.findall(r'src="([^"]*)', text)))


@unittest.skipUnless(BROWSER, "no Chromium here; tools/bootstrap.sh test installs it")
class ReportInABrowser(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.write(os.environ["LITHE_WRITE_REPORT"])

    def test_finds_the_numbers_in_the_plots(self):
        for name in ("kinetic", "elastic", "gravity", "total"):
            self.assert_curve("Energy", name, log=False)
        self.assert_curve("Newton residual <per step>", "first & last", log=True)

    def test_everything_is_on_the_page(self):
        plot = self.measured["Energy"]
        self.assertGreater(plot["width"], 600)
        self.assertGreater(plot["height"], 250)
        self.assertRegex(plot["stroke"], r"^rgb\(")
        self.assertIn("kinetic", plot["description"])
        self.assertEqual(self.measured["image"], [640, True])
        self.assertEqual(len(self.measured["facts"]), 6)
        self.assertTrue(any("0.12 mm" in fact for fact in self.measured["facts"]))

    def test_asks_for_nothing_from_outside(self):
        self.assert_self_contained()


@unittest.skipUnless(BROWSER, "no Chromium here; tools/bootstrap.sh test installs it")
class ModelReportInABrowser(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.write(os.environ["LITHE_WRITE_MODEL_REPORT"])

    def test_finds_the_numbers_in_the_plots(self):
        for title, names in (("Error against cubature points", ("held-out poses", "training poses", "tolerance")),
                             ("Error against rank", ("held-out poses", "tolerance")),
                             ("Singular values of the basis", ("kept", "cut off"))):
            for name in names:
                with self.subTest(plot=title, curve=name):
                    self.assert_curve(title, name, log=True)
        self.assert_curve("Frequencies of the linear modes", "frequency", log=False)

    def test_everything_is_on_the_page(self):
        self.assertEqual(self.measured["image"], [640, True])
        captions, widths, tops = zip(*self.measured["gallery"])
        self.assertEqual(list(captions), [f"shape {k}" for k in range(1, 7)])
        self.assertEqual(set(widths), {240})
        self.assertLess(len(set(tops)), 6)  # side by side
        self.assertEqual(self.measured["dots"], 12 + 20 + 6)  # frequencies, singular values, ranks
        self.assertEqual([text.split()[0] for text, _ in self.measured["shares"]], ["modes", "poses", "cubature"])
        for (_, share), wanted in zip(self.measured["shares"], (0.1, 0.3, 0.6)):
            self.assertAlmostEqual(share, wanted, delta=0.01)
        self.assertLessEqual(self.measured["overflow"], 0)

    def test_asks_for_nothing_from_outside(self):
        self.assert_self_contained()


@unittest.skipUnless(BROWSER, "no Chromium here; tools/bootstrap.sh test installs it")
class DemoReportInABrowser(unittest.TestCase):
    def test_the_plots_show_the_metrics_of_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.environ["LITHE"], "demo", "incline", "--frames", "8", "--size", "160x90", "--quiet",
                            "-o", folder], check=True)
            made = pathlib.Path(folder) / "incline"
            steps = json.loads((made / "metrics.json").read_text())["steps"]
            measured = measure(made / "report.html")
        curves = {("Energy", kind): [step["energy"][kind] for step in steps] for kind in ("kinetic", "elastic", "potential")}
        curves["Linear momentum", "|P|"] = [math.hypot(*step["linear_momentum"]) for step in steps]
        curves["Contacts", "contacts"] = [step["contacts"] for step in steps]
        curves["Newton iterations", "iterations"] = [step["iterations"] for step in steps]
        curves["Time per step", "predict"] = [1e3 * step["seconds"]["predict"] for step in steps]
        for (title, name), values in curves.items():
            with self.subTest(plot=title, curve=name):
                found = measured[title]["curves"][name]
                self.assertEqual(len(found), len(values))
                largest = max(max(abs(y) for _, y in curve) for curve in measured[title]["curves"].values())
                for step, value, (x, y) in zip(steps, values, found):
                    self.assertAlmostEqual(x, step["t"], delta=1e-3 * steps[-1]["t"])
                    self.assertAlmostEqual(y, value, delta=1e-3 * largest)


if __name__ == "__main__":
    unittest.main()
