#include "controller/claims/claim_json.h"

namespace benchctl {
namespace {

Json edge(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json sides_json(const std::vector<ClaimSide>& sides) {
  Json all = Json::array();
  for (const ClaimSide& side : sides) {
    Json params = Json::object();
    for (const auto& [name, value] : side.params) params.set(name, value);
    all.push(Json::object({{"workload", side.workload},
                           {"mode", side.mode},
                           {"arm", side.arm},
                           {"case", side.case_name},
                           {"metric", side.metric},
                           {"params", std::move(params)}}));
  }
  return all;
}

Json claim_json(const Claim& claim, const ClaimFile& file) {
  Json json = Json::object({{"id", claim.id}, {"file", file.file}});
  auto source = file.sources.find(claim.source);
  const ClaimSource from = source == file.sources.end() ? ClaimSource{} : source->second;
  json.set("source", Json::object({{"title", from.title}, {"environment", from.environment}}));
  json.set("statement", claim.statement);
  json.set("published", claim.published);
  json.set("kind", claim.kind);
  json.set("not_tested", claim.not_tested);
  json.set("min", edge(claim.min));
  json.set("max", edge(claim.max));
  json.set("regime", Json::object({{"words", claim.regime.words},
                                   {"filesystem", claim.regime.filesystem},
                                   {"arch", claim.regime.arch},
                                   {"cpus", claim.regime.cpus}}));
  json.set("of", sides_json(claim.of));
  json.set("to", sides_json(claim.to));
  return json;
}

}  // namespace

void add_to(Json& array, const ClaimFile& file) {
  for (const Claim& claim : file.claims) array.push(claim_json(claim, file));
}

}  // namespace benchctl
