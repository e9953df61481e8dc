"""Containment where control groups are of version 2 only: the unified hierarchy is mounted alone, in a mount namespace
of this test. On a host of version 1 its groups have no controllers, but hold, end and count processes for real."""

import os
import pathlib
import signal
import sys
import time

import harness
from harness import AgentTest, needs_root

HERE = "BENCHCTL_TEST_CGROUP2"
MOUNT = "if umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup; then H=yes; else H=; fi"


@needs_root
class Version2(AgentTest):
    def setUp(self):
        if not os.environ.get(HERE):
            self.skipTest("no cgroup2 hierarchy could be mounted")
        super().setUp()

    def groups(self):
        return harness.agent_cgroups(self.site.dir)

    def test_escapees_of_every_process_tree_are_ended(self):
        script = (
            "trap '' TERM\n"
            "for i in 1 2 3 4 5 6 7 8; do setsid setsid sh -c '(trap \"\" TERM HUP; sleep 1000 &)' & done\n"
            "sleep 0.3; exit 0"
        )
        record = self.verdict(script)
        self.assertEqual(record["verdict"], "ok")
        self.assertEqual(record["ended_descendants"], 8)
        self.assertTrue(record["containment"].startswith("cgroup v2"), record["containment"])

    def test_a_timeout_ends_what_keeps_forking(self):
        # Each process is a child of init by the time it starts the next one: only the group holds the chain.
        chain = '#!/bin/sh\\ntrap "" TERM\\nsleep 0.02\\nsetsid ./next &\\n'
        script = f"printf '{chain}' > next; chmod +x next; ./next; sleep 1000"
        record = self.verdict(script, timeout_ms=1500)
        self.assertEqual(record["verdict"], "timeout")

    def test_the_next_agent_ends_what_a_killed_one_left(self):
        self.site.job([[self.site.trial(1, 'setsid sleep 1000 & [ -e "$0" ]; sleep 1000', timeout_ms=3000)]])
        runner = self.site.start()
        self.site.wait_event("trial_started")
        while not self.groups() or len(self.members(self.groups()[0])) < 3:
            time.sleep(0.02)
        left = self.members(self.groups()[0])
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        self.assertTrue(self.groups(), "the group of the killed agent")
        self.assertEqual(self.site.run(), 0, self.site.log())
        self.assertEqual(self.site.record(1, 2)["verdict"], "timeout")
        self.assertEqual([pid for pid in left if self.runs(pid)], [])

    def members(self, group):
        return [int(pid) for pid in (pathlib.Path(group) / "cgroup.procs").read_text().split()]

    def runs(self, pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False


if __name__ == "__main__":
    if harness.ROOT and HERE not in os.environ:
        command = ["unshare", "-m", "sh", "-c", f'{MOUNT}; export {HERE}=$H; exec "$@"', "sh", sys.executable]
        os.execvp("unshare", [*command, *sys.argv])
    harness.main()
