#include "provisioning/endpoint_json.h"

namespace benchctl {

void add_endpoint_members(Json& object, const Endpoint& endpoint) {
  object.set("host", endpoint.host);
  object.set("port", endpoint.port);
  object.set("user", endpoint.user);
  object.set("netns", endpoint.netns);
  object.set("work_dir", endpoint.work_dir);
  object.set("key_file", endpoint.key_file);
  object.set("host_key", endpoint.host_key);
  object.set("become", endpoint.become);
}

Endpoint endpoint_of_members(const Json& object) {
  Endpoint endpoint;
  endpoint.host = object["host"].as_string();
  endpoint.port = static_cast<int>(object["port"].as_int(22));
  endpoint.user = object["user"].as_string();
  endpoint.netns = object["netns"].as_string();
  endpoint.work_dir = object["work_dir"].as_string();
  endpoint.key_file = object["key_file"].as_string();
  endpoint.host_key = object["host_key"].as_string();
  endpoint.become = object["become"].as_string();
  return endpoint;
}

}  // namespace benchctl
