"""Drives the real agent binary through its command line, as a controller would."""

import hashlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

AGENT = os.environ.get("BENCHAGENT", "build/bin/benchagent")
RUNNER = os.environ.get("BENCHAGENT_WRAPPER", "").split()  # "qemu-aarch64-static" for foreign binaries
ROOT = os.geteuid() == 0
HEADER = "case,metric,unit,value,better,check\n"
STEAL_HEADER = (
    "trial,attempt,suite,runner,run,started_utc,seconds,cpu_total_jiffies,steal_jiffies,steal_percent,"
    "psi_cpu_some,psi_io_some,involuntary_switches,throttled"
)
needs_root = unittest.skipUnless(ROOT, "needs root: users, cgroups and mounts of its own")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def make_pack(files):
    """files: {path: (bytes, executable)} -> (manifest sha256, pack)."""
    lines = [f"benchctl-pack 1 {len(files)}\n"]
    for path in sorted(files):
        data, executable = files[path]
        lines.append(f"{sha256(data)} {len(data)} {755 if executable else 644} {path}\n")
    manifest = "".join(lines).encode()
    return sha256(manifest), manifest + b"\n" + b"".join(files[path][0] for path in sorted(files))


def read_pack(data):
    """-> (manifest sha256, {path: bytes}), every hash checked."""
    manifest, _, body = data.partition(b"\n\n")
    manifest += b"\n"
    files, offset = {}, 0
    for line in manifest.decode().splitlines()[1:]:
        digest, size, _mode, path = line.split(" ", 3)
        files[path] = body[offset : offset + int(size)]
        offset += int(size)
        assert sha256(files[path]) == digest, path
    assert offset == len(body), "bytes after the last file"
    return sha256(manifest), files


def phase(name, script):
    return {"name": name, "argv": ["/bin/sh", "-c", script]}


class Site:
    """One work folder with one run."""

    def __init__(self, base, run="r1"):
        self.work = pathlib.Path(base)
        self.run_id = run
        self.dir = self.work / "runs" / run
        self.bundle, self.pack = "0" * 64, b""
        self.started = []

    def call(self, *words, stdin=b"", check=True, timeout=120, env=None):
        done = subprocess.run(
            [*RUNNER, AGENT, *map(str, words)], input=stdin, capture_output=True, timeout=timeout, env=env
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{words}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done

    def ship(self, files):
        self.bundle, self.pack = make_pack(files)
        self.call("unpack", "--sha256", self.bundle, self.work / "bundles" / self.bundle, stdin=self.pack)

    def trial(self, number, script=None, phases=None, round=1, attempt=1, timeout_ms=20_000, **more):
        spec = {
            "trial": number,
            "attempt": attempt,
            "suite": "s",
            "point": "",
            "arm": f"arm{number}",
            "round": round,
            "format": "generic",
            "bundle": self.bundle,
            "phases": phases or [phase("run", script)],
            "timeout_ms": timeout_ms,
        }
        return spec | more

    def job(self, rounds, **more):
        job = {
            "version": 2,
            "run": self.run_id,
            "machine": "m",
            "seed": 42,
            "bundles_dir": str(self.work / "bundles"),
            "linger_ms": 0,
            "ack_wait_ms": 1000,
            "quiet_wait_ms": 0,
            "min_free_bytes": 1 << 20,
            "rounds": [{"round": trials[0]["round"], "trials": trials} for trials in rounds],
        } | more
        self.call("job", "--dir", self.dir, stdin=json.dumps(job).encode())

    def start(self, prefix=()):
        """The runner, in the background; its standard error goes to agent.log as in real life."""
        with open(self.dir / "agent.log", "ab") as log:
            runner = subprocess.Popen(
                [*prefix, *RUNNER, AGENT, "run", "--dir", str(self.dir)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(runner)
        return runner

    def run(self, timeout=120):
        return self.start().wait(timeout)

    def events(self, kind=None):
        lines = (self.dir / "events.jsonl").read_text().splitlines()
        events = [json.loads(line) for line in lines]
        assert [event["n"] for event in events] == list(range(1, len(events) + 1)), "gaps in event numbers"
        return [event for event in events if kind in (None, event["kind"])]

    def wait_event(self, kind, count=1, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                found = [e for e in self.events() if e["kind"] == kind]
            except (FileNotFoundError, json.JSONDecodeError):
                found = []
            if len(found) >= count:
                return found
            time.sleep(0.02)
        raise AssertionError(f"no {count} events {kind}: {self.log()}")

    def folder(self, trial, attempt=1):
        return self.dir / "trials" / f"{trial:06d}" / f"a{attempt}"

    def record(self, trial, attempt=1):
        return json.loads((self.folder(trial, attempt) / "trial.json").read_text())

    def stdout(self, trial, attempt=1):
        return (self.folder(trial, attempt) / "stdout").read_bytes()

    def pull(self, unit):
        return read_pack(self.call("pull", "--dir", self.dir, "--unit", unit).stdout)

    def log(self):
        return (self.dir / "agent.log").read_text(errors="replace")


class AgentTest(unittest.TestCase):
    """Makes a work folder that trials' users can pass through, and proves at the end that nothing is left."""

    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="benchagent-test-")
        os.chmod(self.base, 0o755)
        self.site = Site(self.base)

    def tearDown(self):
        for runner in self.site.started:
            if runner.poll() is None:
                runner.terminate()
                runner.wait(30)
        self.assertEqual(trial_processes(self.base), [], "processes of trials are left")
        scratch = pathlib.Path(self.base) / "scratch"
        self.assertEqual(sorted(os.listdir(scratch)) if scratch.exists() else [], [], "scratch folders are left")
        self.assertEqual(agent_cgroups(self.site.dir), [], "cgroups are left")
        shutil.rmtree(self.base)

    def verdict(self, script=None, **more):
        """Runs a single trial and gives its record; the run itself must end well."""
        self.site.job([[self.site.trial(1, script, **more)]])
        code = self.site.run()
        self.assertEqual(code, 0, self.site.log())
        return self.site.record(1)


def trial_processes(base):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if b"BENCHCTL_SCRATCH=" + os.fsencode(base) in environment:
            found.append(int(pid))
    return found


def agent_cgroups(run_dir):
    prefix = "benchctl-" + sha256(os.fsencode(run_dir))[:8] + "-"
    found = []
    for folder, names, _files in os.walk("/sys/fs/cgroup"):
        found += [os.path.join(folder, name) for name in names if name.startswith(prefix)]
    return found


def private(path):
    return stat.S_IMODE(os.lstat(path).st_mode) & 0o077 == 0


def main():
    unittest.main(module=sys.modules["__main__"], verbosity=2)
