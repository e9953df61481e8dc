"""The runner's proof that the machine is quiet, and the command line of `harden`, on this computer: with a profile
that asks for nothing, so that nothing of it is changed."""

import json
import os

import harness

EMPTY = {
    "version": 1,
    "name": "empty",
    "knobs": [],
    "allow_timers": [],
    "cloud_init_wait_ms": 0,
    "cloud_init_marker": "",
    "dpkg_wait_ms": 0,
}


class Harden(harness.AgentTest):
    def harden(self, verb, profile=EMPTY, check=True):
        stdin = json.dumps(profile).encode() if profile is not None else b""
        return self.site.call("harden", verb, "--journal", self.journal, stdin=stdin, check=check)

    def setUp(self):
        super().setUp()
        self.journal = f"{self.base}/harden.journal"

    def applied(self):
        report = json.loads(self.harden("apply").stdout)
        if not report["proof"]["ok"]:
            self.skipTest(f"this computer is not quiet: {report['proof']['problems'][0]}")

    def run_with_gate(self, script, meanwhile=lambda: None):
        self.site.job([[self.site.trial(1, script)]], harden=EMPTY | {"journal": self.journal})
        runner = self.site.start()
        meanwhile()
        code = runner.wait(60)
        proofs = [(e["when"], e["ok"]) for e in self.site.events("quiet_proof")]
        return code, proofs, self.site.events("run_done")[0]

    def test_quiet_at_both_ends(self):
        self.applied()
        code, proofs, done = self.run_with_gate("true")
        self.assertEqual((code, proofs, done["reason"]), (0, [("start", True), ("end", True)], ""))

    def test_not_quiet_at_the_start_runs_nothing(self):
        code, proofs, done = self.run_with_gate("true")
        self.assertEqual((code, proofs), (5, [("start", False)]))
        self.assertIn("nothing was applied", done["reason"])
        self.assertEqual(self.site.events("trial_started"), [])

    def test_not_quiet_at_the_end_keeps_the_trials(self):
        self.applied()

        def meanwhile():
            self.site.wait_event("trial_started")
            os.unlink(self.journal)

        code, proofs, done = self.run_with_gate("sleep 2", meanwhile=meanwhile)
        self.assertEqual((code, proofs), (5, [("start", True), ("end", False)]))
        self.assertIn("not quiet (end)", done["reason"])
        self.assertEqual([e["verdict"] for e in self.site.events("trial_finished")], ["ok"])

    def test_a_job_with_a_broken_profile_is_no_success(self):
        self.site.job([[self.site.trial(1, "true")]], harden={"version": 1, "journal": self.journal})
        self.assertEqual(self.site.run(), 5)

    def test_command_line(self):
        for verb, profile, code in [("erase", EMPTY, 2), ("apply", None, 2), ("show", EMPTY | {"version": 9}, 2)]:
            self.assertEqual(self.harden(verb, profile, check=False).returncode, code, verb)
        knobs = [{"knob": "file", "target": "/etc/passwd", "requested": "x"}]
        self.assertEqual(self.harden("apply", EMPTY | {"knobs": knobs}, check=False).returncode, 2)
        report = json.loads(self.harden("undo", None).stdout)
        self.assertEqual([row["status"] for row in report["rows"]], ["absent"])
        self.assertTrue(report["proof"]["ok"])
        self.applied()
        self.assertTrue(json.loads(self.harden("undo", None).stdout)["proof"]["ok"])
        self.assertFalse(os.path.exists(self.journal))


if __name__ == "__main__":
    harness.main()
