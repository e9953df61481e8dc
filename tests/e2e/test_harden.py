"""Hardening on a real machine: what it has scheduled, that it is quiet afterwards, that what comes back is caught, and
that undo gives back exactly what was there, also after a death in mid-apply.

BENCHCTL_TEST_IMAGE chooses the machine's Debian.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import ONE_ROW, SOURCE, Bench, inventory, needs_root

IMAGE = os.environ.get("BENCHCTL_TEST_IMAGE", "trixie")
JOURNAL = "/var/lib/benchctl/harden.journal"

PLAN = f"""
schema = 1
name = "quiet"
[fleet.m]
provider = "nspawn"
image = "{IMAGE}"
[schedule]
runs = 1
warmup_rounds = 0
[[suite]]
name = "one"
command = ["./one"]
format = "generic"
"""

# Unit files, active states of the profile's units, all of /etc/systemd with hashes and link targets, the profile's
# values of the kernel. Arguments: units, then --, then files of /proc/sys and /sys.
DUMP = r"""
systemctl list-unit-files --all --no-pager --no-legend | sort
while [ "$1" != -- ]; do echo "$1 $(systemctl show --property=ActiveState --value -- "$1")"; shift; done
find /etc/systemd | LC_ALL=C sort | while read -r path; do
  if [ -L "$path" ]; then echo "$path -> $(readlink "$path")"
  elif [ -f "$path" ]; then sha256sum "$path"; stat -c '%a %U %G' "$path"
  else echo "$path/"; fi
done
shift
for file; do echo "$file $(cat "$file" 2>&1)"; done
"""

# Applies in the background and kills it once its journal holds $1 entries. Prints the status that it ended with
# and the length of its report.
KILLED = f"""
agent=$(echo /var/lib/benchctl/agent-*)
"$agent" harden apply --journal {JOURNAL} </root/profile.json >/root/report & pid=$!
until [ "$(grep -c '"knob"' {JOURNAL} 2>/dev/null || true)" -ge "$1" ] 2>/dev/null; do kill -0 $pid || break; done
kill -9 $pid; wait $pid; echo $? $(wc -c </root/report)
"""


class Machine:
    def __init__(self, bench: Bench, name: str) -> None:
        self.bench, self.name = bench, name
        rows = self.harden("--show")["rows"]
        self.knobs = [{key: row[key] for key in ("knob", "target", "requested")} for row in rows]
        self.units = [knob["target"] for knob in self.knobs if knob["knob"] in ("service", "timer")]
        values = ["/proc/sys/" + k["target"].replace(".", "/") for k in self.knobs if k["knob"] == "sysctl"]
        self.values = values + [k["target"] for k in self.knobs if k["knob"] == "file"]

    def ssh(self, *words: str) -> str:
        done = self.bench("machine", "ssh", self.name, "--", *words)
        assert done.code == 0, done.err
        return done.out

    def sh(self, script: str, *words: str) -> str:
        return self.ssh("sh", "-c", script, "sh", *words)

    def harden(self, *words: str, code: int = 0) -> dict:
        done = self.bench("harden", self.name, "--json", *words)
        assert done.code == code, done.err + done.out
        return json.loads(done.out)

    def dump(self) -> str:
        return self.sh(DUMP, *self.units, "--", *self.values)

    def next_runs(self) -> set[str]:
        timers = json.loads(self.ssh("systemctl", "list-timers", "--all", "--output=json"))
        return {timer["unit"] for timer in timers if timer["next"]}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory):
    bench = Bench(tmp_path_factory.mktemp("harden"))
    bench.program("one", ONE_ROW)
    done, run, _ = bench.run_plan(PLAN, "--keep", "20m")
    try:
        assert done.code == 0, done.err
        kept = Machine(bench, bench.json("machine", "list")[0]["machine"])
        # A reload lets cloud-init's generator see that it is switched off, which moves cloud-init.target: not our doing.
        kept.ssh("systemctl", "daemon-reload")
        yield kept
    finally:
        reaped = bench("reap", "--run", run)
    assert reaped.code == 0, reaped.err
    assert [item for items in inventory().values() for item in items if kept.name in item] == []


def statuses(report: dict) -> dict[str, str]:
    return {row["target"]: row["status"] for row in report["rows"]}


@needs_root
def test_quiet_read_back_and_given_back(machine: Machine) -> None:
    expected = {"apt-daily.timer", "apt-daily-upgrade.timer", "logrotate.timer", "man-db.timer", "dpkg-db-backup.timer",
                "e2scrub_all.timer", "systemd-tmpfiles-clean.timer"}  # fmt: skip
    assert machine.next_runs() >= expected, "the machine has nothing to be made quiet of"
    shown = machine.harden("--show")
    assert not shown["proof"]["ok"]
    # A crontab would be run as long as cron runs.
    assert any("would be run: cron.service is active" in problem for problem in shown["proof"]["problems"])
    before = machine.dump()

    report = machine.harden()
    assert machine.next_runs() == set()
    assert report["proof"] == {"ok": True, "problems": []}
    found = statuses(report)
    assert {found[timer] for timer in expected} == {"applied"}
    assert found["cron.service"] == found["unattended-upgrades.service"] == "applied"
    assert found["snapd.service"] == "absent"
    assert all(row["read_back"].startswith("masked") for row in report["rows"] if row["target"] in expected)
    # The kernel is this computer's: told, and never written.
    assert found["vm.swappiness"] == "not_exposed"
    assert machine.ssh("systemctl", "is-active", "ssh.service", "systemd-journald.service").split() == ["active"] * 2
    assert machine.ssh("systemctl", "--failed", "--no-legend", "--plain").strip() == ""
    assert machine.harden("--verify")["proof"]["ok"]
    assert machine.dump() != before

    undone = machine.harden("--undo")
    assert undone["proof"]["ok"], undone
    assert machine.dump() == before
    assert machine.next_runs() >= expected
    assert statuses(machine.harden("--undo"))[JOURNAL] == "absent"


@needs_root
def test_what_comes_back_is_caught(machine: Machine) -> None:
    before = machine.dump()
    machine.harden()
    machine.sh("rm /etc/systemd/system/e2scrub_all.timer; systemctl daemon-reload; systemctl start e2scrub_all.timer")
    machine.sh("echo '* * * * * root true' >/etc/cron.d/new")
    machine.ssh("systemd-run", "--on-active=1h", "--unit=later", "true")
    problems = machine.harden("--verify", code=5)["proof"]["problems"]
    text = "\n".join(problems)
    assert "timer e2scrub_all.timer: is enabled, active, asked for was masked" in text
    assert "/etc/cron.d/new is a new crontab" in text
    assert "later.timer has a next run" in text
    assert len(problems) == 3, text
    # A second apply masks the first again; the crontab and a timer that could not be put back stay problems.
    again = machine.harden(code=5)
    assert statuses(again)["e2scrub_all.timer"] == "applied"
    assert len(again["proof"]["problems"]) == 2
    machine.sh("rm /etc/cron.d/new; systemctl stop later.timer")
    assert machine.harden("--verify")["proof"]["ok"]
    assert machine.harden("--undo")["proof"]["ok"]
    assert machine.dump() == before


@needs_root
def test_an_unlisted_timer_is_swept(machine: Machine) -> None:
    machine.sh(
        "printf '[Timer]\\nOnCalendar=hourly\\n[Install]\\nWantedBy=timers.target\\n' >/etc/systemd/system/own.timer;"
        "printf '[Service]\\nExecStart=/bin/true\\n' >/etc/systemd/system/own.service;"
        "systemctl daemon-reload; systemctl enable --now own.timer"
    )
    before = machine.dump()
    row = machine.harden()["rows"][-1]
    assert (row["target"], row["status"], row["found"]) == ("own.timer", "applied", "enabled, active")
    assert row["reason"].startswith("swept")
    assert machine.next_runs() == set()
    assert machine.harden("--undo")["proof"]["ok"]
    assert machine.dump() == before
    machine.sh("systemctl disable --now own.timer; rm /etc/systemd/system/own.*; systemctl daemon-reload")


@needs_root
@pytest.mark.parametrize(("entries", "again"), [(1, False), (5, True), (9, True), (12, False)])
def test_undo_after_a_death_in_mid_apply(machine: Machine, entries: int, again: bool) -> None:
    profile = {
        "version": 1,
        "name": "quiet",
        "knobs": machine.knobs,
        "allow_timers": [],
        "cloud_init_wait_ms": 0,
        "cloud_init_marker": "",
        "dpkg_wait_ms": 0,
    }
    machine.sh('printf %s "$1" >/root/profile.json', json.dumps(profile))
    before = machine.dump()
    assert machine.sh(KILLED, str(entries)).split()[-2:] == ["137", "0"], "it was not killed in mid-apply"
    assert len(json.loads(machine.ssh("cat", JOURNAL))["entries"]) >= entries
    if again:
        assert machine.harden()["proof"]["ok"]
    assert machine.harden("--undo")["proof"]["ok"]
    assert machine.dump() == before


@needs_root
def test_people_see_a_table(machine: Machine) -> None:
    done = machine.bench("harden", machine.name)
    assert done.code == 0
    print(done.out)
    assert "quiet: no timer has a next run" in done.out
    assert "snapd" not in done.out
    assert machine.bench("harden", machine.name, "--undo").out.endswith("everything is as it was found\n")


def test_this_computer_is_kept(bench: Bench) -> None:
    shown = bench("harden", "local", "--show", "--json")
    assert shown.code == 0, shown.err
    assert {row["status"] for row in json.loads(shown.out)["rows"]} <= {"differs", "already", "absent", "not_exposed"}
    refused = bench("harden", "local")
    assert refused.code == 2
    assert "--yes" in refused.err or "needs root" in refused.err
    assert bench("harden", "local", "--profile", "../x", "--show").code == 2
    assert not Path(JOURNAL).exists()
    assert "quiet" in (SOURCE / "plans/local.toml").read_text()
