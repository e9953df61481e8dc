"""benchagent build: a recipe on the machine, contained as a trial is."""

import json
import os
import shutil
import tempfile
import time
import unittest

from harness import ROOT, Site, needs_root

GOOD = 'mkdir "$BENCHCTL_OUT/bin"; echo "$BENCHCTL_ARCH $BENCHCTL_ISA" >"$BENCHCTL_OUT/bin/program"; id -u; echo done'


class Build(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="benchctl-agent-build-")
        os.chmod(self.folder, 0o755)
        self.site = Site(self.folder + "/W")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def build(self, script=None, timeout=60, isa="x86-64"):
        if script is not None:
            self.site.ship({"build.sh": (("exec 2>&1\n" + script).encode(), False)})
        words = ["--dir", self.site.work, "--sources", self.site.bundle, "--arch", "x86_64", "--isa", isa]
        return json.loads(self.site.call("build", *words, "--timeout", timeout).stdout)

    def leftovers(self):
        return sorted(p.name for p in (self.site.work / "bundles").iterdir() if p.name.startswith("built-"))

    def test_good_is_a_bundle_and_the_same_again_is_it(self):
        mark = self.folder + "/ran"
        open(mark, "w").close()
        os.chmod(mark, 0o666)
        made = self.build(f"echo x >>{mark}\n{GOOD}; echo 'cc V=1' >$BENCHCTL_OUT/toolchains.txt")
        self.assertTrue(made["ok"], made)
        program = self.site.work / "bundles" / made["sha256"] / "bin/program"
        self.assertEqual(program.read_text(), "x86_64 x86-64\n")
        self.assertEqual(program.stat().st_uid, os.geteuid(), "it is the agent's, not the recipe's")
        self.assertEqual(made["toolchains"], "cc V=1\n")
        uid = int(made["log"].splitlines()[0])
        self.assertEqual(60706 <= uid <= 61183, ROOT)
        again = self.build()
        self.assertEqual((again["again"], again["sha256"]), (True, made["sha256"]))
        self.assertNotEqual(self.build(isa="x86-64-v2")["sha256"], made["sha256"])
        with open(mark) as ran:
            self.assertEqual(ran.read(), "x\nx\n")
        self.assertEqual(self.leftovers(), [])

    def test_failures_say_why_and_are_tried_again(self):
        failed = self.build("echo first; printf 'no \\033[1msuch\\033[0m header\\n'; exit 3")
        self.assertFalse(failed["ok"])
        self.assertIn("exit", failed["why"])
        self.assertIn("no \\x1b[1msuch\\x1b[0m header", failed["why"])
        self.assertFalse(failed["tools_missing"])
        self.assertIn("first\n", failed["log"])
        missing = self.build("echo gcc is missing: apt-get install gcc; exit 69")
        self.assertTrue(missing["tools_missing"])
        self.assertEqual(missing["why"], "gcc is missing: apt-get install gcc")
        self.assertIn("made nothing", self.build("true")["why"])
        self.assertFalse(self.build()["ok"], "not remembered")
        self.assertEqual(self.leftovers(), [])

    def test_over_its_time_nothing_of_it_is_left(self):
        begin = time.monotonic()
        late = self.build("setsid sleep 4242 & sleep 4242", timeout=1)
        self.assertFalse(late["ok"])
        self.assertLess(time.monotonic() - begin, 60)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as words:
                    self.assertNotIn(b"sleep\x004242", words.read())
            except OSError:
                continue

    def test_links_out_of_the_result_are_refused(self):
        made = self.build('ln -s /etc/passwd "$BENCHCTL_OUT/passwd"')
        self.assertFalse(made["ok"])
        self.assertIn("its result cannot be taken", made["why"])
        self.assertEqual(self.leftovers(), [])

    def test_a_call_that_was_killed_is_followed_by_one_that_begins_anew(self):
        self.site.ship({"build.sh": (b'[ ! -e "$BENCHCTL_OUT/half" ] || exit 5\n' + GOOD.encode(), False)})
        folder = self.site.work / "builds" / (self.site.bundle[:16] + "-x86-64")
        (folder / "out").mkdir(parents=True)
        (folder / "out/half").write_text("of an earlier call\n")
        self.assertTrue(self.build()["ok"])

    @needs_root
    def test_it_cannot_write_where_it_must_not(self):
        made = self.build(
            f'echo x >{self.site.work}/builds/evil; echo x >$(dirname "$0")/evil; echo x >{self.site.work}/evil; {GOOD}'
        )
        self.assertTrue(made["ok"], made)
        self.assertEqual([str(path) for path in self.site.work.rglob("evil")], [])

    def test_bad_words_are_refused(self):
        self.site.ship({"build.sh": (b"true", False)})
        for words in (("--sources", "../x"), ("--sources", self.site.bundle, "--isa", "../../x")):
            given = {"--dir": self.site.work, "--arch": "x86_64", "--isa": "v2", "--timeout": 5}
            given |= dict(zip(words[::2], words[1::2], strict=True))
            done = self.site.call("build", *[w for pair in given.items() for w in pair], check=False)
            self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    unittest.main()
