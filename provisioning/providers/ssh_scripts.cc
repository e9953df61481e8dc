#include "provisioning/providers/ssh_scripts.h"

namespace benchctl {
namespace {

// What all three share. The lock is for all users of the machine, so it lies where all may write and none may remove
// another's: a sticky folder. It is only read or changed with flock held on that folder itself, which leaves no trace,
// and it appears complete, by link(2), which follows nothing and replaces nothing.
// Root stays out of people's homes: nothing of root's is ever left there.
constexpr const char* kCommon = R"sh(LC_ALL=C; export LC_ALL; umask 077
name=$1 again=''
case $name in *[!a-z0-9-]*|'') echo "not a machine's name" >&2; exit 70;; esac
bases() {
  if [ "$(id -u)" = 0 ]; then printf '%s\n' /var/tmp/ /var/lib/ /root/.
  else printf '%s\n' "$HOME/.cache/" "$HOME/." /var/tmp/ /tmp/; fi
}
old_ifs=$IFS new_line='
'
for locks in /run/lock /var/lock /tmp; do
  [ "$(stat -Lc %a "$locks" 2>/dev/null)" = 1777 ] && break
  locks=''
done
[ -n "$locks" ] || { echo 'no sticky folder for a lock that all users share (/run/lock, /var/lock, /tmp)' >&2; exit 76; }
lock=$locks/benchctl-machine.lock
exec 9<"$locks" && flock -w 30 9 || { echo "cannot lock $locks (flock of util-linux is needed)" >&2; exit 76; }
held=''
if [ -e "$lock" ] || [ -L "$lock" ]; then
  if [ -L "$lock" ] || [ ! -f "$lock" ]; then
    echo "$lock: something else stands in the place of the lock; remove it" >&2; exit 76
  fi
  held=$(head -c 2000 "$lock") || exit 76
fi
of() { printf '%s\n' "$held" | sed -n "s/^$1=//p" | head -n 1; }
running() {
  { ls -l /proc/[0-9]*/exe 2>/dev/null | grep -F -e "-> $1/" | sed 's|.* /proc/\([0-9]*\)/exe -> .*|\1|'
    grep -lzF -e "BENCHCTL_SCRATCH=$1/" /proc/[0-9]*/environ 2>/dev/null | sed 's|/proc/\([0-9]*\)/.*|\1|'
  } | sort -un
}
)sh";

constexpr const char* kTake = R"sh(
now=$(date +%s)
if [ -n "$held" ]; then
  work=$(of work) expires=$(of expires)
  if [ "$(of machine)" = "$name" ] && [ -O "$lock" ]; then
    if [ ! -d "$work" ] || [ -L "$work" ] || [ ! -O "$work" ]; then
      echo "$work is gone, and $lock still names it" >&2; exit 78
    fi
    again=1
  else
    case $expires in ''|*[!0-9]*) expires=0;; esac
    busy=''
    [ -z "$work" ] || busy=$(running "$work" | tr '\n' ' ')
    if [ "$expires" -gt "$now" ] || [ -n "$busy" ]; then
      printf '%s\n' "$held"
      [ "$expires" -gt "$now" ] || echo "busy=$busy"
      exit 75
    fi
    rm -f "$lock" 2>/dev/null
    [ ! -e "$lock" ] || { printf '%s\n' "$held"; echo 'foreign=1'; exit 75; }
  fi
fi
if [ -z "$again" ]; then
  work='' why='' IFS=$new_line
  for base in $(bases); do
    IFS=$old_ifs
    folder=${base%/*}
    [ -d "$folder" ] && [ -w "$folder" ] || continue
    try=${base}benchctl-$name
    mkdir -m 700 "$try" 2>/dev/null || { why="$why; $folder: no folder can be made"; continue; }
    trap 'rm -rf "$try"' EXIT
    printf '#!/bin/sh\nexit 0\n' >"$try/probe" && chmod 700 "$try/probe"
    free=$(df -Pk "$try" | awk 'NR == 2 { print $4 }')
    if ! "$try/probe" 2>/dev/null; then
      why="$why; $folder: programs cannot be executed there (noexec, or a security module)"
    elif [ "${free:-0}" -lt "$4" ]; then
      why="$why; $folder: ${free:-0} KiB free, $4 needed"
    else
      rm -f "$try/probe"
      work=$try
      break
    fi
    rm -rf "$try"
    trap - EXIT
  done
  IFS=$old_ifs
  [ -n "$work" ] || { echo "no folder for the agent${why:-: this user may write to none}" >&2; exit 78; }
  new=$(mktemp "$locks/.benchctl-XXXXXX") || exit 76
  { echo 'benchctl=1'; echo "machine=$name"; printf '%s\n' "$3"; echo "user=$(id -un)"; echo "since=$now"
    echo "expires=$((now + $2))"; echo "work=$work"; } >"$new" && chmod 644 "$new" && ln -T "$new" "$lock"
  linked=$?
  rm -f "$new"
  [ $linked = 0 ] || { echo "$lock cannot be made" >&2; exit 76; }
  trap - EXIT
fi
echo "work=$work"
# A container has a boot id of its own making, and still the kernel's build and the second it was started in.
apart=$(($(sed -n 's/^btime //p' /proc/stat) - ${7:-0}))
if [ "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)" = "$5" ] ||
  { [ "$(uname -v)" = "$6" ] && [ "${apart#-}" -le 1 ]; }; then echo 'same_kernel=1'; fi
)sh";

constexpr const char* kGiveBack = R"sh(
left='' ours=''
[ "$(of machine)" != "$name" ] || ours=1
exec 9<&-
IFS=$new_line
for base in $(bases); do
  IFS=$old_ifs
  work=${base}benchctl-$name
  [ -d "$work" ] && [ ! -L "$work" ] && [ -O "$work" ] || continue
  work=$(cd -P "$work" && pwd) || continue
  turn=0
  while pids=$(running "$work"); [ -n "$pids" ] && [ $turn -lt 40 ]; do
    if [ $turn = 0 ]; then kill -TERM $pids 2>/dev/null; elif [ $turn -ge 20 ]; then kill -KILL $pids 2>/dev/null; fi
    turn=$((turn + 1))
    sleep 0.25
  done
  [ -z "$pids" ] || left="$left processes $pids cannot be ended;"
  # What hardening changed goes back before the journal that says how does. It stays where something could not.
  if [ -e "$work/harden.journal" ]; then
    for agent in "$work"/agent-*; do [ -x "$agent" ] && break; done
    "$agent" harden undo --journal "$work/harden.journal" </dev/null >/dev/null 2>&1
    if [ -e "$work/harden.journal" ]; then
      left="$left what hardening changed could not be put back ($agent harden undo --journal $work/harden.journal);"
      continue
    fi
  fi
  said=$(rm -rf --one-file-system "$work" 2>&1 | head -n 1)
  [ ! -e "$work" ] || left="$left $work cannot be removed: $said;"
done
IFS=$old_ifs
[ -z "$left" ] || { echo "$left" >&2; exit 77; }
[ -n "$ours" ] || exit 0
exec 9<"$locks" && flock -w 30 9 || exit 77
held=$(head -c 2000 "$lock" 2>/dev/null)
[ "$(of machine)" = "$name" ] || exit 0
rm -f "$lock" 2>/dev/null
[ ! -e "$lock" ] || { echo "$lock cannot be removed" >&2; exit 77; }
)sh";

constexpr const char* kLook = R"sh(
state=gone
if [ "$(of machine)" = "$name" ]; then state=there; echo "work=$(of work)"; fi
IFS=$new_line
for base in $(bases); do
  work=${base}benchctl-$name
  if [ -d "$work" ] && [ ! -L "$work" ] && [ -O "$work" ]; then state=there; fi
done
echo "state=$state"
)sh";

}  // namespace

std::string ssh_take_script() {
  return std::string(kCommon) + kTake;
}

std::string ssh_give_back_script() {
  return std::string(kCommon) + kGiveBack;
}

std::string ssh_look_script() {
  return std::string(kCommon) + kLook;
}

}  // namespace benchctl
