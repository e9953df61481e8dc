"""Trials that misbehave: each gets its own verdict, nothing of them survives, and nobody else's results change."""

import os
import pathlib
import re
import shutil
import subprocess
import time

import harness
from harness import HEADER, AgentTest, needs_root


class Verdicts(AgentTest):
    def test_exit_codes_and_signals(self):
        cases = {
            "exit 9": ("exit", 9, "", "exit 9"),
            "kill -9 $$": ("signal", None, "SIGKILL", "ended by SIGKILL"),
            "kill -ILL $$": ("signal", None, "SIGILL", "ended by SIGILL"),
            "kill -SEGV $$": ("signal", None, "SIGSEGV", "ended by SIGSEGV"),
            "echo no such column >&2; exit 3": ("exit", 3, "", "exit 3: no such column"),
            "exit 2": ("usage", 2, "", "refused its arguments"),
            "printf 'a\\n\\033[31mneeds avx2\\n' >&2; exit 75": ("unsupported", 75, "", "\\x1b[31mneeds avx2"),
            "kill -PIPE $$": ("signal", None, "SIGPIPE", "ended by SIGPIPE"),
        }
        trials = [self.site.trial(n, script) for n, script in enumerate(cases, 1)]
        self.site.job([trials])
        self.assertEqual(self.site.run(), 0, self.site.log())
        for number, (verdict, code, signal, reason) in enumerate(cases.values(), 1):
            record = self.site.record(number)
            self.assertEqual((record["verdict"], record["exit_code"], record["signal"]), (verdict, code, signal))
            self.assertIn(reason, record["reason"])

    def test_missing_binary_and_wrong_file(self):
        self.site.ship({"bin/text": (b"\0\0 no program", True), "bin/plain": (b"#!/bin/sh\n", False)})
        runs = [[{"name": "run", "argv": [name]}] for name in ("bin/absent", "bin/text", "bin/plain")]
        self.site.job([[self.site.trial(n, phases=run) for n, run in enumerate(runs, 1)]])
        self.assertEqual(self.site.run(), 0, self.site.log())
        for number, text in enumerate(("No such file", "Exec format", "Permission denied"), 1):
            record = self.site.record(number)
            self.assertEqual(record["verdict"], "missing")
            self.assertIn(text, record["reason"])
            self.assertIn(f"/bundles/{self.site.bundle}/{runs[number - 1][0]['argv'][0]}", record["reason"])

    def test_half_a_row_passes_through(self):
        record = self.verdict(f"printf '%s' '{HEADER}c,latency,us,1,5\nc,lat'")
        self.assertEqual(record["verdict"], "ok")
        self.assertEqual(self.site.stdout(1).decode(), HEADER + "c,latency,us,1,5\nc,lat")

    def test_only_three_descriptors(self):
        record = self.verdict("sleep 2 & ls -l /proc/$!/fd; kill $!; wait")
        self.assertEqual(record["verdict"], "ok")
        links = re.findall(r" (\d+) -> (\S+)", self.site.stdout(1).decode())
        self.assertEqual([number for number, _ in links], ["0", "1", "2"])
        self.assertEqual(links[0][1], "/dev/null")

    def test_limits_and_signals_are_reset(self):
        self.verdict(
            "ulimit -c; grep -E 'SigBlk|SigIgn|NoNewPrivs' /proc/self/status; umask; cat /proc/self/oom_score_adj"
        )
        lines = self.site.stdout(1).decode().split()
        zero = "0" * 16
        self.assertEqual(lines, ["0", "SigBlk:", zero, "SigIgn:", zero, "NoNewPrivs:", "1", "0022", "0"])


class Processes(AgentTest):
    def test_hang_with_escapees_that_ignore_sigterm(self):
        script = (
            "trap '' TERM\n"
            "setsid sh -c \"trap '' TERM; while :; do sleep 1; done\" >/dev/null 2>&1 &\n"
            "setsid setsid sh -c '(sleep 1000 &)' &\n"
            "while :; do sleep 1; done"
        )
        record = self.verdict(script, timeout_ms=1500)
        self.assertEqual((record["verdict"], record["phase"]), ("timeout", "run"))
        self.assertIn("1.50 s", record["reason"])
        self.assertGreaterEqual(record["ended_descendants"], 2)

    def test_sigterm_is_offered_first(self):
        record = self.verdict("trap 'echo bye; exit 0' TERM; while :; do sleep 0.1; done", timeout_ms=1000)
        self.assertEqual(record["verdict"], "timeout")
        self.assertEqual(self.site.stdout(1), b"bye\n")

    def test_a_grandchild_that_holds_stdout(self):
        record = self.verdict("(setsid sleep 1000) & echo row; exit 0")
        self.assertEqual((record["verdict"], record["ended_descendants"]), ("ok", 1))
        self.assertLess(record["wall_ns"], 10_000_000_000)
        self.assertEqual(self.site.stdout(1), b"row\n")

    def test_output_flood_is_bounded_in_file_and_memory(self):
        self.site.job(
            [
                [
                    self.site.trial(1, "seq -f 'case,latency,us,%.0f,lower,check' 10000000; echo done >&2"),
                    self.site.trial(2, "echo fine"),
                ]
            ],
            stdout_cap=4 << 20,
        )
        runner = self.site.start()
        _, status, usage = os.wait4(runner.pid, 0)
        runner.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(runner.returncode, 0, self.site.log())
        record = self.site.record(1)
        self.assertEqual((record["verdict"], record["stdout_bytes"]), ("output_limit", 4 << 20))
        self.assertEqual((self.site.folder(1) / "stdout").stat().st_size, 4 << 20)
        self.assertEqual(self.site.record(2)["verdict"], "ok")
        self.assertLess(usage.ru_maxrss, 32 << 10, "KiB of the agent")

    def test_ten_million_rows_below_the_cap_need_no_memory(self):
        self.site.job(
            [[self.site.trial(1, "yes case,latency,us,1,lower,check | head -n 10000000", timeout_ms=100_000)]],
            stdout_cap=1 << 30,
        )
        runner = self.site.start()
        _, status, usage = os.wait4(runner.pid, 0)
        runner.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(runner.returncode, 0, self.site.log())
        self.assertEqual((self.site.record(1)["verdict"], self.site.record(1)["stdout_bytes"]), ("ok", 300_000_000))
        self.assertLess(usage.ru_maxrss, 32 << 10, "KiB of the agent")

    @needs_root
    def test_out_of_memory(self):
        self.site.job(
            [[self.site.trial(1, "exec tail /dev/zero"), self.site.trial(2, "echo fine")]], memory_bytes=32 << 20
        )
        self.assertEqual(self.site.run(), 0, self.site.log())
        record = self.site.record(1)
        if "memory not limited" in record["containment"]:
            self.skipTest("no memory cgroup can be made here: " + record["containment"])
        self.assertEqual((record["verdict"], record["signal"]), ("oom", "SIGKILL"))
        self.assertIn("32.0 MiB", record["reason"])
        self.assertEqual(self.site.record(2)["verdict"], "ok")

    @needs_root
    def test_a_fork_bomb_ends(self):
        script = "f() { f & f & sleep 100; }; f"
        self.site.job([[self.site.trial(1, script, timeout_ms=1000)]], max_pids=64)
        self.assertEqual(self.site.run(), 0, self.site.log())
        self.assertNotIn(self.site.record(1)["verdict"], ("ok", "survivors"))

    @needs_root
    def test_ipc_left_behind_rejects_the_machine(self):
        if shutil.which("ipcmk") is None:
            self.skipTest("needs ipcmk of util-linux")
        self.site.job([[self.site.trial(1, "ipcmk -M 4096"), self.site.trial(2, "true")]])
        self.assertEqual(self.site.run(), 5, self.site.log())
        record = self.site.record(1)
        self.assertEqual(record["verdict"], "survivors")
        ids = re.findall(r"SysV shm (\d+)", record["reason"])
        self.assertEqual(len(ids), 1)
        subprocess.run(["ipcrm", "-m", ids[0]], check=True)
        self.assertFalse(self.site.folder(2).exists())
        self.assertEqual(self.site.events("run_done")[0]["exit"], 5)
        self.site.pull("round-0001")


class Results(AgentTest):
    def test_out_takes_only_plain_files(self):
        secret = self.site.work / "secret"
        secret.write_text("secret")
        secret.chmod(0o600)
        script = f"""cd "$BENCHCTL_OUT"
            printf 'bucket_us,count\\n1,2\\n' > c_a.hist.csv
            ln -s {secret} link; ln -s . loop; mkfifo pipe; mkdir folder; echo x > folder/y
            echo twice > one; ln one two; head -c 17000000 /dev/zero > big
            echo x > "$(printf 'new\\nline')"; touch empty; ln -s {secret} ../planted"""
        record = self.verdict(script)
        self.assertEqual(record["verdict"], "ok")
        self.assertEqual(sorted(os.listdir(self.site.folder(1) / "out")), ["c_a.hist.csv", "empty"])
        self.assertEqual((self.site.folder(1) / "out/c_a.hist.csv").read_text(), "bucket_us,count\n1,2\n")
        refused = (self.site.folder(1) / "out.refused").read_text().splitlines()
        self.assertEqual(
            [line.split(":")[0] for line in refused],
            ["big", "folder", "link", "loop", "new\\x0aline", "one", "pipe", "two"],
        )
        self.assertEqual(secret.read_text(), "secret")

    def test_out_replaced_by_a_link(self):
        target = self.site.work / "target"
        target.mkdir()
        (target / "file").write_text("not the trial's")
        self.verdict(f"rmdir out; ln -s {target} out")
        self.assertFalse((self.site.folder(1) / "out").exists())
        self.assertIn("replaced", (self.site.folder(1) / "out.refused").read_text())
        self.assertEqual((target / "file").read_text(), "not the trial's")

    def test_out_has_a_limit_of_files(self):
        self.verdict("for i in $(seq 70); do echo $i > out/f$i; done")
        self.assertEqual(len(os.listdir(self.site.folder(1) / "out")), 64)
        self.assertEqual(len((self.site.folder(1) / "out.refused").read_text().splitlines()), 6)

    @needs_root
    def test_a_rival_cannot_be_rewritten(self):
        rival = self.site.folder(1) / "stdout"
        script = f"id -u; echo forged > {rival} || echo denied $?; cat {rival} || echo hidden; ls {self.site.dir} || echo closed"
        self.site.job([[self.site.trial(1, "echo genuine"), self.site.trial(2, script)]])
        self.assertEqual(self.site.run(), 0, self.site.log())
        self.assertEqual(self.site.stdout(1), b"genuine\n")
        uid, *answers = self.site.stdout(2).decode().split("\n")
        self.assertIn(int(uid), range(60706, 61184))
        self.assertEqual(int(uid), self.site.record(2)["uid"])
        self.assertNotEqual(self.site.record(1)["uid"], self.site.record(2)["uid"])
        self.assertEqual(answers, ["denied 2", "hidden", "closed", ""])
        errors = (self.site.folder(2) / "stderr").read_text()
        self.assertEqual(errors.count("Permission denied"), 3, errors)
        self.assertIn(f"uid {uid}", self.site.record(2)["containment"])


@needs_root
class FullDisk(AgentTest):
    def setUp(self):
        super().setUp()
        self.image = self.base + ".img"
        self.mount = pathlib.Path(self.base) / "disk"
        self.mount.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(48 << 20)
        subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", self.image], check=True)
        mounted = subprocess.run(["mount", "-o", "loop", self.image, self.mount], capture_output=True)
        if mounted.returncode != 0:
            os.unlink(self.image)
            shutil.rmtree(self.base)
            self.skipTest("no loop mount here: " + mounted.stderr.decode())
        self.site = harness.Site(self.mount)

    def tearDown(self):
        for runner in self.site.started:
            runner.terminate()
            runner.wait(30)
        subprocess.run(["umount", self.mount], check=True)
        os.unlink(self.image)
        super().tearDown()

    def fill(self):
        with open(self.mount / "filler", "ab", buffering=0) as filler:
            block = b"x" * (1 << 20)
            while block:
                try:
                    filler.write(block)
                except OSError:
                    block = block[: len(block) // 2]

    def test_filled_by_the_trial_itself(self):
        self.site.job(
            [
                [
                    self.site.trial(1, "echo one"),
                    self.site.trial(2, "cat /dev/zero > f"),
                    self.site.trial(3, "echo three"),
                ]
            ]
        )
        self.assertEqual(self.site.run(), 0, self.site.log())
        self.assertEqual([self.site.record(n)["verdict"] for n in (1, 2, 3)], ["ok", "no_space", "ok"])

    def test_filled_while_a_trial_prints(self):
        script = "echo begin; while ! [ -e go ]; do sleep 0.05; done; head -c 3000000 /dev/zero; echo end"
        self.site.job(
            [
                [self.site.trial(1, "echo one")],
                [self.site.trial(2, script, round=2), self.site.trial(3, "echo three", round=2)],
            ]
        )
        runner = self.site.start()
        self.site.wait_event("trial_started", 2)
        scratch = self.mount / "scratch" / "r1.t2.a1"
        while not scratch.exists():
            time.sleep(0.02)
        (scratch / "ready").touch()
        self.fill()
        os.rename(scratch / "ready", scratch / "go")
        self.assertEqual(runner.wait(60), 6, self.site.log())
        self.assertEqual(self.site.record(2)["verdict"], "no_space")
        self.assertFalse(self.site.folder(3).exists())
        full = self.site.events("disk_full")[0]
        self.assertLess(full["free"], full["needed"])
        done = self.site.events("run_done")[0]
        self.assertEqual(done["exit"], 6)
        self.assertIn("disk full", done["reason"])
        self.assertEqual((self.site.dir / "run.done").read_text(), "6\n")
        _, files = self.site.pull("round-0001")
        self.assertEqual(files["trials/000001/a1/stdout"], b"one\n")
        self.site.pull("round-0002")
        self.site.pull("final")

    def test_too_little_space_before_a_trial(self):
        self.site.job([[self.site.trial(1, "echo one"), self.site.trial(2, "echo two")]], min_free_bytes=1 << 30)
        self.assertEqual(self.site.run(), 6, self.site.log())
        self.assertEqual(self.site.events("disk_full")[0]["needed"], 1 << 30)
        self.assertEqual(self.site.events("trial_started"), [])
        self.site.pull("final")


if __name__ == "__main__":
    harness.main()
