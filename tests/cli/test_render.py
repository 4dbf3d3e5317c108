from program import CUBE, ProgramTest


class Render(ProgramTest):
    def test_a_picture_of_a_cube(self):
        self.write("cube.obj", CUBE)
        self.succeed("render", "cube.obj", "-o", "cube.png", "--size", "160x90")
        png = self.files()["cube.png"]
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual((int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")), (160, 90))

    def test_refuses_what_it_cannot_draw(self):
        self.write("cube.obj", CUBE)
        self.refuse("render", "none.obj", "-o", "a.png", says=["none.obj"])
        self.refuse("render", "cube.obj", "-o", "a.gif", says=["a.gif", ".png"])
        self.refuse("render", "cube.obj", "-o", "a.png", "--color-by", "heat", says=["heat"])
