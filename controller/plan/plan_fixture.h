// For tests and fuzzing: a workload as its loader would give it, and a way from a text to a plan.
#pragma once

#include <string>
#include <vector>

#include "controller/plan/plan_reader.h"

namespace benchctl::fixture {

inline ParamDecl integer(std::string name, std::string usual, int64_t min, int64_t max) {
  ParamDecl decl;
  decl.type = ParamDecl::Type::kInteger;
  decl.name = std::move(name);
  decl.default_value = std::move(usual);
  decl.min = min;
  decl.max = max;
  return decl;
}

inline ParamDecl duration(std::string name, std::string usual) {
  ParamDecl decl;
  decl.type = ParamDecl::Type::kDuration;
  decl.grows = true;
  decl.name = std::move(name);
  decl.default_value = std::move(usual);
  decl.min = 0;
  decl.max = 600'000;
  return decl;
}

inline Workload request_shape() {
  ModeDecl sequential{"sequential", "sequential", "", {}, {"--mode", "sequential", "--items", "{items}"}, 1};
  sequential.params.push_back(integer("items", "10000", 1, 100'000'000));
  sequential.params[0].grows = true;
  sequential.params[0].warn_below = 10'000;
  sequential.params[0].warn_reason = "a CPU has not reached full speed";
  ParamDecl cache;
  cache.type = ParamDecl::Type::kText;
  cache.name = "statement_cache";
  cache.default_value = "fits";
  cache.choices = {"fits", "default", "none"};
  cache.list = true;
  sequential.params.push_back(cache);

  ModeDecl concurrent{"concurrent", "concurrent", "", {}, {"--workers", "{workers}", "--duration", "{duration_s}"}, 6};
  ParamDecl workers = integer("workers", "auto", 1, 1024);
  workers.list = workers.allow_auto = true;
  ParamDecl kind;
  kind.type = ParamDecl::Type::kText;
  kind.name = "workload";
  kind.default_value = "mixed";
  kind.choices = {"read", "write", "mixed", "single_writer"};
  kind.list = true;
  concurrent.params = {kind, workers, duration("duration", "5s"), duration("warmup", "1s")};

  Workload workload;
  workload.name = "request_shape";
  workload.version = "1";
  workload.baseline = "c_sqlite";
  workload.modes = {sequential, concurrent};
  workload.arms = {{"c_sqlite", "", {"bin/c_sqlite"}, "c", {}},
                   {"rust_rusqlite", "", {"bin/rust_rusqlite"}, "rust", {}},
                   {"rust_query_only", "", {"bin/rust_rusqlite", "--query-only"}, "rust", {"sequential"}}};
  return workload;
}

inline std::vector<Workload> workloads() {
  Workload other;
  other.name = "spin";
  other.version = "3";
  other.baseline = "spin";
  other.modes = {ModeDecl{"once", "generic", "", {}, {}, 0.5}};
  other.arms = {{"spin", "", {"bin/spin"}, "c", {}}};
  BuildDecl c;
  c.name = "c";
  c.targets = {{"x86_64", "x86-64-v2"}};
  c.on_machine = {{"x86_64", "x86-64-v2"}, {"x86_64", "x86-64-v4"}};
  other.builds = {c};
  return {request_shape(), other};
}

inline PlanSource source(std::string text) {
  return {"p.toml", std::move(text), "", MachineShape{2, "x86_64", 0, 1}};
}

inline Result<Plan> read(const std::string& text, const std::vector<std::string>& sets = {}) {
  return read_plan(source(text), workloads(), sets);
}

}  // namespace benchctl::fixture
