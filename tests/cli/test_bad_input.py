import struct
import unittest

from program import CUBE, GPL, ProgramTest

TET = """\
MeshVersionFormatted 2
Dimension 3
Vertices
4
0 0 0 0
1 0 0 0
0 1 0 0
0 0 1 0
Tetrahedra
1
{} 0
End
"""


class BadInput(ProgramTest):
    """One clear message with file and place, exit 2, nothing written."""

    def refuse_mesh(self, content, *says, name="bad.obj", arguments=()):
        self.write(name, content)
        for command in (["mesh", name, "-o", "out.mesh", *arguments], ["inspect", name]):
            self.refuse(*command, says=[name, *says])
            if arguments:
                break

    def test_missing_and_empty_file(self):
        self.refuse("mesh", "none.obj", "-o", "out.ply", says=["none.obj", "does not exist"])
        self.refuse_mesh("", "empty")

    def test_truncated_binary(self):
        self.write("cube.obj", CUBE)
        for ending in ("ply", "stl"):
            self.succeed("mesh", "cube.obj", "-o", f"cube.{ending}")
            whole = self.files()[f"cube.{ending}"]
            self.refuse_mesh(whole[:-20], "byte", name=f"cut.{ending}")

    def test_coordinates_that_are_no_numbers(self):
        self.refuse_mesh(CUBE.replace("v 1 1 1", "v 1 nan 1"), ":7", "nan")
        self.refuse_mesh(CUBE.replace("v 1 1 1", "v 1 inf 1"), ":7", "inf")
        self.refuse_mesh(CUBE.replace("v 1 1 1", "v 1 1e400 1"), ":7")
        self.refuse_mesh(CUBE.replace("v 1 1 1", "v 1 one 1"), ":7", "one")

    def test_index_out_of_range(self):
        self.refuse_mesh(CUBE.replace("f 5 6 7 8", "f 5 6 7 9"), ":10", "9", "8")

    def test_zero_faces(self):
        self.refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "neither triangles nor tetrahedra")

    def test_inverted_tets_with_an_offer_to_flip(self):
        self.write("bad.mesh", TET.format("1 2 4 3"))
        self.refuse("mesh", "bad.mesh", "-o", "out.vtu", says=["bad.mesh", "inverted", "--flip-tets"])
        self.succeed("mesh", "bad.mesh", "--flip-tets", "-o", "out.vtu")
        self.assertEqual(self.succeed_json("inspect", "out.vtu", "--json")["inverted_tets"], 0)
        self.assertEqual(self.succeed_json("inspect", "bad.mesh", "--json")["inverted_tets"], 1)

    @unittest.skipUnless(GPL, "this build has no CGAL")
    def test_open_and_non_manifold_surfaces_for_the_delaunay_mesher(self):
        delaunay = ("--tets", "--mesher", "delaunay", "--count", "1000")
        self.refuse_mesh(CUBE.replace("f 5 6 7 8\n", ""), "open", "--fill-holes", arguments=delaunay)
        self.refuse_mesh(CUBE + "v 2 2 2\nf 1 2 9\n", "manifold", arguments=delaunay)

    def test_unknown_ending(self):
        self.write("cube.obj", CUBE)
        self.refuse("mesh", "cube.obj", "-o", "cube.xyz", says=["cube.xyz", ".obj"])
        self.refuse_mesh(CUBE, ".obj", name="cube.objj")

    def test_output_that_cannot_be_written(self):
        self.write("cube.obj", CUBE)
        self.refuse("mesh", "cube.obj", "-o", "no/such/folder/out.ply", says=["no/such/folder", "does not exist"])
        self.refuse("mesh", "cube.obj", "-o", "/proc/out.ply", says=["/proc/out.ply"])
        (self.folder / "full.ply").symlink_to("/dev/full")
        done = self.run_program("mesh", "cube.obj", "-o", "full.ply")
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left", done.stderr)

    def test_a_header_that_claims_ten_gigabytes(self):
        header = ("ply\nformat binary_little_endian 1.0\nelement vertex 400000000\nproperty double x\nproperty double y\n"
                  "property double z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n")
        self.refuse_mesh(header.encode() + bytes(100), "400000000", name="huge.ply")
        self.refuse_mesh(bytes(80) + struct.pack("<I", 200000000) + bytes(50), "200000000", name="huge.stl")

    def test_numbers_that_make_no_sense(self):
        self.write("cube.obj", CUBE)
        for arguments in (["--tets", "--cell", "-1"], ["--tets", "--cell", "nan"], ["--tets", "--count", "0"],
                          ["--scale", "0"], ["--cell", "0.1", "--count", "10", "--tets"], ["--simplify", "-3"]):
            done = self.run_program("mesh", "cube.obj", *arguments, "-o", "out.mesh")
            self.assertEqual(done.returncode, 2, arguments)
            self.assertNotIn("out.mesh", self.files())
        self.refuse("mesh", "cube.obj", "--tets", "--cell", "1e-6", "-o", "out.mesh", says=["cell"])
        self.refuse("mesh", "cube.obj", "--tets", "--cell", "50", "-o", "out.mesh", says=["cell"])
