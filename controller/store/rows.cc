#include "controller/store/rows.h"

#include "provisioning/endpoint_json.h"

namespace benchctl {

std::string_view name_of(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::kRunning:
      return "running";
    case RunOutcome::kGood:
      return "good";
    case RunOutcome::kFailed:
      return "failed";
    case RunOutcome::kInterrupted:
      return "interrupted";
  }
  return "running";
}

std::string_view name_of(MachineRowState state) {
  switch (state) {
    case MachineRowState::kIntent:
      return "intent";
    case MachineRowState::kExists:
      return "exists";
    case MachineRowState::kReleasing:
      return "releasing";
    case MachineRowState::kGone:
      return "gone";
    case MachineRowState::kReleased:
      return "released";
    case MachineRowState::kRejected:
      return "rejected";
  }
  return "intent";
}

Json to_json(const MachineSpec& spec) {
  Json json = Json::object();
  json.set("provider", spec.provider);
  json.set("fleet", spec.fleet);
  json.set("regions", spec.regions);
  json.set("size", spec.size);
  json.set("image", spec.image);
  json.set("arch", spec.arch);
  Json options = Json::object();
  for (const auto& [key, value] : spec.options) options.set(key, value);
  json.set("options", std::move(options));
  if (spec.hosts.empty()) return json;
  Json hosts = Json::array();
  for (const SshHost& host : spec.hosts) {
    Json one = Json::object();
    one.set("host", host.host);
    one.set("port", host.port);
    one.set("user", host.user);
    one.set("key_file", host.key_file);
    one.set("host_key", host.host_key);
    one.set("become", host.become);
    hosts.push(std::move(one));
  }
  json.set("hosts", std::move(hosts));
  return json;
}

Result<MachineSpec> machine_spec_from_json(const Json& json) {
  MachineSpec spec;
  BENCHCTL_TRY(spec.provider, json.need_string("provider"));
  spec.fleet = json["fleet"].as_string();
  spec.regions = json["regions"].as_strings();
  spec.size = json["size"].as_string();
  spec.image = json["image"].as_string();
  spec.arch = json["arch"].as_string();
  for (const auto& [key, value] : json["options"].as_object()) spec.options[key] = value.as_string();
  for (const Json& one : json["hosts"].as_array())
    spec.hosts.push_back({one["host"].as_string(), static_cast<int>(one["port"].as_int(22)), one["user"].as_string(),
                          one["key_file"].as_string(), one["host_key"].as_string(), one["become"].as_string()});
  return spec;
}

Json to_json(const Endpoint& endpoint) {
  Json json = Json::object();
  json.set("kind", endpoint.kind == Endpoint::Kind::kLocal ? "local" : "ssh");
  add_endpoint_members(json, endpoint);
  return json;
}

Result<Endpoint> endpoint_from_json(const Json& json) {
  Endpoint endpoint = endpoint_of_members(json);
  BENCHCTL_TRY(std::string kind, json.need_string("kind"));
  if (kind != "ssh" && kind != "local") return Error{ErrorKind::kInternal, "endpoint of an unknown kind"};
  endpoint.kind = kind == "local" ? Endpoint::Kind::kLocal : Endpoint::Kind::kSsh;
  return endpoint;
}

}  // namespace benchctl
