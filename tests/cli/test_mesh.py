import os
import pathlib
import unittest

from program import CUBE, GPL, ProgramTest


class Convert(ProgramTest):
    def test_obj_to_every_surface_format_and_back(self):
        self.write("cube.obj", CUBE)
        for ending in ("obj", "ply", "off", "stl", "mesh", "msh", "vtk", "vtu"):
            self.succeed("mesh", "cube.obj", "-o", f"cube.{ending}")
            report = self.succeed_json("inspect", f"cube.{ending}", "--json")
            self.assertEqual((report["vertices"], report["triangles"]), (8, 12), ending)
            self.assertAlmostEqual(report["volume"], 1.0)

    def test_scale_and_up(self):
        self.write("cube.obj", CUBE.replace("v 0 0 1", "v 0 0 3").replace("v 1 0 1", "v 1 0 3")
                   .replace("v 1 1 1", "v 1 1 3").replace("v 0 1 1", "v 0 1 3"))
        self.succeed("mesh", "cube.obj", "--scale", "0.01", "--up", "z", "-o", "out.obj")
        box = self.succeed_json("inspect", "out.obj", "--json")["bounds"]
        self.assertAlmostEqual(box["max"][1], 0.03)
        self.assertAlmostEqual(box["min"][2], -0.01)

    def test_path_with_spaces_and_letters_from_elsewhere(self):
        self.write("ein Würfel/立方体.obj", CUBE)
        self.succeed("mesh", "ein Würfel/立方体.obj", "-o", "ein Würfel/κύβος.ply")
        self.assertIn("ein Würfel/κύβος.ply", self.files())

    def test_weld_orient_fill_simplify_subdivide(self):
        self.write("cube.obj", CUBE)
        self.succeed("mesh", "cube.obj", "--subdivide", "3", "-o", "fine.obj")
        fine = self.succeed_json("inspect", "fine.obj", "--json")
        self.assertEqual(fine["triangles"], 12 * 4**3)
        self.succeed("mesh", "fine.obj", "--simplify", "100", "-o", "coarse.obj")
        coarse = self.succeed_json("inspect", "coarse.obj", "--json")
        self.assertTrue(coarse["watertight"] and coarse["manifold"])
        self.assertLessEqual(coarse["triangles"], 100)

        open_cube = CUBE.replace("f 5 6 7 8\n", "").replace("f 1 4 3 2", "f 1 2 3 4")
        self.write("broken.obj", open_cube)
        self.assertFalse(self.succeed_json("inspect", "broken.obj", "--json")["watertight"])
        self.succeed("mesh", "broken.obj", "--weld", "--orient", "--fill-holes", "-o", "mended.obj")
        mended = self.succeed_json("inspect", "mended.obj", "--json")
        self.assertTrue(mended["watertight"])
        self.assertAlmostEqual(mended["volume"], 1.0)


class Tetrahedra(ProgramTest):
    def test_cell_and_count(self):
        self.write("cube.obj", CUBE)
        for arguments in (["--cell", "0.1"], ["--count", "5000"]):
            report = self.succeed_json("mesh", "cube.obj", "--tets", *arguments, "-o", "cube.mesh", "--json")
            inspected = self.succeed_json("inspect", "cube.mesh", "--json")
            self.assertEqual(report["tets"], inspected["tets"])
            self.assertEqual(inspected["inverted_tets"], 0)
            self.assertGreater(inspected["dihedral_angles"]["smallest"], 8.0)
            self.assertAlmostEqual(inspected["volume"], 1.0, delta=0.01)
        self.assertAlmostEqual(report["tets"], 5000, delta=1000)

    def test_an_open_and_turned_surface_still_becomes_a_solid_and_says_so(self):
        self.write("broken.obj", CUBE.replace("f 5 6 7 8\n", "f 5 6 7\n").replace("f 1 4 3 2", "f 1 2 3 4"))
        report = self.succeed_json("mesh", "broken.obj", "--tets", "--count", "3000", "-o", "b.mesh", "--json")
        self.assertTrue(report["assumptions"])
        self.assertAlmostEqual(self.succeed_json("inspect", "b.mesh", "--json")["volume"], 1.0, delta=0.15)

    @unittest.skipUnless(GPL, "this build has no CGAL")
    def test_delaunay(self):
        self.write("cube.obj", CUBE)
        self.succeed("mesh", "cube.obj", "--tets", "--mesher", "delaunay", "--count", "2000", "-o", "cube.vtu")
        report = self.succeed_json("inspect", "cube.vtu", "--json")
        self.assertAlmostEqual(report["tets"], 2000, delta=400)
        self.assertAlmostEqual(report["volume"], 1.0, delta=0.01)

    @unittest.skipIf(GPL, "this build has CGAL")
    def test_delaunay_is_refused_without_cgal(self):
        self.write("cube.obj", CUBE)
        self.refuse("mesh", "cube.obj", "--tets", "--mesher", "delaunay", "-o", "cube.mesh", says=["LITHE_GPL"])

    def test_same_bytes_for_any_number_of_threads(self):
        self.write("cube.obj", CUBE)
        for threads in (1, 2, 4):
            self.succeed("mesh", "cube.obj", "--tets", "--count", "3000", "--threads", threads, "-o", f"{threads}.mesh")
        self.assertEqual(len({self.files()[f"{n}.mesh"] for n in (1, 2, 4)}), 1)


class Make(ProgramTest):
    def test_every_listed_shape_can_be_made(self):
        listing = self.succeed("mesh", "--make", "list")
        names = [line.split()[0] for line in listing.splitlines() if line and not line.startswith("FILE")]
        for needed in ("biped", "hand", "fish", "octopus", "cow", "cactus", "kraken", "puffer", "shell", "ship",
                       "trout", "box", "sphere", "capsule", "cylinder", "torus", "beam"):
            self.assertIn(needed, names)
        for name in names:
            self.succeed("mesh", "--make", name, "-o", f"{name}.obj")
            report = self.succeed_json("inspect", f"{name}.obj", "--json")
            self.assertTrue(report["watertight"] and report["manifold"], name)
            self.assertGreater(report["volume"], 0.0)

    def test_hand_with_a_cell_size_and_its_skeleton(self):
        self.succeed("mesh", "--make", "hand", "--cell", "0.01", "-o", "hand.obj", "--skeleton", "hand.skel.txt")
        skeleton = self.files()["hand.skel.txt"].decode()
        for finger in ("thumb", "index", "middle", "ring", "little"):
            self.assertIn(finger, skeleton)
