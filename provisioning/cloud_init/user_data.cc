#include "provisioning/cloud_init/user_data.h"

#include "lib/json.h"

namespace benchctl {
namespace {

constexpr char kMarker[] = "/run/benchctl/ready";

}  // namespace

Bootstrap make_bootstrap(const SshIdentity& host, const std::string& client_public_key) {
  // JSON is YAML: whatever a key or comment holds, it cannot leave its string.
  Json config = Json::object();
  config.set("ssh_deletekeys", true);
  config.set("ssh_genkeytypes", Json::array());
  config.set("ssh_keys", Json::object({{"ed25519_private", host.private_key}, {"ed25519_public", host.public_key}}));
  config.set("ssh_pwauth", false);
  config.set("disable_root", false);
  Json root = Json::object();
  root.set("name", "root");
  root.set("lock_passwd", true);
  root.set("ssh_authorized_keys", Json(Json::Array{client_public_key}));
  config.set("users", Json(Json::Array{root}));
  // A reboot of ours must not meet upgrades or a changed network.
  config.set("package_update", false);
  config.set("package_upgrade", false);
  // Debian 12 would set en_US.UTF-8, which no minimal machine has, and report that as an error.
  config.set("locale", false);
  config.set(
      "runcmd",
      Json(Json::Array{Json(Json::Array{"sh", "-c", "mkdir -p /run/benchctl && touch " + std::string(kMarker)})}));
  return Bootstrap{"#cloud-config\n" + config.dump() + "\n", kMarker};
}

}  // namespace benchctl
