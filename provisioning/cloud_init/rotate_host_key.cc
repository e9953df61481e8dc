#include "provisioning/cloud_init/rotate_host_key.h"

#include "lib/json.h"
#include "lib/text.h"
#include "provisioning/cloud_init/ssh_keys.h"

namespace benchctl {
namespace {

// $1 the marker, $2 tenths of seconds to wait. cloud-init writes result.json as its very last act; its exit code says
// less (2 can mean done), and asking `cloud-init status` costs a Python start. First line of output: that document;
// second: the new public key.
constexpr char kScript[] = R"sh(
turns=$2
until [ -e "$1" ] && [ -e /run/cloud-init/result.json ]; do
  [ "$turns" -gt 0 ] || { echo "cloud-init has not ended: $(cat /run/cloud-init/status.json 2>/dev/null | tr -d '\n')" >&2; exit 75; }
  turns=$((turns - 1)); sleep 0.1
done
tr -d '\n' </run/cloud-init/result.json; echo
umask 077
rm -f /etc/ssh/.new_key /etc/ssh/.new_key.pub
ssh-keygen -q -t ed25519 -N '' -C "$(hostname)" -f /etc/ssh/.new_key </dev/null
chmod 644 /etc/ssh/.new_key.pub
mv -f /etc/ssh/.new_key /etc/ssh/ssh_host_ed25519_key
mv -f /etc/ssh/.new_key.pub /etc/ssh/ssh_host_ed25519_key.pub
rm -f /etc/ssh/ssh_host_rsa_key* /etc/ssh/ssh_host_ecdsa_key*
touch /etc/cloud/cloud-init.disabled
rm -rf /var/lib/cloud/seed /var/lib/cloud/instance /var/lib/cloud/instances /var/lib/cloud/data/previous-*
rm -f /run/cloud-init/combined-cloud-config.json /run/cloud-init/instance-data*.json /run/cloud-init/cloud.cfg
systemctl reload-or-restart ssh
cat /etc/ssh/ssh_host_ed25519_key.pub
)sh";

}  // namespace

Result<std::string> rotate_host_key(Transport& transport, Clock& clock, Deadline deadline, const std::string& marker) {
  auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left(clock)).count() / 100;
  RunOptions options;
  // Time for the rest of the script, and for its message to come through.
  options.deadline = Deadline{deadline.at + std::chrono::seconds(20)};
  options.output_cap = 64 << 10;
  BENCHCTL_TRY(CommandResult done,
               transport.run({"sh", "-euc", kScript, "rotate", marker, std::to_string(tenths)}, options));
  if (!done.ok()) return Error{ErrorKind::kProvisioning, "renew the host key: " + sanitize(trim(done.errors), 600)};
  auto lines = split(trim(done.output), '\n');
  if (lines.size() != 2) return Error{ErrorKind::kProvisioning, "renew the host key: the machine's answer is torn"};
  BENCHCTL_TRY(Json result, Json::parse(lines[0]));
  if (const auto& errors = result["v1"]["errors"].as_array(); !errors.empty())
    return Error{ErrorKind::kProvisioning,
                 "cloud-init failed on the machine: " + sanitize(result["v1"]["errors"].dump(), 600)};
  auto pin = host_key_fingerprint(std::string(lines[1]));
  if (!pin) return Error{ErrorKind::kProvisioning, "renew the host key: " + pin.error().message};
  return pin;
}

}  // namespace benchctl
