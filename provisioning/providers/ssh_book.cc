#include "provisioning/providers/ssh_book.h"

#include <algorithm>

#include "lib/files.h"
#include "lib/lock_wait.h"
#include "lib/text.h"
#include "provisioning/endpoint_json.h"

namespace benchctl {
namespace {

constexpr std::chrono::seconds kLockTime{20};
constexpr int64_t kFileBytes = 4 << 20;

Json to_json(const Machine& machine) {
  Json json = Json::object();
  json.set("nonce", machine.nonce);
  json.set("name", machine.name);
  json.set("id", machine.id);
  json.set("run", machine.run);
  json.set("owner", machine.owner);
  json.set("expires_unix", machine.expires_unix);
  add_endpoint_members(json, *machine.endpoint);
  return json;
}

Machine machine_from_json(const Json& json) {
  return Machine{"ssh",
                 json["id"].as_string(),
                 json["name"].as_string(),
                 json["nonce"].as_string(),
                 json["run"].as_string(),
                 json["owner"].as_string(),
                 json["expires_unix"].as_int(),
                 endpoint_of_members(json)};
}

// The document without the machine of that nonce.
Json others(const Json& document, const std::string& nonce) {
  Json kept = Json::array();
  for (const Json& one : document["machines"].as_array())
    if (one["nonce"].as_string() != nonce) kept.push(one);
  return kept;
}

}  // namespace

Result<Json> SharedJson::read() const {
  if (!exists(path_)) return Json::object();
  BENCHCTL_TRY(std::string text, read_file(path_, kFileBytes));
  auto json = Json::parse(text);
  if (json && json->is_object()) return json;
  return Error{
      ErrorKind::kInternal,
      path_ + (json ? ": no JSON object" : ": " + json.error().message) +
          "; it says which machines are to be given back and which host keys are trusted: mend it, or move it away"};
}

Status SharedJson::change(const std::function<Status(Json&)>& edit) {
  BENCHCTL_CHECK(make_dirs(path_.substr(0, path_.rfind('/'))));
  auto lock = wait_for_lock(path_ + ".lock", "benchctl", clock_, Deadline::in(clock_, kLockTime), {},
                            std::chrono::milliseconds(20));
  if (!lock) return Error{ErrorKind::kInternal, lock.error().message};
  BENCHCTL_TRY(Json document, read());
  BENCHCTL_CHECK(edit(document));
  return write_atomic(path_, document.dump_pretty(), 0600);
}

Result<std::optional<KnownHosts::Entry>> KnownHosts::find(const std::string& host_and_port) const {
  BENCHCTL_TRY(Json document, file_.read());
  const Json& one = document["hosts"][host_and_port];
  if (one.is_null()) return std::optional<Entry>();
  return std::optional<Entry>(Entry{one["host_key"].as_string(), one["since"].as_string()});
}

Status KnownHosts::add(const std::string& host_and_port, const std::string& host_key) {
  return file_.change([&](Json& document) -> Status {
    Json hosts = document["hosts"].is_object() ? document["hosts"] : Json::object();
    const std::string& before = hosts[host_and_port]["host_key"].as_string();
    if (before == host_key) return {};
    if (!before.empty())
      return Error{ErrorKind::kProvisioning, host_and_port + " shows the host key " + host_key + " and had " + before};
    Json one = Json::object();
    one.set("host_key", host_key);
    one.set("since", format_utc(clock_.unix_ms()));
    hosts.set(host_and_port, std::move(one));
    document.set("hosts", std::move(hosts));
    return {};
  });
}

Result<std::vector<Machine>> SshBook::all() const {
  BENCHCTL_TRY(Json document, file_.read());
  std::vector<Machine> machines;
  for (const Json& one : document["machines"].as_array()) machines.push_back(machine_from_json(one));
  return machines;
}

Result<std::optional<Machine>> SshBook::find(const std::string& nonce) const {
  BENCHCTL_TRY(auto machines, all());
  for (Machine& machine : machines)
    if (machine.nonce == nonce) return std::optional<Machine>(std::move(machine));
  return std::optional<Machine>();
}

Status SshBook::put(const Machine& machine) {
  return file_.change([&](Json& document) -> Status {
    Json machines = others(document, machine.nonce);
    machines.push(to_json(machine));
    document.set("machines", std::move(machines));
    return {};
  });
}

Status SshBook::remove(const std::string& nonce) {
  return file_.change([&](Json& document) -> Status {
    document.set("machines", others(document, nonce));
    return {};
  });
}

}  // namespace benchctl
