"""Built-in scenes with real meshes in them, from the data set; skipped where it is not there."""
import json
import os
import pathlib
import unittest

from program import ProgramTest

DATA = pathlib.Path(os.environ.get("LITHE_DATA", ""))
SCENES = pathlib.Path(__file__).parents[2] / "scenes"


def scene_with(name, body, table):
    """A built-in scene in which the table of one body is another."""
    text = (SCENES / f"{name}.toml").read_text()
    tables = text.split("\n\n[[")
    [place] = [k for k, old in enumerate(tables) if old.startswith(f'body]]\nname = "{body}"')]
    tables[place] = f'body]]\nname = "{body}"\n{table}'
    return "\n\n[[".join(tables)


class Data(ProgramTest):
    def file(self, name):
        path = DATA / name
        if not path.exists():
            self.skipTest(f"no {name} in the data set")
        return path

    def simulate(self, scene):
        """Without restitution, muscles and overlaps at the start nothing brings energy."""
        self.write("scene.toml", scene)
        said = self.succeed("simulate", "scene.toml", "-o", "out.glb", "--metrics", "metrics.json")
        self.assertNotIn("overlaps", said)
        metrics = json.loads((self.folder / "metrics.json").read_text())
        energy = metrics["summary"]["energy"]
        self.assertEqual(metrics["summary"]["halved_steps"], 0)
        self.assertLess(energy["max"], energy["first"] * (1 + 1e-3))
        self.assertLess(energy["last"], 0.5 * energy["first"])
        return metrics

    def test_a_bunny_rolls_into_ten_dominoes_and_all_fall(self):
        bunny = self.file("meshes/stanford/bunny_6k.obj")
        metrics = self.simulate(scene_with("dominoes", "biped", f"""\
mesh = "{bunny}"
scale = 0.7
position = [-2.9, 2.0, 0]
rotation = [0, 90, -60]
velocity = [3, -0.5, 0]
angular_velocity = [0, 0, "-4 rad/s"]
material = {{ kind = "linear", young = "400 kPa", poisson = 0.4, density = 1000 }}
reduce = {{ rank = 20 }}
friction = 0.2
"""))
        self.assertLess(metrics["summary"]["max_penetration"], 0.02)
        for k in range(10):
            name = "domino" if k == 0 else f"domino {k + 1}"
            turning = max(abs(step["angular_momentum_of"][name][2]) for step in metrics["steps"])
            self.assertGreater(turning, 1.0, name)  # kg m^2/s; it weighs 16 kg and is 0.8 m high

    def tumble(self, model, height):
        metrics = self.simulate(scene_with("tumble", "person", f"""\
model = "{model}"
position = [0, {height}, -0.35]
rotation = [35, 0, 0]
velocity = [0, 0, 2.2]
friction = 0.4
self_contact = true
"""))
        self.assertLess(metrics["summary"]["max_penetration"], 0.1)

    def test_a_man_of_deformable_bones_tumbles_down_the_stairs(self):
        self.succeed("prepare", self.file("rigs/CesiumMan.glb"), "--bones", "-o", "man.lithe")
        self.tumble("man.lithe", 1.92)

    def test_an_armadillo_gets_bones_and_tumbles_down_the_stairs(self):
        mesh = self.file("meshes/stanford/armadillo_52k.obj")
        self.succeed("rig", mesh, "--fit", "biped", "--scale", "0.012", "-o", "armadillo.glb")
        self.succeed("prepare", "armadillo.glb", "--bones", "-o", "armadillo.lithe")
        self.tumble("armadillo.lithe", 2.75)


if __name__ == "__main__":
    unittest.main()
