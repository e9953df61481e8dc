// The shell text that becomes a machine. It is one constant; every parameter comes in through the environment.
#pragma once

namespace benchctl {

// Run detached, in a session of its own, with the variables DIR (the machine's folder), HELPER_CGROUPS and
// MACHINE_CGROUPS (folders, space-separated), BASE (the image), UIDS (first user id), ROOT_BYTES, GATEWAY
// ("10.1.2.1/24") and NAME. All mounts are made in a mount namespace, the bridge in a network namespace of the
// machine's own, so that they end with its processes. Nothing happens before the cgroups are entered; when those are
// gone, the machine was destroyed meanwhile and this must not start it.
inline constexpr char kNspawnLaunch[] = R"sh(
cd "$DIR"
for folder in $HELPER_CGROUPS; do echo $$ >"$folder/cgroup.procs"; done
exec unshare --mount --net --propagation private sh -euc '
mount -t tmpfs -o mode=0755,size="$ROOT_BYTES" tmpfs mnt
mkdir mnt/up mnt/wk mnt/root mnt/work
chown "$UIDS:$UIDS" mnt/up
mount -t overlay -o lowerdir="$BASE",upperdir="$DIR/mnt/up",workdir="$DIR/mnt/wk" overlay mnt/root
mount -o loop,nodev work.img mnt/work
mkdir -p mnt/root/var/lib/cloud/seed
mv seed mnt/root/var/lib/cloud/seed/nocloud
chown -R "$UIDS:$UIDS" mnt/root/var/lib/cloud
ip link set lo up
ip link add bc0 type bridge
ip address add "$GATEWAY" dev bc0
ip link set bc0 up
# What systemd-nspawn keeps below /run is ours alone and goes with us.
mount -t tmpfs -o mode=0755 tmpfs /run
ln -s "/proc/$$/ns/net" netns
# 133 is how systemd-nspawn says that the machine asked for a reboot.
code=133
while [ "$code" = 133 ]; do
code=0
unshare --pid --fork --kill-child=KILL --mount-proc sh -euc '\''
for folder in $MACHINE_CGROUPS; do echo 0 >"$folder/cgroup.procs"; done
exec systemd-nspawn --quiet --keep-unit --register=no --private-users="$UIDS:65536" --private-users-ownership=off \
  --directory="$DIR/mnt/root" --bind="$DIR/mnt/work:/var/lib/benchctl" --boot --network-bridge=bc0 --machine="$NAME" \
  --resolv-conf=off --timezone=off --link-journal=no
'\'' || code=$?
done
exit "$code"
'
)sh";

}  // namespace benchctl
