import math

from clients import HERE, ClientTest


def in_order(found, wanted):
    """Of each wanted point, the place of the nearest of those found: Blender writes vertices in an order of its own."""
    return [min(range(len(found)), key=lambda k: math.dist(found[k], point)) for point in wanted]


class Blender(ClientTest):
    def run_blender(self, script, *arguments):
        self.need("blender")
        return self.ask("blender", "-b", "--factory-startup", "--python-exit-code", "3", "-P", HERE / script, "--",
                        *arguments)

    def test_plays_the_glb(self):
        found = self.run_blender("blender_glb.py", "sample.glb", self.expected["fps"], "0,10,29")
        print("Blender", found["version"], "shape keys", found["shape_keys"])
        self.assertEqual(sorted(found["objects"]), ["box", "floor", "soft block", "torus"])
        for frame in ("0", "10", "29"):
            for body, size in (("torus", 2.7), ("soft block", 1.3), ("box", 1.8), ("floor", 11.4)):
                self.assert_positions(found["positions"][frame][body], body, frame, 1.1e-4 * size)
        self.assertGreater(found["shape_keys"]["torus"], 1)
        self.assertTrue(found["smooth"]["torus"])

    def test_plays_a_body_of_its_own_shapes(self):
        found = self.run_blender("blender_glb.py", "reduced.glb", self.reduced["fps"], "0,10,29")
        self.assertEqual(found["shape_keys"], {"reduced": 5})
        for frame in ("0", "10", "29"):  # single precision, at up to three metres from the origin
            self.assert_positions(found["positions"][frame]["reduced"], "reduced", frame, 3e-6, self.reduced)

    def test_plays_a_character(self):
        found = self.run_blender("blender_glb.py", "character.glb", self.character["fps"], "0,10,29")
        self.assertEqual(found["objects"], ["surface"])
        for frame in ("0", "10", "29"):
            self.assert_positions(found["positions"][frame]["surface"], "surface", frame, 1e-5, self.character)

    def test_takes_flesh_there_and_back(self):
        self.run_blender("blender_back.py", "flesh.glb", self.flesh["fps"], "back.glb")
        for file in ("flesh.glb", "back.glb"):
            found = self.run_blender("blender_glb.py", file, self.flesh["fps"], "0,10,29")
            (skin,) = found["objects"]  # Blender gives the node's name to an empty when the weights of its shapes move
            self.assertGreater(found["shape_keys"][skin], 0)
            places = in_order(found["positions"]["0"][skin], self.flesh["positions"]["0"]["surface"])
            for frame in ("0", "10", "29"):  # a thousandth of its size is what the shapes may miss
                now = found["positions"][frame][skin]
                self.assert_positions([now[k] for k in places], "surface", frame, 1e-3, self.flesh)

    def test_replays_the_point_cache(self):
        for body, name in (("torus", "sample_torus"), ("soft block", "sample_soft_block")):
            found = self.run_blender("blender_pc2.py", f"{name}.obj", f"{name}.pc2", "0,10,29")
            for frame in ("0", "10", "29"):
                worst = self.assert_positions(found["positions"][frame], body, frame, 2e-6)  # single precision
                print("Blender", found["version"], "mesh cache", body, "frame", frame, "error", worst)
                self.assertEqual(len(found["positions"][frame]), len(self.expected["positions"][frame][body]))
