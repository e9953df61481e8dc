"""The scripts that find and make toolchains, with compilers that only say what they were asked."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from conftest import SOURCE

TOOLCHAINS = SOURCE / "workloads/toolchains"


def program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n" + script)
    (folder / name).chmod(0o755)


def test_cargo_asks_the_compiler_beside_it_and_not_that_of_the_path(tmp_path: Path) -> None:
    # rustup's proxy without a toolchain stands first: cargo would ask it even to fetch.
    program(tmp_path / "proxy", "rustc", "echo no default is configured >&2; exit 1\n")
    program(tmp_path / "proxy", "cargo", "echo no default is configured >&2; exit 1\n")
    program(tmp_path / "good", "rustc", 'case $1 in -vV) echo "host: here" ;; *) echo "rustc 1.90.0" ;; esac\n')
    program(
        tmp_path / "good",
        "cargo",
        f'[ "$1" != --version ] || {{ echo "cargo 1.90.0"; exit; }}\necho "$1 $RUSTC" >>{tmp_path}/asked\n',
    )
    environment = {"PATH": f"{tmp_path}/proxy:{tmp_path}/good:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def sh(folder: str, script: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", script],
            cwd=TOOLCHAINS / folder,
            env=environment | more,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    found = sh("cargo", "probe.sh")
    assert found.returncode == 0, found.stderr
    variables = dict(line.split("=", 1) for line in found.stdout.splitlines())
    assert variables["FETCH_CARGO"] == f"{tmp_path}/good/cargo"
    assert variables["FETCH_RUSTC"] == f"{tmp_path}/good/rustc"
    # It ends early, since this cargo has no crate to show.
    sh(
        "sqlite",
        "build.sh",
        BENCHCTL_ISA="x86-64-v2",
        BENCHCTL_WORK=str(tmp_path),
        BENCHCTL_OUT=str(tmp_path),
        **variables,
    )
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == [f"fetch {tmp_path}/good/rustc", f"metadata {tmp_path}/good/rustc"]
