import json
import math
import os
import pathlib
import re
import signal
import struct
import subprocess
import time
import unittest

from program import CUBE, LITHE, ProgramTest

DROP = """\
[time]
frames = 12
[[body]]
name = "cube"
shape = "box:size=0.2x0.2x0.2"
cell = 0.1
position = [0, 0.12, 0]
velocity = [0.5, 0, 0]
material = { kind = "corotational", young = 5e4 }
[[obstacle]]
name = "ground"
shape = "plane"
"""

BAR = """\
[time]
frames = 20
[world]
gravity = [0, -2, 0]
[[body]]
name = "bar"
shape = "box:size=0.6x0.2x0.2"
cell = 0.1
material = { kind = "corotational", young = 1e5 }
[[body.pin]]
box = [[-inf, -inf, -inf], [-0.29, inf, inf]]
[body.reduce]
rank = 12
"""

FLESH = """\
[time]
frames = 6
[[body]]
name = "arm"
shape = "arm.shape"
material = { young = 2e4, poisson = 0.4, density = 1000 }
[body.lattice]
size = 60
levels = 0
[[body.lattice.track]]
joint = "elbow"
motion = [{ time = 0 }, { time = 0.1, rotation = [0, 0, 40] }]
"""

ARM = """\
joint shoulder at 0 1 0 radius 0.12
joint elbow of shoulder at 0.5 0 0 radius 0.12
joint hand of elbow at 0.5 0 0 radius 0.12
"""


def point_cache(content):
    """Of each frame of a .pc2 file, its positions."""
    signature, version, count, start, rate, samples = struct.unpack("<12siiffi", content[:32])
    assert signature == b"POINTCACHE2\0" and version == 1 and start == 0 and rate == 1, (signature, version, start, rate)
    return [list(struct.iter_unpack("<3f", content[32 + 12 * count * k:32 + 12 * count * (k + 1)])) for k in range(samples)]


def usd_points(text):
    """Of each frame of the one mesh in a .usda file, its positions."""
    samples = re.search(r"point3f\[\] points\.timeSamples = \{(.*?)\n *\}", text, re.S).group(1)
    frames = re.findall(r"^ *(\d+): \[(.*)\],$", samples, re.M)
    assert [int(number) for number, _ in frames] == list(range(len(frames))), frames
    return [[tuple(map(float, v.split(", "))) for v in re.findall(r"\((.*?)\)", points)] for _, points in frames]


def ply_points(content):
    """Positions of a binary .ply file whose vertices begin with them."""
    head, _, body = content.partition(b"end_header\n")
    sizes = {"float": ("f", 4), "double": ("d", 8), "uchar": ("B", 1)}
    vertices = re.search(rb"element vertex (\d+)\n((?:property .*\n)*)", head)
    kinds = [line.split()[1].decode() for line in vertices.group(2).splitlines()]
    row = struct.Struct("<" + "".join(sizes[kind][0] for kind in kinds))
    return [row.unpack_from(body, row.size * k)[:3] for k in range(int(vertices.group(1)))]


class Simulate(ProgramTest):
    def metrics(self, name):
        return json.loads((self.folder / name).read_text())

    def test_a_scene_gives_every_output(self):
        self.write("drop.toml", DROP)
        said = self.succeed("simulate", "drop.toml", "-o", "drop.glb", "-o", "drop.pc2", "-o", "drop.usda", "-o",
                            "drop.pvd", "-o", "frames", "--metrics", "drop.json")
        self.assertIn("wrote drop.glb", said)
        files = self.files()
        for name in ("drop.glb", "drop.pc2", "drop.usda", "drop.pvd", "frames/frame_0012.ply", "drop.json"):
            self.assertIn(name, files)
        metrics = self.metrics("drop.json")
        self.assertEqual(metrics["version"], 1)
        self.assertEqual(metrics["summary"]["frames"], 12)
        self.assertGreater(metrics["summary"]["max_contacts"], 0)
        self.assertEqual([s["frame"] for s in metrics["steps"]], list(range(1, 13)))
        self.assertIn(metrics["summary"]["state_hash"], said)

    def test_caches_of_flesh_hold_its_skin(self):
        self.write("arm.shape", ARM)
        self.write("flesh.toml", FLESH)
        self.succeed("simulate", "flesh.toml", "-o", "flesh.pc2", "-o", "flesh.usda", "-o", "frames", "--quiet")
        files = self.files()
        skin = [ply_points(files[f"frames/frame_{k:04d}.ply"]) for k in range(7)]
        for cached in (point_cache(files["flesh.pc2"]), usd_points(files["flesh.usda"].decode())):
            self.assertEqual(len(cached), 7)
            for now, before in zip(cached, skin):
                self.assertEqual(len(now), len(before))
                worst = max(abs(a - b) for x, y in zip(now, before) for a, b in zip(x, y))
                self.assertLess(worst, 1e-6)  # single precision
        moved = max(math.dist(a, b) for a, b in zip(skin[0], skin[6]))
        self.assertGreater(moved, 0.2)  # the hand

    def test_a_reduced_body_against_full_space(self):
        self.write("bar.toml", BAR)
        said = self.succeed("simulate", "bar.toml", "--compare", "full", "--metrics", "bar.json")
        self.assertIn("against full space: error", said)
        summary = self.metrics("bar.json")["summary"]
        error = summary["relative_error"]
        self.assertGreater(error["max"], 1e-4)
        self.assertLess(error["max"], 0.1)
        self.assertLessEqual(error["mean"], error["max"])
        self.assertGreater(summary["speed_ratio"], 1.0)
        # the reduced run does not know that it is watched
        self.succeed("simulate", "bar.toml", "--metrics", "alone.json")
        alone = self.metrics("alone.json")["summary"]
        self.assertEqual(alone["state_hash"], summary["state_hash"])
        self.assertNotIn("relative_error", alone)

        self.write("drop.toml", DROP)
        self.refuse("simulate", "drop.toml", "--compare", "full", says=["no body of the scene is reduced"])

    def test_the_film_of_a_run(self):
        self.write("drop.toml", DROP)
        self.succeed("simulate", "drop.toml", "--frames", "3", "-o", "frames")
        self.succeed("render", "frames", "-o", "drop.mp4", "--size", "160x90", "--samples", "1")
        self.assertIn("drop.mp4", self.files())

    def test_a_mesh_alone_is_enough(self):
        self.write("cube.obj", CUBE)
        said = self.succeed("simulate", "cube.obj", "--frames", "4", "--tets", "300", "-o", "cube.glb")
        self.assertIn("young = ", said)
        self.assertIn("cube.glb", self.files())
        printed = self.succeed_json("simulate", "cube.obj", "--frames", "4", "--tets", "300", "--json")
        stiff = self.succeed_json("simulate", "cube.obj", "--frames", "40", "--tets", "300", "--young", "1e7", "--json")
        soft = self.succeed_json("simulate", "cube.obj", "--frames", "40", "--tets", "300", "--young", "2e5", "--json")
        self.assertEqual(printed["summary"]["frames"], 4)
        self.assertNotEqual(stiff["summary"]["state_hash"], soft["summary"]["state_hash"])
        small = self.succeed_json("simulate", "cube.obj", "--frames", "4", "--tets", "300", "--scale", "0.01", "--json")
        self.assertLess(small["summary"]["energy"]["max"], 1e-3 * printed["summary"]["energy"]["max"])

    def test_threads_do_not_change_a_bit(self):
        self.write("drop.toml", DROP)
        hashes = {self.succeed_json("simulate", "drop.toml", "--json", "--threads", n)["summary"]["state_hash"]
                  for n in (1, 2, 4)}
        self.assertEqual(len(hashes), 1)

    def test_resume_goes_on_bit_for_bit(self):
        self.write("drop.toml", DROP)
        whole = self.succeed_json("simulate", "drop.toml", "--json")
        self.succeed("simulate", "drop.toml", "--frames", "7", "--checkpoint", "c")
        rest = self.succeed_json("simulate", "drop.toml", "--resume", "c", "--json", "-o", "rest")
        self.assertEqual(rest["summary"]["frames"], 5)
        self.assertEqual(rest["summary"]["state_hash"], whole["summary"]["state_hash"])
        self.assertIn("rest/frame_0012.ply", self.files())
        self.assertNotIn("rest/frame_0006.ply", self.files())

        self.refuse("simulate", "drop.toml", "--resume", "c", "--frames", "3", says=["c:", "frame 7", "--frames"])
        self.write("other.toml", DROP.replace("5e4", "6e4"))
        self.refuse("simulate", "other.toml", "--resume", "c", says=["c:", "another scene"])
        self.write("c", (self.folder / "c").read_bytes()[:-9])
        self.refuse("simulate", "drop.toml", "--resume", "c", says=["c:", "damaged"])

    def test_checkpoints_in_between(self):
        self.write("drop.toml", DROP)
        self.succeed("simulate", "drop.toml", "--frames", "10", "--checkpoint", "c", "--checkpoint-every", "4")
        rest = self.succeed_json("simulate", "drop.toml", "--resume", "c", "--json")
        self.assertEqual(rest["steps"][0]["frame"], 11)

    def test_interrupt_leaves_whole_files_and_a_checkpoint(self):
        self.write("long.toml", DROP.replace("frames = 12", "frames = 100000"))
        running = subprocess.Popen([LITHE, "simulate", "long.toml", "-o", "long.glb", "-o", "frames", "--metrics",
                                    "long.json", "--checkpoint", "c", "--checkpoint-every", "1"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not (self.folder / "c").exists():
            time.sleep(0.05)
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 1)
        self.assertIn("interrupted after frame", errors)
        frames = self.metrics("long.json")["summary"]["frames"]
        self.assertGreater(frames, 0)
        files = self.files()
        self.assertEqual(files["long.glb"][:4], b"glTF")
        self.assertIn(f"frames/frame_{frames:04}.ply", files)
        # and the run goes on from there as if nothing had been
        whole = self.succeed_json("simulate", "long.toml", "--frames", frames + 3, "--json")
        rest = self.succeed_json("simulate", "long.toml", "--frames", frames + 3, "--resume", "c", "--json")
        self.assertEqual(rest["summary"]["state_hash"], whole["summary"]["state_hash"])

    def test_a_solve_that_fails_says_where_and_keeps_the_rest(self):
        # one iteration is not enough for a tolerance of nothing
        self.write("fail.toml", DROP.replace('kind = "corotational", young = 5e4', 'kind = "stvk", young = 5e4')
                   + "[solver]\nmax_iterations = 1\ntolerance = 1e-14\n")
        done = self.run_program("simulate", "fail.toml", "-o", "fail.glb", "--metrics", "fail.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        message = [line for line in done.stderr.splitlines() if line.startswith("lithe: ")][-1]
        self.assertRegex(message, r"frame \d+ could not be solved: body 'cube': the solver reached the limit")
        self.assertIn("fail.glb", self.files())

    def test_bad_input(self):
        self.write("drop.toml", DROP)

        def scene(old, new):
            self.write("bad.toml", DROP.replace(old, new))
            return "bad.toml"

        body = DROP.index("[[body]]")
        line = DROP[:body].count("\n") + 1
        refusals = [
            ("young", "yong", ["bad.toml:9:", "unknown key 'yong'", "did you mean 'young'"]),
            ("5e4", '"50 kg"', ["bad.toml:9:", "Pa"]),
            ("5e4", "true", ["bad.toml:9:"]),
            ("young = 5e4", "young = 5e4, density = -1", ["bad.toml:9:", "density"]),
            ("young = 5e4", "young = 5e4, poisson = 0.5", ["bad.toml:9:", "poisson"]),
            ("frames = 12", "fps = 0", ["bad.toml:2:", "fps"]),
            ('shape = "box:size=0.2x0.2x0.2"\ncell = 0.1', 'mesh = "absent.obj"', ["bad.toml:5:", "absent.obj"]),
            ('name = "ground"', 'name = "cube"', ["bad.toml:", "cube"]),
            ('shape = "plane"', 'shape = "sphere:radius=3"', [f"bad.toml:{line}:", "inside the obstacle"]),
            ("[[obstacle]]", "[[body.pin]]\nbox = [[-1, -1, -1], [1, 1, 1]]\n[[obstacle]]", ["bad.toml:10:", "pinned"]),
            (DROP, "x = " + "[" * 100000, ["bad.toml:1:"]),
            (DROP, "", ["bad.toml"]),
        ]
        for old, new, says in refusals:
            with self.subTest(new=new[:40]):
                self.refuse("simulate", scene(old, new), "-o", "out.glb", "--metrics", "m.json", says=says)
        self.refuse("simulate", "absent.toml", says=["absent.toml"])
        self.refuse("simulate", "drop.toml", "-o", "out.abc", says=["out.abc", ".glb"])
        self.refuse("simulate", "drop.toml", "-o", "missing/out.glb", says=["missing/out.glb"])
        self.refuse("simulate", "drop.toml", "--metrics", "missing/m.json", says=["missing/m.json"])
        self.refuse("simulate", "drop.toml", "--checkpoint", "missing/c", says=["missing/c"])
        self.refuse("simulate", "drop.toml", "--tets", "100", says=["--tets", "mesh alone"])
        self.write("readme.txt", "no mesh")
        self.refuse("simulate", "readme.txt", says=["readme.txt"])

    def test_inspect_a_scene(self):
        self.write("drop.toml", DROP)
        found = self.succeed_json("inspect", "drop.toml", "--json")
        self.assertEqual(found["bodies"][0]["name"], "cube")
        self.assertEqual(found["bodies"][0]["tets"], 48)
        self.assertAlmostEqual(found["bodies"][0]["mass"], 8.0)
        self.assertEqual(found["obstacles"], ["ground"])
        self.assertIn("body cube: 48 tets", self.succeed("inspect", "drop.toml"))
        self.write("bad.toml", DROP.replace("cell", "sell"))
        self.refuse("inspect", "bad.toml", says=["bad.toml:6:", "'cell'"])

    def test_a_full_disk(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full here")
        self.write("drop.toml", DROP)
        for option in ("--metrics", "--checkpoint"):
            done = self.run_program("simulate", "drop.toml", "--frames", "2", option, "/dev/full")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("/dev/full", done.stderr)

    def test_built_in_scenes_run(self):
        names = [line.split()[0] for line in self.succeed("demo").splitlines()
                 if line and not line.startswith(("gallery", "run"))]
        self.assertGreaterEqual(len(names), 7)
        for name in names:
            with self.subTest(scene=name):
                self.succeed("demo", name, "-o", "out", "--frames", "2", "--size", "160x90")
                files = self.files()
                for made in ("picture.png", "report.html", "metrics.json", f"{name}.glb", "frames/frame_0002.ply"):
                    self.assertIn(f"out/{name}/{made}", files)
                page = files[f"out/{name}/report.html"].decode()
                metrics = json.loads(files[f"out/{name}/metrics.json"])
                self.assertIn(metrics["summary"]["state_hash"], page)


DATA = pathlib.Path(os.environ.get("LITHE_DATA", "")) / "meshes"


@unittest.skipUnless(os.environ.get("LITHE_DATA") and DATA.exists(), "no data set; set LITHE_DATA to run these tests")
class RealMeshes(ProgramTest):
    def test_meshes_of_every_size_fall_and_stay_whole(self):
        for name in ("spot.obj", "starfish.obj"):
            with self.subTest(mesh=name):
                run = self.succeed_json("simulate", DATA / name, "--frames", "12", "--tets", "2000", "--json")
                self.assertEqual(run["summary"]["frames"], 12)
                self.assertEqual(run["summary"]["halved_steps"], 0)
