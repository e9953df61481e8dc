#include "agent/exec/trial_events.h"

namespace benchctl {

Json trial_started_fields(const TrialSpec& spec) {
  Json fields = Json::object();
  fields.set("trial", spec.trial);
  fields.set("attempt", spec.attempt);
  fields.set("suite", spec.suite);
  fields.set("point", spec.point);
  fields.set("arm", spec.arm);
  fields.set("aa_copy", spec.aa_copy);
  fields.set("round", spec.round);
  fields.set("position", spec.position);
  return fields;
}

Json trial_finished_fields(const TrialRecord& record) {
  Json fields = Json::object();
  fields.set("trial", record.spec.trial);
  fields.set("attempt", record.spec.attempt);
  fields.set("round", record.spec.round);
  fields.set("verdict", record.verdict);
  fields.set("reason", record.reason);
  fields.set("seconds", static_cast<double>(record.wall_ns) / 1e9);
  fields.set("steal_percent", record.steal_percent ? Json(*record.steal_percent) : Json());
  return fields;
}

}  // namespace benchctl
