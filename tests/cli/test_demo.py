from program import ProgramTest


class Demo(ProgramTest):
    def test_lists_and_refuses(self):
        self.assertIn("gallery", self.succeed("demo"))
        self.refuse("demo", "galery", says=["galery", "gallery"])

    def test_gallery_leaves_meshes_and_pictures(self):
        self.succeed("demo", "gallery", "-o", "out", "--size", "320x180")
        files = self.files()
        self.assertIn("out/gallery.png", files)
        self.assertIn("out/inside.png", files)
        for name in ("hand", "octopus", "cow"):
            self.assertIn(f"out/{name}.ply", files)
            self.assertIn(f"out/{name}.mesh", files)
