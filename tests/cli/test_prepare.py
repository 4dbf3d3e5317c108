import json
import pathlib
import unittest

from program import CUBE, ProgramTest

BAR = """\
[[body]]
name = "bar"
shape = "box:size=0.6x0.2x0.2"
cell = 0.1
material = { kind = "corotational", young = 1e5 }
[[body.pin]]
box = [[-inf, -inf, -inf], [-0.29, inf, inf]]
"""

TWO_PARTS = """\
[[body]]
mesh = "two.obj"
tets = 200
"""


def model_scene(name):
    return f'[time]\nframes = 10\n[[body]]\nmodel = "{name}"\n'


class Prepare(ProgramTest):
    def prepare(self, *options):
        self.write("bar.toml", BAR)
        return self.succeed("prepare", "bar.toml", "-o", "bar.lithe", "--poses", "40", *options)

    def inspected(self):
        return json.loads(self.succeed("inspect", "bar.lithe", "--json"))

    def test_a_scene_becomes_a_model_that_inspect_explains(self):
        said = self.prepare("--rank", "8")
        self.assertIn("8 coordinates instead of", said)
        found = self.inspected()
        self.assertEqual(found["rank"], 8)
        self.assertEqual(found["elastic"], "cubature")
        self.assertLessEqual(found["held_out_error"], found["tolerance"])
        self.assertEqual(found["materials"][0]["kind"], "corotational")
        self.assertGreater(found["pinned_vertices"], 0)
        self.assertEqual(sorted(found["frequencies"]), found["frequencies"])
        self.assertIn("on 10 held-out poses", self.succeed("inspect", "bar.lithe"))

    def test_options_are_followed(self):
        self.prepare("--rank", "5", "--material", "stvk", "--mass", "lumped", "--damping", "0.5", "0.01")
        found = self.inspected()
        self.assertEqual((found["elastic"], found["mass_kind"], found["damping"]), ("polynomial", "lumped", [0.5, 0.01]))
        self.prepare("--rank", "5", "--elastic", "linear")
        self.assertEqual(self.inspected()["elastic"], "linear")
        self.prepare("--auto", "--tolerance", "0.3")
        found = self.inspected()
        errors = dict(zip(found["error_by_rank"]["rank"], found["error_by_rank"]["error"]))
        self.assertLessEqual(errors[found["rank"]], 0.3)

    def test_the_same_input_gives_the_same_bytes_whatever_the_threads(self):
        self.prepare("--rank", "6", "--threads", "1")
        one = (self.folder / "bar.lithe").read_bytes()
        self.prepare("--rank", "6", "--threads", "2")
        self.assertEqual(one, (self.folder / "bar.lithe").read_bytes())

    def test_a_mesh_with_pins_hangs_and_a_changed_source_is_noticed(self):
        self.write("cube.obj", CUBE)
        self.succeed("prepare", "cube.obj", "-o", "cube.lithe", "--tets", "300", "--pin", "top:0.1", "--rank", "6", "--poses",
                     "40")
        self.assertIs(json.loads(self.succeed("inspect", "cube.lithe", "--json"))["stale"], False)
        self.succeed("simulate", "cube.lithe", "--frames", "5", "-o", "cube.glb")
        self.write("cube.obj", CUBE + "\n# another day\n")
        self.assertIs(json.loads(self.succeed("inspect", "cube.lithe", "--json"))["stale"], True)

    def test_a_model_in_a_scene_is_compared_with_full_space(self):
        self.prepare("--rank", "12")
        self.write("scene.toml", model_scene("bar.lithe"))
        self.succeed("simulate", "scene.toml", "--compare", "full", "--metrics", "m.json")
        summary = json.loads((self.folder / "m.json").read_text())["summary"]
        self.assertGreater(summary["relative_error"]["max"], 0.0)
        self.assertLess(summary["relative_error"]["max"], 0.2)
        self.assertGreater(summary["speed_ratio"], 1.0)

    def test_the_rule_is_part_of_what_a_model_was_made_from(self):
        self.prepare("--rank", "8")
        by_default = self.inspected()["settings"]
        self.prepare("--rank", "8", "--rule", "greedy")
        self.assertNotEqual(self.inspected()["settings"], by_default)

    def test_training_from_the_command_line_is_kept_and_helps(self):
        said = self.prepare("--rank", "4", "--runs", "3", "--cache", "runs")
        kept = {name for name in self.files() if name.startswith("runs/")}
        self.assertEqual(len(kept), 3)
        before = (self.folder / "bar.lithe").read_bytes()
        self.prepare("--rank", "4", "--runs", "3", "--cache", "runs")
        self.assertEqual(kept, {name for name in self.files() if name.startswith("runs/")})
        self.assertEqual(before, (self.folder / "bar.lithe").read_bytes())
        self.assertIn("3 runs", said)

    def test_report_and_bullet_files(self):
        self.prepare("--rank", "6", "--report", "bar.html", "--bullet", "bullet")
        page = (self.folder / "bar.html").read_text()
        self.assertIn("<svg", page)
        self.assertNotIn("http://", page.replace("http://www.w3.org", ""))
        for name in ("modes.bin", "eigenvalues.bin", "K_r_diag_mat.bin", "M_r_diag_mat.bin", "M_diag_mat.bin"):
            self.assertTrue((self.folder / "bullet" / name).exists(), name)


ARM = """\
joint shoulder at 0 1 0 radius 0.12
joint elbow of shoulder at 0.5 0 0 radius 0.12
joint hand of elbow at 0.5 0 0 radius 0.12
"""


class PrepareBones(ProgramTest):
    def prepare(self, *options):
        self.write("arm.shape", ARM)
        return self.succeed("prepare", "arm.shape", "--bones", "-o", "arm.lithe", "--tets", "1500", *options)

    def inspected(self):
        return json.loads(self.succeed("inspect", "arm.lithe", "--json"))

    def test_a_character_becomes_bones_that_inspect_explains(self):
        said = self.prepare("--modes", "4")
        self.assertIn("character arm of 3 bones", said)
        found = self.inspected()
        self.assertEqual(found["kind"], "bones")
        self.assertEqual([bone["name"] for bone in found["bones"]], ["shoulder", "elbow", "hand"])
        self.assertEqual([bone["rank"] for bone in found["bones"]], [4, 4, 4])
        self.assertAlmostEqual(sum(bone["mass"] for bone in found["bones"]), found["mass"], places=9)
        self.assertEqual([(j["a"], j["b"], j["points"]) for j in found["joints"]],
                         [("shoulder", "elbow", 3), ("elbow", "hand", 3)])
        self.assertIs(found["stale"], False)
        self.write("arm.shape", ARM + "# another day\n")
        self.assertIs(self.inspected()["stale"], True)
        self.assertIn("elbow", self.succeed("inspect", "arm.lithe"))

    def test_options_are_followed(self):
        self.prepare("--modes", "3", "--joints", "ball", "--rigid", "hand", "--proxy", "80", "--density", "500", "--damping", "0.5",
                     "0.01", "--report", "arm.html")
        found = self.inspected()
        self.assertEqual([bone["rank"] for bone in found["bones"]], [3, 3, 0])
        self.assertEqual([joint["points"] for joint in found["joints"]], [1, 1])
        self.assertEqual(found["bones"][0]["damping"], [0.5, 0.01])
        self.assertEqual(found["materials"][0]["density"], 500)
        self.assertLess(found["collision"]["vertices"], 100)
        self.assertIn("<svg", (self.folder / "arm.html").read_text())
        apart = sum(bone["skin_vertices"] for bone in found["bones"])
        self.prepare("--modes", "3", "--overlap", "0.01", "--elastic", "polynomial")
        found = self.inspected()
        self.assertEqual(found["bones"][0]["elastic"], "polynomial")
        self.assertGreater(sum(bone["skin_vertices"] for bone in found["bones"]), apart)

    def test_an_example_pose_is_one_more_coordinate(self):
        self.write("arm.shape", ARM)
        self.succeed("mesh", "arm.shape", "-o", "rest.obj")
        lines = []
        for line in (self.folder / "rest.obj").read_text().splitlines():
            if line.startswith("v "):
                x, y, z = map(float, line.split()[1:4])
                line = f"v {x} {y + 0.2 * x * x} {z}"
            lines.append(line)
        self.write("bent.obj", "\n".join(lines) + "\n")
        self.prepare("--modes", "2", "--shapes", "elbow=bent.obj")
        self.assertEqual([bone["rank"] for bone in self.inspected()["bones"]], [2, 3, 2])

    def test_the_same_input_gives_the_same_bytes_whatever_the_threads(self):
        self.prepare("--modes", "3", "--threads", "1")
        one = (self.folder / "arm.lithe").read_bytes()
        self.prepare("--modes", "3", "--threads", "2")
        self.assertEqual(one, (self.folder / "arm.lithe").read_bytes())


class PrepareLattice(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("arm.shape", ARM)

    def refuse_lattice(self, *options, says):
        self.refuse("prepare", "arm.shape", "--lattice", "-o", "arm.lithe", "--quiet", *options, says=says)

    def test_a_character_gets_a_lattice_that_inspect_explains(self):
        said = self.succeed("prepare", "arm.shape", "--lattice", "-o", "arm.lithe", "--lattice-size", "60", "--levels", "0",
                            "--stiffness", "hand=2e5", "--report", "arm.html")
        self.assertIn("character arm in a lattice of", said)
        found = json.loads(self.succeed("inspect", "arm.lithe", "--json"))
        self.assertEqual(found["kind"], "lattice")
        self.assertEqual(found["held_bones"], [])
        self.assertEqual(len(found["materials"]), 2)
        self.assertLess(abs(found["vertices"] - 60), 20)
        self.assertIn("<html", (self.folder / "arm.html").read_text())

    def test_lattices_made_by_hand(self):
        self.write("off.lattice", "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\ntet 0 1 2 3\n")
        self.refuse_lattice("--lattice-file", "off.lattice", says=["arm"])
        self.write("bad.lattice", "tet 0 1 2\n")
        self.refuse_lattice("--lattice-file", "bad.lattice", says=["bad.lattice:1", "4 vertices"])
        self.refuse_lattice("--lattice-file", "none.lattice", says=["none.lattice"])

    def test_other_units(self):
        for scale in ("0.001", "1000"):
            self.refuse_lattice("--scale", scale, says=["another unit", "--scale"])

    def test_options_that_do_not_fit(self):
        self.refuse("prepare", "arm.shape", "-o", "arm.lithe", "--levels", "1", says=["--levels", "--lattice"])
        self.refuse_lattice("--rank", "3", says=["--rank", "--lattice"])
        self.refuse_lattice("--modes", "3", says=["--modes", "--lattice"])
        self.refuse_lattice("--stiffness", "ear", says=["BONE=YOUNG"])
        self.refuse_lattice("--stiffness", "hnd=10", says=["hnd", "did you mean 'hand'"])

    def test_a_clip_of_another_skeleton(self):
        self.write("other.bvh", "HIERARCHY\nROOT tail\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n}\n"
                                "MOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0\n9 0 0\n")
        self.write("scene.toml", "[[body]]\nshape = \"arm.shape\"\n[body.lattice]\nsize = 60\nmotion = \"other.bvh\"\n")
        self.refuse("simulate", "scene.toml", "--frames", "1", "--quiet", says=["scene.toml"])


class PrepareBonesBadInput(ProgramTest):
    def test_options_of_one_body(self):
        self.write("arm.shape", ARM)
        for option in (("--rank", "5"), ("--auto",), ("--pin", "top"), ("--bullet", "b"), ("--runs", "2"), ("--material", "stvk"),
                       ("--elastic", "cubature")):
            self.refuse("prepare", "arm.shape", "--bones", "-o", "arm.lithe", *option, says=[option[0], "for a model of one body"])

    def test_options_of_bones_without_bones(self):
        self.write("cube.obj", CUBE)
        for option in (("--modes", "5"), ("--joints", "ball"), ("--rigid", "hand"), ("--overlap", "0.2"), ("--proxy", "50")):
            self.refuse("prepare", "cube.obj", "-o", "cube.lithe", *option, says=[option[0], "--bones"])

    def test_what_is_no_character(self):
        self.write("cube.obj", CUBE)
        self.refuse("prepare", "cube.obj", "--bones", "-o", "cube.lithe", says=["cube.obj", "no character"])
        self.refuse("prepare", "shape:box", "--bones", "-o", "box.lithe", says=["without a skeleton"])

    def test_bones_that_are_not_there(self):
        self.write("arm.shape", ARM)
        for option in (("--rigid", "elbo"), ("--shapes", "elbo=rest.obj")):
            self.refuse("prepare", "arm.shape", "--bones", "-o", "arm.lithe", "--tets", "1500", *option,
                        says=["did you mean 'elbow'?"])
        self.refuse("prepare", "arm.shape", "--bones", "-o", "arm.lithe", "--shapes", "rest.obj", says=["BONE=MESH"])


class PrepareBadInput(ProgramTest):
    def test_a_rank_above_what_the_mesh_has(self):
        self.write("bar.toml", BAR)
        self.refuse("prepare", "bar.toml", "-o", "bar.lithe", "--rank", "5000", says=["ask for fewer"])

    def test_more_contact_modes_than_coordinates(self):
        self.write("bar.toml", BAR)
        self.refuse("prepare", "bar.toml", "-o", "bar.lithe", "--rank", "6", "--contact-modes", "2", says=["higher rank"])

    def test_training_options_without_training(self):
        self.write("bar.toml", BAR)
        for option in (("--jitter", "0.1"), ("--cache", "runs")):
            self.refuse("prepare", "bar.toml", "-o", "bar.lithe", *option, says=["give --runs, or a scene with [training]"])

    def test_everything_pinned(self):
        self.write("cube.obj", CUBE)
        self.refuse("prepare", "cube.obj", "-o", "c.lithe", "--tets", "200", "--pin", "box:-9,-9,-9,9,9,9", says=["pinned"])

    def test_tolerance_zero(self):
        self.write("bar.toml", BAR)
        done = self.run_program("prepare", "bar.toml", "-o", "bar.lithe", "--tolerance", "0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--tolerance", done.stderr)
        self.assertEqual(list(self.files()), ["bar.toml"])

    def test_parts_that_nothing_connects(self):
        lines = CUBE.splitlines()
        vertices = [line for line in lines if line.startswith("v ")]
        moved = ["v " + " ".join(str(float(c) + 5.0) for c in line.split()[1:4]) for line in vertices]
        faces = [line for line in lines if line.startswith("f ")]
        n = len(vertices)
        shifted = ["f " + " ".join(str(int(c.split("/")[0]) + n) for c in line.split()[1:]) for line in faces]
        self.write("two.obj", "\n".join(vertices + moved + faces + shifted) + "\n")
        self.write("two.toml", TWO_PARTS)
        self.refuse("prepare", "two.toml", "-o", "two.lithe", says=["parts that nothing connects"])

    def test_a_wrong_ending_a_missing_file_and_a_damaged_model(self):
        self.write("bar.toml", BAR)
        self.refuse("prepare", "bar.toml", "-o", "bar.model", says=[".lithe"])
        self.refuse("prepare", "nothing.obj", "-o", "a.lithe", says=["nothing.obj"])
        self.succeed("prepare", "bar.toml", "-o", "bar.lithe", "--rank", "4", "--poses", "20")
        model = self.folder / "bar.lithe"
        model.write_bytes(model.read_bytes()[:-100])
        self.refuse("inspect", "bar.lithe", says=["bar.lithe"])
        self.write("scene.toml", model_scene("bar.lithe"))
        self.refuse("simulate", "scene.toml", says=["bar.lithe"])

    def test_a_place_that_cannot_be_written(self):
        self.write("bar.toml", BAR)
        self.refuse("prepare", "bar.toml", "-o", "nowhere/bar.lithe", "--rank", "4", says=["nowhere"])

    def test_a_full_disk(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full here")
        self.write("bar.toml", BAR)
        (self.folder / "full.lithe").symlink_to("/dev/full")
        done = self.run_program("prepare", "bar.toml", "-o", "full.lithe", "--rank", "4", "--poses", "20")
        self.assertEqual(done.returncode, 2)
        self.assertIn("full.lithe", done.stderr)
        self.assertEqual(list(self.files()), ["bar.toml"])

    def test_snapshots_of_another_mesh(self):
        self.write("bar.toml", BAR)
        self.write("cube.obj", CUBE)
        self.refuse("prepare", "bar.toml", "-o", "bar.lithe", "--rank", "4", "--snapshots", "cube.obj", says=["cube.obj"])

    def test_pins_that_move(self):
        moving = BAR + "motion = [{time = 0}, {time = 1, translation = [0, 1, 0]}]\n"
        self.write("bar.toml", moving)
        self.refuse("prepare", "bar.toml", "-o", "bar.lithe", says=["hold still"])


if __name__ == "__main__":
    unittest.main()
