// An endpoint as members of a JSON object, for whoever must remember one. All but its kind: that is the caller's.
#pragma once

#include "lib/json.h"
#include "provisioning/provider.h"

namespace benchctl {

void add_endpoint_members(Json& object, const Endpoint& endpoint);
// What is absent is empty; the port is then 22.
Endpoint endpoint_of_members(const Json& object);

}  // namespace benchctl
