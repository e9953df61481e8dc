"""Reads a variant: variants/NAME.toml on top of the variant that its `base` names."""

import tomllib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

VARIANTS = Path(__file__).parent / "variants"
# These add to the base's; every other key replaces it.
ADDING = ("defines", "pragmas")


class VariantError(Exception):
    pass


@dataclass
class Variant:
    name: str
    help: str
    sqlite: str  # version: that of the toolchain sqlite_tree, or of sqlite
    compiler: str  # gcc | clang
    isa: list[str]  # one build of SQLite for each; the best that a CPU has is run
    cflags: list[str]
    deployment: str  # synchronous where the durability is the variant's own: FULL | NORMAL
    defines: list[str] = field(default_factory=list)
    pragmas: list[str] = field(default_factory=list)  # run on every new connection
    pgo: bool = False  # compiled again with the profile of a training run
    wal_birth: bool = False  # shim/: new databases are in WAL mode
    wal_buffer: bool = False  # shim/: writes of the log are gathered
    computed_goto: bool = False  # goto/: the virtual machine jumps through a table
    bases: list[str] = field(default_factory=list)

    def recipe(self) -> dict[str, object]:
        return asdict(self)


def _read(name: str) -> dict[str, object]:
    path = VARIANTS / f"{name}.toml"
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise VariantError(f"there is no variant {name}: {path} does not exist") from None
    except tomllib.TOMLDecodeError as error:
        raise VariantError(f"{path}: {error}") from None


def _checked(name: str, key: str, value: object) -> object:
    kinds = {one.name: one.type for one in fields(Variant)}
    if key not in kinds or key in ("name", "bases"):
        raise VariantError(f"variants/{name}.toml: unknown key {key!r}")
    kind = kinds[key]
    good = {"str": isinstance(value, str), "bool": isinstance(value, bool)}.get(
        str(getattr(kind, "__name__", kind)),
        isinstance(value, list) and all(isinstance(one, str) for one in value),
    )
    if not good:
        raise VariantError(f"variants/{name}.toml: {key} has a value of the wrong kind: {value!r}")
    return value


def load(name: str) -> Variant:
    chain = []
    at: object = name
    while at is not None:
        if not isinstance(at, str) or any(at == seen for seen, _ in chain):
            raise VariantError(f"variants/{chain[-1][0]}.toml: base {at!r} is no other variant")
        table = _read(at)
        base = table.pop("base", None)
        chain.append((at, table))
        at = base
    values: dict[str, object] = {}
    for owner, table in reversed(chain):
        for key, value in table.items():
            value = _checked(owner, key, value)
            if key in ADDING and isinstance(value, list):
                value = [*values.get(key, []), *value]  # type: ignore[misc]
            values[key] = value
    missing = [key for key in ("help", "sqlite", "compiler", "isa", "cflags", "deployment") if key not in values]
    if missing:
        raise VariantError(f"variants/{name}.toml: {', '.join(missing)} is missing")
    return Variant(name=name, bases=[owner for owner, _ in chain[1:]], **values)  # type: ignore[arg-type]
