import os
import pathlib
import unittest

from program import CUBE, ProgramTest

DATA = pathlib.Path(os.environ.get("LITHE_DATA", pathlib.Path(__file__).parents[3] / "shared/data"))


class Inspect(ProgramTest):
    def test_a_good_cube(self):
        self.write("cube.obj", CUBE)
        report = self.succeed_json("inspect", "cube.obj", "--json")
        self.assertEqual((report["vertices"], report["triangles"], report["genus"], report["components"]), (8, 12, 0, 1))
        self.assertEqual(report["self_intersections"]["pairs"], 0)
        self.assertEqual(report["faults"], [])

    def test_faults_come_with_advice(self):
        self.write("bad.obj", CUBE.replace("f 5 6 7 8\n", ""))
        text = self.succeed("inspect", "bad.obj")
        self.assertIn("--fill-holes", text)

    @unittest.skipUnless(DATA.exists(), "no data set; set LITHE_DATA to run this test")
    def test_the_human_touches_itself(self):
        report = self.succeed_json("inspect", DATA / "meshes/human_man.obj", "--json")
        self.assertEqual(report["self_intersections"], {"pairs": 76, "sharing_vertex": 8})
