#include <cstdio>

#include "controller/plan/plan_text.h"
#include "lib/text.h"
#include "provisioning/packages.h"

namespace benchctl {
namespace {

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string list(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(quote(text));
  return "[" + join(all, ", ") + "]";
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

std::string duration(int64_t ms) {
  for (auto [unit, length] : {std::pair{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}})
    if (ms % length == 0) return quote(std::to_string(ms / length) + unit);
  return quote(std::to_string(ms) + "ms");
}

std::string percent(double share) {
  return quote(number(share * 100) + "%");
}

const char* boolean(bool value) {
  return value ? "true" : "false";
}

class Writer {
 public:
  void table(const std::string& header) { text_ += "\n" + header + "\n"; }
  void set(const std::string& key, const std::string& value) { text_ += key + " = " + value + "\n"; }
  void set_text(const std::string& key, const std::string& value) {
    if (!value.empty()) set(key, quote(value));
  }
  void set_list(const std::string& key, const std::vector<std::string>& values) {
    if (!values.empty()) set(key, list(values));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void write_hosts(Writer& out, const std::vector<SshHost>& hosts) {
  out.set_text("become", hosts.front().become);  // one for all of a fleet
  std::vector<std::string> tables;
  for (const SshHost& host : hosts)
    tables.push_back("{ host = " + quote(host.host) + ", port = " + std::to_string(host.port) +
                     ", user = " + quote(host.user) + ", key_file = " + quote(host.key_file) +
                     ", host_key = " + quote(host.host_key) + " }");
  out.set("hosts", "[" + join(tables, ", ") + "]");
}

void write_fleet(Writer& out, const std::string& name, const Fleet& fleet) {
  out.table("[fleet." + name + "]");
  out.set_text("provider", fleet.spec.provider);
  out.set("count", std::to_string(fleet.count));
  out.set_text("image", fleet.spec.image);
  out.set_text("arch", fleet.spec.arch);
  for (const auto& [key, value] : fleet.spec.options)
    if (key == "packages")
      out.set_list(key, packages_of(fleet.spec));
    else
      out.set(key, quote(value));
  if (!fleet.spec.hosts.empty()) write_hosts(out, fleet.spec.hosts);
  const Require& require = fleet.require;
  out.table("[fleet." + name + ".require]");
  out.set_list("cpu_flags", require.cpu_flags);
  out.set_text("cpu_model", require.cpu_model);
  if (require.memory_bytes > 0) out.set("memory", std::to_string(require.memory_bytes));
  out.set_text("cpu_class", require.cpu_class);
  out.set("rerolls", std::to_string(require.rerolls));
  out.set("spread", boolean(require.spread));
  out.set("allow_burstable", boolean(require.allow_burstable));
}

void write_settings(Writer& out, const Plan& plan) {
  out.table("[harden]");
  out.set_text("profile", plan.harden_profile);
  out.set("persistent_ok", boolean(plan.persistent_ok));
  out.table("[limits]");
  out.set("ttl", duration(plan.limits.ttl_ms));
  if (plan.limits.max_cost)
    out.set("max_cost", quote(number(*plan.limits.max_cost) + " " + plan.limits.max_cost_currency));
  out.set("max_parallel", std::to_string(plan.limits.max_parallel));
  out.set("trial_timeout", duration(plan.limits.trial_timeout_ms));
  const Schedule& schedule = plan.schedule;
  out.table("[schedule]");
  out.set_text("order", schedule.order);
  out.set("seed", std::to_string(schedule.seed));
  out.set("warmup_rounds", std::to_string(schedule.warmup_rounds));
  out.set("runs", std::to_string(schedule.runs));
  if (schedule.max_runs >= schedule.runs) out.set("max_runs", std::to_string(schedule.max_runs));
  if (schedule.target_ci) out.set("target_ci", percent(*schedule.target_ci));
  out.set("aa", boolean(schedule.aa));
  out.table("[noise]");
  out.set("max_steal", percent(plan.noise.max_steal));
  out.set("repeat_steal", percent(plan.noise.repeat_steal));
  out.set("max_repeats", percent(plan.noise.max_repeats));
}

// Numbers and true or false bare, where reading them gives the same text again; all else in quotes. The reader takes
// either for a text.
std::string param_value(const std::string& value) {
  auto integer = parse_int(value);
  bool bare = value == "true" || value == "false" || (integer && std::to_string(*integer) == value);
  return bare ? value : quote(value);
}

void write_suite(Writer& out, const Suite& suite) {
  out.table("[[suite]]");
  out.set_text("name", suite.name);
  out.set_text("workload", suite.workload);
  out.set_text("mode", suite.mode);
  if (suite.command.empty()) {
    out.set_list("arms", suite.arms);
    out.set_text("baseline", suite.baseline);
    out.set_text("isa", suite.isa);
    if (suite.on_machine) out.set_text("build", "on-machine");
    out.set("skip_unbuilt", boolean(suite.skip_unbuilt));
  } else {
    out.set_list("command", suite.command);
    out.set_text("format", suite.format);
  }
  if (suite.params.empty()) return;
  out.table("[suite.params]");
  for (const auto& [name, values] : suite.params) {
    std::vector<std::string> written;
    for (const std::string& value : values) written.push_back(param_value(value));
    out.set(quote(name), written.size() == 1 ? written[0] : "[" + join(written, ", ") + "]");
  }
}

}  // namespace

std::string resolved_toml(const Plan& plan) {
  Writer out;
  out.set("schema", std::to_string(plan.schema));
  out.set_text("name", plan.name);
  for (const auto& [name, fleet] : plan.fleets) write_fleet(out, name, fleet);
  write_settings(out, plan);
  for (const Suite& suite : plan.suites) write_suite(out, suite);
  out.table("[report]");
  out.set("redact", boolean(plan.redact));
  out.set_list("claims", plan.claims);
  return out.take();
}

}  // namespace benchctl
