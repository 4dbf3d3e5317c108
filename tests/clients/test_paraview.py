from clients import HERE, ClientTest


class ParaView(ClientTest):
    def test_reads_times_and_fields(self):
        for program in ("pvbatch", "xvfb-run", "xauth"):
            self.need(program)
        found = self.ask("xvfb-run", "-a", "pvbatch", HERE / "paraview_pvd.py", "sample.pvd")
        print("ParaView", found["version"], {k: v for k, v in found.items() if k not in ("version", "times")})
        fps, frames = self.expected["fps"], self.expected["frames"]
        self.assertEqual(len(found["times"]), frames)
        for frame, time in enumerate(found["times"]):
            self.assertAlmostEqual(time, frame / fps, places=12)
        self.assertEqual(found["blocks"], ["torus", "soft block", "box", "floor"])
        block = self.expected["block"]
        self.assertEqual(found["tets"], block["tets"])
        self.assertAlmostEqual(found["displacement"], block["displacement"], places=9)
        self.assertAlmostEqual(found["speed"], block["speed"], places=9)
        self.assertEqual(found["regions"], [0, 1])
