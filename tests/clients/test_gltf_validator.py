from clients import CLIENTS, HERE, ClientTest


class GltfValidator(ClientTest):
    def test_finds_nothing_wrong(self):
        self.need("node")
        if not (CLIENTS / "node_modules/gltf-validator").exists():
            self.skipTest("gltf-validator is not installed; tools/bootstrap.sh clients installs it")
        report = self.ask("node", HERE / "validate_gltf.cjs", CLIENTS, "sample.glb")
        print("gltf-validator", report["validatorVersion"], report["issues"])
        messages = [m for m in report["issues"]["messages"]]
        self.assertEqual(report["issues"]["numErrors"], 0, messages)
        self.assertEqual(report["issues"]["numWarnings"], 0, messages)
        self.assertEqual(report["info"]["animationCount"], 1)
        self.assertTrue(report["info"]["hasMorphTargets"])
        self.assertEqual(report["info"]["drawCallCount"], 4)
