# shellcheck shell=sh
# Functions of the build.sh that a bundle of sources carries to a machine ($here: the bundle's folder; README.md). One log: all
# that a recipe prints.
set -eu
exec 2>&1
missing=''
TOOLS_MISSING=69

# NAME LINES: KEY=VALUE lines become the environment; those that are no place of a file are also noted, as the tool's.
take() {
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    export "${line?}"
    case ${line#*=} in
      '' | /*) ;;
      *) echo "$1 $line" >>"$BENCHCTL_OUT/toolchains.txt" ;;
    esac
  done <<LINES
$2
LINES
}

# NAME COMMAND...: asks for a tool. What is missing is told when all have been asked for.
probe() {
  name=$1
  shift
  if said=$(cd "$here/toolchains/$name" && "$@" 2>"$BENCHCTL_WORK/said"); then
    take "$name" "$said"
  else
    missing="$missing${missing:+; }$(tail -n 1 "$BENCHCTL_WORK/said")"
  fi
}

# NAME VARIABLE: sources that were made before they were shipped.
made() {
  export "$2=$here/made/$1"
  take "$1" "$(cat "$here/made/$1/environment")"
}

all_there() {
  [ -n "$missing" ] || return 0
  echo "$missing"
  exit "$TOOLS_MISSING"
}

step() {
  echo "$ $*"
  "$@" || {
    code=$?
    [ "$code" -ne "$TOOLS_MISSING" ] || code=1
    exit "$code"
  }
}

# What the result is of, beside its content: the recipe, the target.
cp "$here/bundle.json" "$BENCHCTL_OUT/sources.json"
echo "$BENCHCTL_ARCH $BENCHCTL_ISA" >"$BENCHCTL_OUT/target.txt"
: >"$BENCHCTL_OUT/toolchains.txt"
