"""Builds one variant: build.py NAME [ISA], as a step of workload.toml (workloads/toolchains/README.md says what is in the environment).

With an ISA of the variant only that one is built. Into the bundle go bin/engine, programs/ISA/ with the four benchmarks linked to the variant's SQLite, golden/ and recipe.json.
Only SQLite and the shim are compiled as the variant says; the programs are the same objects in each."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import amounts
from variant import Variant, VariantError, load

HERE = Path(__file__).parent
# Statically linked programs cannot load extensions.
FIXED_DEFINES = ["SQLITE_OMIT_LOAD_EXTENSION"]
PROGRAM_FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]
PROGRAMS = ["speedtest1", "kvtest", "tatp", "ssb"]


def digest(parts: list[bytes]) -> str:
    """Of the parts, each with its length, so that none runs into the next."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


class Build:
    def __init__(self, variant: Variant, isas: list[str] | None = None) -> None:
        """`isas`: what SQLite is built for, instead of the variant's own; the programs stay what they are in each build."""
        self.variant = variant
        self.programs_isa = variant.isa[0]
        variant.isa = isas or variant.isa
        self.work = Path(os.environ["BENCHCTL_WORK"])
        self.out = Path(os.environ["BENCHCTL_OUT"])
        self.cc = os.environ["CC"]
        self.engine_cc = os.environ["CLANG"] if variant.compiler == "clang" else self.cc
        self.sqlite = self._find_sqlite()

    def _find_sqlite(self) -> Path:
        for version, folder in (("SQLITE_TREE_VERSION", "SQLITE_TREE_DIR"), ("SQLITE_VERSION", "SQLITE_DIR")):
            if os.environ.get(version) == self.variant.sqlite:
                return Path(os.environ[folder])
        raise VariantError(f"{self.variant.name}: there is no SQLite {self.variant.sqlite} among the toolchains")

    def run(self, argv: list[str], cwd: Path, env: dict[str, str] | None = None) -> str:
        print("+", *argv, flush=True)
        done = subprocess.run(argv, cwd=cwd, env=env, check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise VariantError(f"{self.variant.name}: {argv[0]} ended with {done.returncode}: {' '.join(argv)}")
        return done.stdout

    def compile(self, cc: str, flags: list[str], sources: list[Path], folder: Path) -> list[Path]:
        """Each source by its name in `folder`: a profile is named after the object."""
        folder.mkdir(parents=True, exist_ok=True)
        objects = []
        for source in sources:
            target = folder / f"{source.stem}.o"
            self.run([cc, *flags, f"-ffile-prefix-map={self.work}=.", "-c", str(source), "-o", target.name], folder)
            objects.append(target)
        return objects

    def compile_amalgamation(self, flags: list[str], folder: Path) -> list[Path]:
        """SQLite itself, which is most of a build: only when something that decides the result has changed."""
        source = self.amalgamation()
        version = os.environ["CLANG_VERSION" if self.variant.compiler == "clang" else "CC_VERSION"]
        parts = [version.encode(), "\0".join(flags).encode(), source.read_bytes()]
        profile = folder / f"{source.stem}.gcda"
        if "-fprofile-use" in flags:
            parts.append(profile.read_bytes())
        wanted = digest(parts)
        target, key = folder / f"{source.stem}.o", folder / f"{source.stem}.key"
        if not (target.exists() and key.exists() and key.read_text() == wanted):
            key.unlink(missing_ok=True)
            self.compile(self.engine_cc, flags, [source], folder)
            key.write_text(wanted)
        return [target]

    def engine_flags(self, isa: str) -> list[str]:
        variant = self.variant
        defines = [*FIXED_DEFINES, *variant.defines]
        if variant.pragmas or variant.deployment != "FULL":
            defines.append("SQLITE_EXTRA_AUTOEXT=engine_connection")
        if variant.wal_birth or variant.wal_buffer:
            defines.append("SQLITE_EXTRA_INIT=shim_register")
        return [*variant.cflags, f"-march={isa}", *(f"-D{one}" for one in defines)]

    def amalgamation(self) -> Path:
        source = self.sqlite / "sqlite3.c"
        if not self.variant.computed_goto:
            return source
        target = self.work / "sqlite3.c"
        self.run([sys.executable, str(HERE / "goto" / "computed_goto.py"), str(source), str(target)], self.work)
        return target

    def sqlite_objects(self, isa: str, extra: list[str], folder: Path) -> list[Path]:
        variant = self.variant
        flags = [*self.engine_flags(isa), f"-I{self.sqlite}", *extra]
        folder.mkdir(parents=True, exist_ok=True)
        objects = self.compile_amalgamation(flags, folder)
        if variant.pragmas or variant.deployment != "FULL":
            pragmas = "".join(f"PRAGMA {one};" for one in variant.pragmas)
            deployment = f"PRAGMA synchronous={variant.deployment};" if variant.deployment != "FULL" else ""
            told = [f'-DENGINE_PRAGMAS="{pragmas}"', f'-DENGINE_DEPLOYMENT="{deployment}"']
            objects += self.compile(self.engine_cc, [*flags, *told], [HERE / "common" / "connection.c"], folder)
        if variant.wal_birth or variant.wal_buffer:
            told = [f"-DSHIM_WAL_BIRTH={int(variant.wal_birth)}", f"-DSHIM_WAL_BUFFER={int(variant.wal_buffer)}"]
            objects += self.compile(self.engine_cc, [*flags, *told], sorted((HERE / "shim").glob("*.c")), folder)
        return objects

    def program_objects(self) -> dict[str, list[Path]]:
        isa = f"-march={self.programs_isa}"
        folder = self.work / "programs"
        theirs = ["-O2", isa, f"-I{self.sqlite}"]
        ours = [*PROGRAM_FLAGS, isa, "-isystem", str(self.sqlite), f"-I{HERE / 'common'}"]
        tree = Path(os.environ["SQLITE_TREE_DIR"])
        common = self.compile(self.cc, ours, [HERE / "common" / "database.c"], folder / "common")
        objects = {}
        for name in ("speedtest1", "kvtest"):
            objects[name] = self.compile(self.cc, theirs, [tree / f"{name}.c"], folder / name)
        for name in ("tatp", "ssb"):
            sources = sorted((HERE / name).glob("*.c"))
            objects[name] = [*self.compile(self.cc, ours, sources, folder / name), *common]
        return objects

    def link(self, programs: dict[str, list[Path]], engine: list[Path], flags: list[str], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, objects in programs.items():
            argv = [self.engine_cc, "-static", *flags, *map(str, [*objects, *engine]), "-lm", "-lpthread", "-o", name]
            self.run(argv, folder)

    def build_runner(self, folder: Path) -> None:
        generated = self.work / "generated"
        generated.mkdir(parents=True, exist_ok=True)
        (generated / "amounts_generated.h").write_text(amounts.header(HERE / "sizes.toml"))
        folder.mkdir(parents=True, exist_ok=True)
        sources = sorted(map(str, (HERE / "runner").glob("*.c")))
        isa = f"-march={self.programs_isa}"
        self.run([self.cc, *PROGRAM_FLAGS, isa, "-static", f"-I{generated}", *sources, "-o", "engine"], folder)

    def train(self, programs: dict[str, list[Path]]) -> Path:
        """The profile of a training run of the variant itself, at its lowest instruction set. One is kept until what ran
        has changed: no two runs give the same profile."""
        isa = self.variant.isa[0]
        folder = self.work / "training"
        flags = ["-fprofile-generate", "-fprofile-update=single"]
        objects = self.sqlite_objects(isa, flags, folder / "objects")
        ran = [*objects, *(path for paths in programs.values() for path in paths), HERE / "sizes.toml"]
        wanted, key = digest([path.read_bytes() for path in ran]), folder / "key"
        if key.exists() and key.read_text() == wanted:
            return folder / "objects"
        for path in (folder / "objects").glob("*.gcda"):
            path.unlink()
        self.link(programs, objects, flags, folder / "bundle" / "programs" / isa)
        self.build_runner(folder / "bundle" / "bin")
        scratch = folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        self.run([str(folder / "bundle" / "bin" / "engine"), "--training"], scratch)
        key.write_text(wanted)
        return folder / "objects"

    def take_profile(self, profile: Path | None, folder: Path) -> list[str]:
        """Puts it where the compiler looks for it, beside the objects; one that it does not find would be silence."""
        if profile is None:
            return []
        folder.mkdir(parents=True, exist_ok=True)
        for path in profile.glob("*.gcda"):
            shutil.copy(path, folder)
        return ["-fprofile-use", "-fprofile-partial-training", "-Werror=missing-profile"]

    def build(self) -> None:
        programs = self.program_objects()
        profile = self.train(programs) if self.variant.pgo else None

        def one(isa: str) -> None:
            folder = self.work / isa
            engine = self.sqlite_objects(isa, self.take_profile(profile, folder), folder)
            self.link(programs, engine, [], self.out / "programs" / isa)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(one, self.variant.isa))
        self.build_runner(self.out / "bin")
        for program in [*(self.out / "programs").glob("*/*"), self.out / "bin" / "engine"]:
            self.run([os.environ["STRIP"], str(program)], self.work)
        shutil.copytree(HERE / "golden", self.out / "golden")
        self.write_recipe()

    def write_recipe(self) -> None:
        first = self.out / "programs" / self.variant.isa[0] / "tatp"
        options = self.run([str(first), "options"], self.work).split("\n")
        recipe = {
            "runner": self.variant.name,
            "language": "C",
            "language_version": os.environ["CLANG_VERSION" if self.variant.compiler == "clang" else "CC_VERSION"],
            "sqlite_version": self.variant.sqlite,
            "sqlite_source_id": options[0],
            "compile_options": [one for one in options[1:] if one],
            "build_flags": {isa: " ".join(self.engine_flags(isa)) for isa in self.variant.isa},
            "variant": self.variant.recipe(),
            "sizes": (HERE / "sizes.toml").read_text(),
        }
        (self.out / "recipe.json").write_text(json.dumps(recipe, indent=1) + "\n")


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print("build.py: usage: build.py VARIANT [ISA]", file=sys.stderr)
        return 2
    try:
        variant = load(sys.argv[1])
        if len(sys.argv) == 3:
            if sys.argv[2] not in variant.isa:
                raise VariantError(f"{variant.name} is built for {', '.join(variant.isa)}, not for {sys.argv[2]}")
            variant.isa = [sys.argv[2]]
        # Compiled where it runs: for what that CPU has.
        isas = [os.environ["BENCHCTL_ISA"]] if "BENCHCTL_ON_MACHINE" in os.environ else None
        Build(variant, isas).build()
    except VariantError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
