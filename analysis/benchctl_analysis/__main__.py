"""One JSON request on standard input, one JSON answer on standard output; nothing else is ever printed there.

Request: {"protocol": 1, "verb": "report", "store": PATH, "run": ID, "out": DIR} and optionally "width" (80), "redact"
(true), "colour" (false), "margin" (0.01), "templates" (DIR), "claims" (a list, as controller/claims/claim_json.h states
it). Unknown members are refused, so that a newer caller is not half understood. {"protocol": 1, "verb": "claims",
"store": PATH, "run": ID, "claims": [...]} and optionally "width" gives the verdicts alone. {"protocol": 1, "verb":
"version"} answers the versions in use.

Answer: {"protocol": 1, "ok": true, "terminal": TEXT, "files": [relative to out], "refusals": [{kind, suite, point, arm,
baseline, text}], "checks_disagree": BOOL, "claims": [{machine, id, verdict, reason, more_rounds, measured, low, high,
...}]}, of "claims" its terminal and claims; or {"protocol": 1, "ok": false, "error": TEXT}. Exit 0 whenever an answer
was printed; a traceback, if any, goes to standard error.
"""

from __future__ import annotations

import json
import math
import sys
import traceback
from pathlib import Path
from typing import Any

from benchctl_analysis import PROTOCOL

MAX_REQUEST_BYTES = 1 << 20
_TYPES: dict[str, type | tuple[type, ...]] = {
    "store": str,
    "run": str,
    "out": str,
    "width": int,
    "redact": bool,
    "colour": bool,
    "margin": (int, float),
    "templates": str,
    "claims": list,
}
_REQUIRED = {"report": ("store", "run", "out"), "claims": ("store", "run", "claims")}
_OF_CLAIMS = frozenset({"store", "run", "claims", "width"})


class RequestError(Exception):
    pass


def _members(request: dict[str, Any], verb: str) -> dict[str, Any]:
    members = {key: value for key, value in request.items() if key not in ("protocol", "verb")}
    for key, value in members.items():
        if key not in _TYPES or (verb == "claims" and key not in _OF_CLAIMS):
            raise RequestError(f"unknown member {key!r} in the request")
        wanted = _TYPES[key]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise RequestError(f"member {key!r} has the wrong type")
    missing = [key for key in _REQUIRED[verb] if not members.get(key)]
    if missing:
        raise RequestError(f"the request lacks {', '.join(missing)}")
    if not 0 <= members.get("margin", 0.01) < 10 or not math.isfinite(members.get("margin", 0.01)):
        raise RequestError("margin must be from 0 to below 10")
    for key in ("store", "out", "templates"):
        if key in members:
            members[key] = Path(members[key])
    return members


def answer(text: str) -> dict[str, Any]:
    try:
        request = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the request is no JSON: {error}") from error
    if not isinstance(request, dict):
        raise RequestError("the request is no JSON object")
    protocol = request.get("protocol")
    if protocol != PROTOCOL or isinstance(protocol, bool):
        raise RequestError(
            f"the request speaks protocol {protocol!r}, this analysis speaks {PROTOCOL}: benchctl and its analysis "
            "package are of different versions; install both from the same source"
        )
    verb = request.get("verb")
    if verb == "version":
        from importlib.metadata import version

        return {"packages": {name: version(name) for name in ("jinja2", "matplotlib", "numpy", "pandas", "scipy")}}
    if verb == "report":
        from benchctl_analysis.report import ReportRequest, report

        return report(ReportRequest(**_members(request, verb)))
    if verb == "claims":
        from benchctl_analysis.claims_section import ClaimsRequest, claims

        return claims(ClaimsRequest(**_members(request, verb)))
    raise RequestError(f"unknown verb {verb!r}")


def main() -> int:
    try:
        text = sys.stdin.buffer.read(MAX_REQUEST_BYTES + 1)
        if len(text) > MAX_REQUEST_BYTES:
            raise RequestError("the request is too long")
        result = {"ok": True, **answer(text.decode("utf-8"))}
    except (RequestError, UnicodeDecodeError) as error:
        result = {"ok": False, "error": str(error)}
    except Exception as error:
        traceback.print_exc()
        result = {"ok": False, "error": f"{type(error).__name__}: {error}" if not _plain(error) else str(error)}
    json.dump({"protocol": PROTOCOL, **result}, sys.stdout, ensure_ascii=True, allow_nan=False)
    sys.stdout.write("\n")
    return 0


def _plain(error: Exception) -> bool:
    """Errors whose text was written for the user."""
    return type(error).__name__ == "LoadError"


if __name__ == "__main__":
    sys.exit(main())
