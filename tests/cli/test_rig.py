import json
import os
import pathlib
import struct
import unittest

from program import CUBE, ProgramTest

ARM = """\
joint shoulder at 0 1 0 radius 0.12
joint elbow of shoulder at 0.5 0 0 radius 0.12
joint hand of elbow at 0.5 0 0 radius 0.12
"""

WAVE = """\
HIERARCHY
ROOT shoulder
{
  OFFSET 0 1 0
  CHANNELS 3 Zrotation Xrotation Yrotation
  JOINT elbow
  {
    OFFSET 0.5 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0.5 0 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.5
0 0 0 0 0 0
0 0 0 90 0 0
"""


def read_glb(path):
    """The JSON and the bytes of a .glb."""
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20:20 + length]), data[28 + length:]


def glb_of(document, binary=b""):
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    if binary:
        chunks += struct.pack("<II", len(binary), 0x004E4942) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


class Rig(ProgramTest):
    def make_arm(self):
        """An arm with weights and a clip, as glTF."""
        self.write("arm.shape", ARM)
        self.write("wave.bvh", WAVE)
        return self.succeed("rig", "arm.shape", "--clip", "wave.bvh", "--tets", "2000", "-o", "arm.glb")

    def inspected(self, name):
        return self.succeed_json("inspect", name, "--json")

    def test_a_shape_becomes_a_skinned_character(self):
        self.assertIn("weights of", self.make_arm())
        found = self.inspected("arm.glb")
        self.assertEqual(found["kind"], "character")
        self.assertLessEqual(found["influences"], 4)
        self.assertTrue({"shoulder", "elbow", "hand"} <= {joint["name"] for joint in found["joints"]})
        self.assertEqual([clip["name"] for clip in found["clips"]], ["wave"])
        self.assertAlmostEqual(found["clips"][0]["duration"], 0.5)
        self.assertTrue(found["closed"]["was_closed"])

    def test_text_rigs_hold_the_same_character(self):
        self.make_arm()
        self.succeed("rig", "arm.glb", "-o", "text.skel.txt")
        self.assertTrue({"text.skel.txt", "text.obj", "text.weights.txt", "text.wave.anim.txt"} <= set(self.files()))
        one, other = self.inspected("arm.glb"), self.inspected("text.skel.txt")
        self.assertEqual([j["name"] for j in one["joints"]], [j["name"] for j in other["joints"]])
        self.assertEqual(one["triangles"], other["triangles"])
        self.assertAlmostEqual(other["clips"][0]["duration"], 0.5, places=1)

    def test_a_chain_is_fitted_into_a_capsule_and_can_be_edited(self):
        self.succeed("mesh", "--make", "capsule:radius=0.1,length=1", "-o", "worm.obj")
        self.succeed("rig", "worm.obj", "--fit", "chain", "--chain-joints", "4", "--tets", "1000", "-o", "worm.skel.txt")
        joints = [line.split() for line in (self.folder / "worm.skel.txt").read_text().splitlines()
                  if line and not line.startswith(("#", "joints"))]
        self.assertGreaterEqual(len(joints), 4)
        for joint in joints:
            self.assertLess(abs(float(joint[3])), 0.05)  # on the axis
            self.assertLess(abs(float(joint[5])), 0.05)
        self.succeed("rig", "worm.obj", "--skeleton", "worm.skel.txt", "--tets", "1000", "-o", "worm.glb")
        self.assertEqual(len(self.inspected("worm.glb")["joints"]) >= 4, True)

    def test_domains_by_bone(self):
        self.make_arm()
        self.succeed("rig", "arm.glb", "-o", "copy.glb", "--tets", "1500", "--domains", "parts.mesh")
        self.assertGreaterEqual(self.succeed_json("inspect", "parts.mesh", "--json")["regions"], 2)
        sizes = []
        for overlap in ("0.6", "0.05"):
            self.succeed("rig", "arm.glb", "-o", "copy.glb", "--tets", "1500", "--domains", "parts.txt", "--overlap", overlap)
            lines = (self.folder / "parts.txt").read_text().splitlines()
            sizes.append(sum(int(line.split()[2]) for line in lines[2::2]))
        self.assertLess(sizes[0], sizes[1])

    def test_render_draws_a_moment_and_the_bones(self):
        self.make_arm()
        small = ("--size", "96x64", "--samples", "4")
        self.succeed("render", "arm.glb", "--time", "0", "-o", "rest.png", *small)
        self.succeed("render", "arm.glb", "--clip", "wave", "--time", "0.5", "-o", "bent.png", *small)
        self.succeed("render", "wave.bvh", "--time", "0.5", "-o", "bones.png", *small)
        rest, bent = (self.folder / "rest.png").read_bytes(), (self.folder / "bent.png").read_bytes()
        self.assertNotEqual(rest, bent)

    def test_mesh_takes_the_surface(self):
        self.make_arm()
        self.succeed("mesh", "arm.glb", "-o", "arm.obj")
        self.succeed("mesh", "arm.glb", "--wrap", "--tets", "--count", "1000", "-o", "arm.mesh")

    def test_simulate_plays_it_and_writes_the_same_file_again(self):
        self.make_arm()
        said = self.succeed("simulate", "arm.glb", "--frames", "4", "-o", "again.glb")
        self.assertIn("wrote again.glb", said)
        before, _ = read_glb(self.folder / "arm.glb")
        after, _ = read_glb(self.folder / "again.glb")
        self.assertEqual([a["name"] for a in after["animations"]], ["simulation"])
        count = len(before["accessors"])
        for one, other in zip(before["accessors"], after["accessors"][:count]):
            self.assertEqual({k: v for k, v in one.items()}, {k: v for k, v in other.items()})
        self.assertEqual(before["materials"], after["materials"][:len(before["materials"])])
        self.assertIn("ball", [node.get("name") for node in after["nodes"]])

    def test_a_scene_with_a_character(self):
        self.make_arm()
        self.write("scene.toml", """\
[time]
frames = 3
[[character]]
file = "arm.glb"
skinning = "dual_quaternion"
[[body]]
shape = "box:size=0.2x0.2x0.2"
cell = 0.1
position = [0.5, 1.3, 0]
""")
        found = self.succeed_json("inspect", "scene.toml", "--json")
        self.assertEqual(found["obstacles"], ["character"])
        self.succeed("simulate", "scene.toml", "-o", "frames")


class RigBadInput(ProgramTest):
    def test_a_mesh_without_a_skeleton(self):
        self.write("cube.obj", CUBE)
        self.refuse("rig", "cube.obj", "-o", "cube.glb", says=["cube.obj", "has no skeleton", "--fit"])

    def test_an_ending_that_no_character_has(self):
        self.write("cube.obj", CUBE)
        self.refuse("rig", "cube.obj", "--fit", "chain", "-o", "cube.fbx", says=["cube.fbx", "unknown ending"])

    def test_options_that_have_no_use(self):
        self.write("cube.obj", CUBE)
        self.refuse("render", "cube.obj", "--time", "1", "-o", "a.png", says=["for characters"])
        self.refuse("simulate", "cube.obj", "--clip", "walk", says=["no skeleton"])
        self.refuse("rig", "cube.obj", "--fit", "biped", "--chain-joints", "4", "-o", "a.glb", says=["--fit chain"])

    def test_a_clip_that_is_not_there(self):
        self.write("wave.bvh", WAVE)
        self.refuse("render", "wave.bvh", "--clip", "wav", "-o", "a.png", says=["wave"])

    def test_a_bvh_has_no_surface(self):
        self.write("wave.bvh", WAVE)
        self.refuse("mesh", "wave.bvh", "-o", "a.obj", says=["wave.bvh", "no surface"])
        self.refuse("simulate", "wave.bvh", says=["no surface"])

    def test_a_broken_bvh(self):
        self.write("bad.bvh", WAVE.replace("Frames: 2", "Frames: 3"))
        self.refuse("inspect", "bad.bvh", says=["bad.bvh:"])

    def test_gltf_that_breaks_the_specification(self):
        document = {"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"children": [7]}]}
        self.write("bad.glb", glb_of(document))
        self.refuse("inspect", "bad.glb", says=["bad.glb", "/nodes/0/children/0"])

    def test_draco_is_refused_by_name(self):
        document = {"asset": {"version": "2.0"}, "extensionsRequired": ["KHR_draco_mesh_compression"],
                    "extensionsUsed": ["KHR_draco_mesh_compression"]}
        self.write("packed.glb", glb_of(document))
        self.refuse("inspect", "packed.glb", says=["KHR_draco_mesh_compression"])

    def test_truncated_files(self):
        self.write("cut.glb", glb_of({"asset": {"version": "2.0"}})[:-5])
        self.refuse("inspect", "cut.glb", says=["cut.glb"])
        self.write("no.gltf", "{\"asset\": ")
        self.refuse("inspect", "no.gltf", says=["no.gltf"])


class RigData(ProgramTest):
    """Characters of others."""

    def file(self, name):
        path = pathlib.Path(os.environ.get("LITHE_DATA", "")) / "rigs" / name
        if not path.exists():
            self.skipTest(f"no {name}; set LITHE_DATA to run this test")
        return path

    def test_every_character_is_explained_and_drawn(self):
        for name, joints in (("Cow.glb", 42), ("CesiumMan.glb", 19), ("RiggedFigure.glb", 19)):
            found = self.succeed_json("inspect", self.file(name), "--json")
            self.assertEqual(sum(joint["bone"] for joint in found["joints"]), joints)
            self.assertGreater(found["closed"]["volume"], 0.0)
            self.succeed("render", self.file(name), "--time", "0.5", "-o", "a.png", "--size", "96x64", "--samples", "4")

    def test_the_cow_comes_out_as_it_went_in(self):
        source = self.file("Cow.glb")
        self.succeed("simulate", source, "--frames", "3", "-o", "again.glb")
        before, binary = read_glb(source)
        after, binary_after = read_glb(self.folder / "again.glb")
        for key in ("materials", "meshes"):
            self.assertEqual(before[key], after[key][:len(before[key])])
        for one, other in zip(before["skins"], after["skins"]):  # its root is wrong, and left out
            self.assertEqual(one["joints"], other["joints"])
            self.assertEqual(one["inverseBindMatrices"], other["inverseBindMatrices"])
        for one, other in zip(before["bufferViews"], after["bufferViews"]):
            first, second = one.get("byteOffset", 0), other.get("byteOffset", 0)
            self.assertEqual(binary[first:first + one["byteLength"]], binary_after[second:second + other["byteLength"]])


if __name__ == "__main__":
    unittest.main()
