from clients import CLIENTS, HERE, ClientTest


class GltfValidator(ClientTest):
    def assert_valid(self, name, draw_calls, morphs=True):
        self.need("node")
        if not (CLIENTS / "node_modules/gltf-validator").exists():
            self.skipTest("gltf-validator is not installed; tools/bootstrap.sh clients installs it")
        report = self.ask("node", HERE / "validate_gltf.cjs", CLIENTS, name)
        print("gltf-validator", report["validatorVersion"], name, report["issues"])
        messages = [m for m in report["issues"]["messages"]]
        self.assertEqual(report["issues"]["numErrors"], 0, messages)
        self.assertEqual(report["issues"]["numWarnings"], 0, messages)
        self.assertEqual(report["info"]["animationCount"], 1)
        self.assertEqual(report["info"]["hasMorphTargets"], morphs)
        self.assertEqual(report["info"]["drawCallCount"], draw_calls)

    def test_finds_nothing_wrong(self):
        self.assert_valid("sample.glb", 4)

    def test_finds_nothing_wrong_with_a_body_of_its_own_shapes(self):
        self.assert_valid("reduced.glb", 1)

    def test_finds_nothing_wrong_with_a_character(self):
        self.assert_valid("character.glb", 1, morphs=False)
