#include "controller/workloads/check.h"

#include <algorithm>

#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

constexpr auto kArmTime = std::chrono::minutes(5);

// The column of `check` by the format's header.
int check_column(const std::string& format) {
  return format == "sequential" ? 4 : format == "generic" ? 5 : -1;
}

const char* header_of(const std::string& format) {
  return format == "sequential" ? "case,items,micros,us_per_item,check" : "case,metric,unit,value,better,check";
}

std::string first_difference(std::string_view left, std::string_view right) {
  auto a = split(left, '\n'), b = split(right, '\n');
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    std::string_view one = i < a.size() ? a[i] : "", other = i < b.size() ? b[i] : "";
    if (one != other)
      return "line " + std::to_string(i + 1) + " is \"" + sanitize(other, 160) + "\" where the baseline has \"" +
             sanitize(one, 160) + "\"";
  }
  return "";
}

std::string difference(const ArmEvidence& base, const ArmEvidence& other) {
  if (base.trace != other.trace) return "its trace differs: " + first_difference(base.trace, other.trace);
  for (const auto& [name, check] : base.checks) {
    auto found = other.checks.find(name);
    if (found == other.checks.end()) return "it has no case " + name;
    if (found->second != check) return "its check of " + name + " is " + found->second + ", not " + check;
  }
  return "";
}

// The words before a program's own that make it run here: none, or the emulator of its architecture.
Result<std::vector<std::string>> emulator_for(const std::string& arch) {
  if (arch.empty() || arch == this_architecture()) return std::vector<std::string>{};
  const std::string program = "qemu-" + arch + "-static";
  auto found = find_program(program);
  if (!found)
    return Error{ErrorKind::kUsage, program + " is missing, which runs programs for " + arch +
                                        " on this computer: apt-get install qemu-user-static"};
  return std::vector<std::string>{*found};
}

constexpr int kUnsupported = 75;

}  // namespace

Result<std::string> run_arm(const Workload& workload, const ArmDecl& arm, const Bundle& bundle,
                            const std::vector<std::string>& words, BuildContext& context) {
  CommandSpec spec;
  BENCHCTL_TRY(spec.argv, emulator_for(bundle.manifest["arch"].as_string()));
  spec.argv.insert(spec.argv.end(), arm.argv.begin(), arm.argv.end());
  spec.argv[spec.argv.size() - arm.argv.size()] = bundle.folder + "/" + arm.argv[0];
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  const std::string scratch = context.cache_dir + "/work/check-" + random_hex(8);
  BENCHCTL_CHECK(make_dirs(scratch));
  spec.cwd = scratch;
  spec.env = {"PATH=/usr/bin:/bin", "LC_ALL=C", "BENCHCTL_SEED=1", "BENCHCTL_SCRATCH=" + scratch,
              "BENCHCTL_OUT=" + scratch};
  spec.deadline = Deadline::in(context.clock, kArmTime);
  spec.whole_group = true;
  auto ended = run_command(spec, context.clock);
  BENCHCTL_CHECK(remove_tree(scratch));
  const std::string what = workload.name + ": " + arm.name + " " + shell_quote(words);
  if (!ended) return Error{ErrorKind::kWorkload, what + ": " + ended.error().message};
  if (!ended->ok())
    return Error{ended->exit_code == kUnsupported ? ErrorKind::kRejected : ErrorKind::kWorkload,
                 what + ": " +
                     (ended->signal.empty() ? "exit code " + std::to_string(ended->exit_code) : "SIG" + ended->signal) +
                     ": " + sanitize(trim(ended->errors), 400)};
  return ended->output;
}

Result<std::map<std::string, std::string>> checks_of(const std::string& csv, const std::string& format,
                                                     const std::string& arm) {
  const int column = check_column(format);
  if (column < 0) return Error{ErrorKind::kUsage, "the format " + format + " has no check column"};
  auto malformed = [&](size_t line, const std::string& why) {
    return Error{ErrorKind::kWorkload, arm + ": line " + std::to_string(line) + " of its output " + why};
  };
  auto lines = split(csv, '\n');
  if (lines.empty() || lines[0] != header_of(format))
    return malformed(1, std::string("is not the header ") + header_of(format));
  if (!lines.back().empty()) return malformed(lines.size(), "has no line end");
  std::map<std::string, std::string> checks;
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    auto cells = split(lines[i], ',');
    if (cells.size() != static_cast<size_t>(split(header_of(format), ',').size()))
      return malformed(i + 1, "has another number of columns");
    std::string name(cells[0]), check(cells[static_cast<size_t>(column)]);
    if (name.starts_with(arm + "/")) name.erase(0, arm.size() + 1);
    auto [place, fresh] = checks.emplace(name, check);
    // Rows of the generic format are told apart by case and metric, and may repeat: all of them count.
    if (!fresh && format != "generic") return malformed(i + 1, "repeats its case");
    if (!fresh) place->second += " " + check;
  }
  if (checks.empty()) return malformed(2, "is missing: there are no cases");
  return checks;
}

Status compare_evidence(const std::string& baseline, const std::vector<ArmEvidence>& evidence) {
  auto base =
      std::find_if(evidence.begin(), evidence.end(), [&](const ArmEvidence& one) { return one.arm == baseline; });
  if (base == evidence.end()) return Error{ErrorKind::kUsage, "the baseline " + baseline + " was not run"};
  std::vector<std::string> found;
  for (const ArmEvidence& other : evidence)
    if (std::string why = difference(*base, other); !why.empty()) found.push_back(other.arm + ": " + why);
  if (found.empty()) return {};
  return Error{ErrorKind::kWorkload, "these arms do not do what " + baseline + " does: " + join(found, "; ")};
}

}  // namespace benchctl
