"""What befalls a real machine in the middle of a round; the run ends whole all the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from conftest import Bench, needs_root

pytestmark = needs_root

PLAN = """
schema = 1
name = "faults"
[fleet.m]
provider = "nspawn"
[harden]
profile = "quiet"
[limits]
ttl = "30m"
[schedule]
runs = 3
warmup_rounds = 0
[[suite]]
name = "slow"
command = ["./slow"]
format = "generic"
"""
# Long enough for a fault to meet it.
SLOW = "#!/bin/sh\nsleep 10\necho case,metric,unit,value,better,check\necho one,time,ms,1,lower,x\n"


class Machine:
    """The machine of a run that is on its way, as the host sees it."""

    def __init__(self, bench: Bench) -> None:
        ((self.name, endpoint),) = bench.query("SELECT name, endpoint FROM machine")
        self.endpoint = json.loads(endpoint)

    def processes(self, *programs: str) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if self.name not in (entry / "cgroup").read_text():
                    continue
                program = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[0].rsplit("/", 1)[-1]
            except OSError:
                continue
            if program.startswith(programs):
                found.append(int(entry.name))
        return found


@contextmanager
def during_round_2(bench: Bench) -> Iterator[tuple[Machine, Callable[[], tuple[int, str]]]]:
    """A run whose first round is home; gives its machine and the wait for its end."""
    bench.program("slow", SLOW)
    (bench.home / "plan.toml").write_text(PLAN)
    process = bench.start("run", "--plan", str(bench.home / "plan.toml"), "--id", "f")
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "round 1 of 3 is home" in line:
            break
    time.sleep(1)  # into the second trial

    def end() -> tuple[int, str]:
        _, err = process.communicate(timeout=300)
        return process.returncode, "".join(said) + err

    try:
        yield Machine(bench), end
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=120)


def whole(bench: Bench) -> list[tuple]:
    """Round, and how often it counts: every round once, whatever attempts it took."""
    newest = (
        "SELECT round, count(*) FROM v_trials t WHERE run = 'f' AND verdict = 'ok' AND attempt = "
        "(SELECT max(attempt) FROM v_trials u WHERE u.run = t.run AND u.round = t.round) GROUP BY round ORDER BY round"
    )
    assert bench.query("SELECT state FROM v_machines WHERE run = 'f'") == [("gone",)]
    return bench.query(newest)


def test_the_agent_is_killed(bench: Bench, nothing_left: None) -> None:
    with during_round_2(bench) as (machine, end):
        agents = machine.processes("agent-")
        assert agents
        for agent in agents:
            os.kill(agent, signal.SIGKILL)
        code, err = end()
    assert code == 0, err
    assert "the agent is gone; starting it again" in err
    assert whole(bench) == [(1, 1), (2, 1), (3, 1)]


def test_the_machine_reboots(bench: Bench, nothing_left: None) -> None:
    with during_round_2(bench) as (machine, end):
        done = bench("machine", "ssh", machine.name, "--", "systemctl", "reboot", timeout=60)
        assert done.code in (0, 255), done.err
        code, err = end()
    assert code == 0, err
    assert "connecting again" in err
    assert whole(bench) == [(1, 1), (2, 1), (3, 1)]
    # Quiet was made again before the agent went on, and was proved for the new boot.
    ((hardening,),) = bench.query("SELECT hardening FROM v_machines WHERE run = 'f'")
    proofs = [(proof["when"], proof["ok"]) for proof in json.loads(hardening)["proofs"]]
    assert proofs == [("start", True), ("boot", True), ("end", True)]
    # The round that was cut, the second unless the reboot came late, is void, and was run again.
    assert bench.query("SELECT max(attempt) FROM v_trials WHERE run = 'f'") == [(2,)]


def test_the_link_is_cut_for_half_a_minute(bench: Bench, nothing_left: None) -> None:
    with during_round_2(bench) as (machine, end):
        inside = ["nsenter", f"--net={machine.endpoint['netns']}"]
        links = subprocess.run([*inside, "ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
        name = next(line.split(":")[1].strip().split("@")[0] for line in links.splitlines() if "LOOPBACK" not in line)
        subprocess.run([*inside, "ip", "link", "set", name, "down"], check=True)
        time.sleep(30)
        subprocess.run([*inside, "ip", "link", "set", name, "up"], check=True)
        code, err = end()
    assert code == 0, err
    # The trials went on meanwhile: nothing had to be run twice.
    assert whole(bench) == [(1, 1), (2, 1), (3, 1)]
    assert bench.query("SELECT max(attempt) FROM v_trials WHERE run = 'f'") == [(1,)]


def test_sshd_is_frozen(bench: Bench, nothing_left: None) -> None:
    with during_round_2(bench) as (machine, end):
        frozen = machine.processes("sshd", "sshd-session")
        assert frozen
        for process in frozen:
            os.kill(process, signal.SIGSTOP)
        time.sleep(20)
        for process in frozen:
            os.kill(process, signal.SIGCONT)
        code, err = end()
    assert code == 0, err
    assert whole(bench) == [(1, 1), (2, 1), (3, 1)]
    assert bench.query("SELECT max(attempt) FROM v_trials WHERE run = 'f'") == [(1,)]
