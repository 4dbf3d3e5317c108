import re

from program import ProgramTest


class Usage(ProgramTest):
    def test_version_is_semantic(self):
        self.assertRegex(self.succeed("--version"), r"^lithe \d+\.\d+\.\d+ ")

    def test_help_lists_every_command_and_each_has_help(self):
        commands = re.findall(r"^  (\w+) ", self.succeed("--help").split("Subcommands:")[1], re.M)
        always = {"demo", "mesh", "prepare", "inspect", "simulate", "render", "rig", "bench"}
        self.assertEqual(set(commands) - {"view"}, always)  # a build without Boost has no viewer
        for command in commands:
            text = self.succeed(command, "--help")
            for option in ("--quiet", "--threads"):
                self.assertIn(option, text)

    def test_bad_usage_ends_with_2(self):
        for arguments in ([], ["fly"], ["mesh", "--cell"], ["mesh", "a.obj", "--threads", "0"], ["bench", "nothing"]):
            self.assertEqual(self.run_program(*arguments).returncode, 2, arguments)
