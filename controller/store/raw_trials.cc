#include "controller/store/raw_trials.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kRecordBytes = 1 << 20;
constexpr size_t kReasonBytes = 500;

Error refused(const std::string& what) {
  return Error{ErrorKind::kRejected, what};
}

// "trials/000042/a1/rest" -> key and folder; nothing for any other shape.
std::optional<RawTrial> place_of(std::string_view path) {
  auto parts = split(path, '/');
  if (parts.size() < 4 || parts[0] != "trials" || parts[1].size() != 6 || parts[2].size() < 2 || parts[2][0] != 'a')
    return std::nullopt;
  auto number = parse_int(parts[1]);
  auto attempt = parse_int(parts[2].substr(1));
  if (!number || *number < 1 || !attempt || *attempt < 1 || *attempt > 99 ||
      std::to_string(*attempt) != parts[2].substr(1))
    return std::nullopt;
  RawTrial trial;
  trial.key = {*number, static_cast<int>(*attempt)};
  trial.folder = "trials/" + std::string(parts[1]) + "/" + std::string(parts[2]);
  return trial;
}

const PackEntry* find_file(const RawTrial& trial, std::string_view name) {
  for (const PackEntry* entry : trial.entries)
    if (std::string_view(entry->path).substr(trial.folder.size() + 1) == name) return entry;
  return nullptr;
}

// What is parsed is what the manifest vouches for: the bytes in memory are hashed, not the file a second time.
Result<std::string> read_entry(int unit_dir, const PackEntry& entry) {
  auto fd = open_beneath(unit_dir, entry.path, O_RDONLY);
  if (!fd) return Error{ErrorKind::kInternal, fd.error().message};
  std::string bytes(static_cast<size_t>(entry.size) + 1, '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    ssize_t count = read(fd->get(), bytes.data() + have, bytes.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("read " + entry.path);
    if (count == 0) break;
    have += static_cast<size_t>(count);
  }
  bytes.resize(std::min(have, static_cast<size_t>(entry.size) + 1));
  if (static_cast<int64_t>(have) != entry.size || sha256_hex(bytes) != entry.sha256)
    return Error{ErrorKind::kInternal, entry.path + ": differs from the manifest it came with; pull the unit again"};
  return bytes;
}

// Everything that the plan fixed must come back as it was sent.
Status check_spec(const TrialSpec& said, TrialSpec expected, int attempt, const std::string& where) {
  expected.attempt = attempt;
  Json want = trial_spec_to_json(expected), have = trial_spec_to_json(said);
  for (const auto& [key, value] : want.as_object()) {
    std::string wanted = value.dump(), found = have[key].dump();
    if (wanted != found)
      return refused(where + ": " + key + " is " + sanitize(found, 120) + ", the plan says " + sanitize(wanted, 120));
  }
  return {};
}

Status check_record(const TrialRecord& record, const std::string& where) {
  if (record.verdict.size() > 32 || record.verdict == "malformed" ||
      !std::all_of(record.verdict.begin(), record.verdict.end(),
                   [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; }))
    return refused(where + ": \"" + sanitize(record.verdict, 40) + "\" is no verdict of an agent");
  if (record.verdict == "ok" && record.exit_code.value_or(0) != 0)
    return refused(where + ": verdict ok with exit code " + std::to_string(*record.exit_code));
  if (record.steal_percent && !(*record.steal_percent >= 0 && *record.steal_percent <= 100))
    return refused(where + ": a steal_percent outside 0..100");
  return {};
}

void sanitize_texts(TrialRecord& record) {
  for (std::string* text :
       {&record.reason, &record.signal, &record.phase, &record.steal_note, &record.cpus, &record.containment})
    *text = sanitize(*text, kReasonBytes);
}

Result<TrialRecord> read_record(int unit_dir, const RawTrial& trial) {
  std::string where = trial.folder + "/trial.json";
  const PackEntry* entry = find_file(trial, "trial.json");
  if (entry == nullptr) return refused(where + ": missing");
  if (entry->size > kRecordBytes) return refused(where + ": larger than the limit of " + format_bytes(kRecordBytes));
  BENCHCTL_TRY(std::string text, read_entry(unit_dir, *entry));
  auto json = Json::parse(text, {kRecordBytes, 16, 50'000});
  if (!json) return refused(where + ": " + sanitize(json.error().message, kReasonBytes));
  auto record = trial_from_json(*json);
  if (!record) return refused(where + ": " + sanitize(record.error().message, kReasonBytes));
  BENCHCTL_CHECK(check_record(*record, where));
  return record;
}

// The case whose file name this is ('/' became '_'), else the file's own stem.
std::string case_of_histogram(std::string_view stem, const std::vector<ResultSample>& samples) {
  for (const ResultSample& sample : samples) {
    std::string flat(sample.case_name);
    std::replace(flat.begin(), flat.end(), '/', '_');
    if (flat == stem) return std::string(sample.case_name);
  }
  return sanitize(stem, 200);
}

// What `--trace` and `--info` print is kept as it is: it says what is measured, it is no measurement.
bool is_evidence(std::string_view format) {
  return format == "trace" || format == "info";
}

// Of a program that prints whatever it likes: what the agent saw of its run.
std::vector<ResultSample> wall_samples(const TrialRecord& record) {
  return {{"run", "wall", "ms", "lower", 0, static_cast<double>(record.wall_ns) / 1e6, std::nullopt},
          {"run", "max_rss", "MiB", "lower", 0, static_cast<double>(record.max_rss_bytes) / (1 << 20), std::nullopt}};
}

// kWorkload: the output is malformed.
Status read_output(int unit_dir, const RawTrial& trial, ReadTrial& into) {
  CsvCaps caps;
  auto read_capped = [&](const PackEntry& entry) -> Result<std::string> {
    if (entry.size > static_cast<int64_t>(caps.bytes))
      return Error{ErrorKind::kWorkload, sanitize(entry.path, 200) + ": larger than the limit of " +
                                             format_bytes(static_cast<int64_t>(caps.bytes))};
    return read_entry(unit_dir, entry);
  };
  const PackEntry* output = find_file(trial, "stdout");
  if (output == nullptr) return Error{ErrorKind::kWorkload, trial.folder + "/stdout: missing"};
  BENCHCTL_TRY(std::string printed, read_capped(*output));
  into.output = std::make_unique<std::string>(std::move(printed));
  if (is_evidence(into.record.spec.format)) {
    if (into.output->empty()) return Error{ErrorKind::kWorkload, output->path + ": nothing was printed"};
    return {};
  }
  if (into.record.spec.format == "wall") {
    into.samples = wall_samples(into.record);
    return {};
  }
  BENCHCTL_TRY(into.samples, parse_result_csv(into.record.spec.format, *into.output, output->path, caps));
  std::string prefix = trial.folder + "/out/";
  constexpr std::string_view kSuffix = ".hist.csv";
  for (const PackEntry* entry : trial.entries) {
    std::string_view path = entry->path;
    if (!path.starts_with(prefix) || !path.ends_with(kSuffix)) continue;
    BENCHCTL_TRY(std::string text, read_capped(*entry));
    BENCHCTL_CHECK(check_histogram_csv(text, sanitize(path, 200), caps));
    std::string_view stem = path.substr(prefix.size(), path.size() - prefix.size() - kSuffix.size());
    into.histograms.emplace_back(case_of_histogram(stem, into.samples), entry);
  }
  return {};
}

}  // namespace

RawUnit group_by_trial(const std::vector<PackEntry>& entries) {
  RawUnit unit;
  std::map<TrialKey, RawTrial> trials;
  for (const PackEntry& entry : entries) {
    if (!entry.path.starts_with("trials/")) {
      unit.others.push_back(&entry);
    } else if (auto place = place_of(entry.path)) {
      trials.try_emplace(place->key, *place).first->second.entries.push_back(&entry);
    } else {
      unit.strays.push_back({0, 0, sanitize(entry.path, 200) + ": not a file of a trial"});
    }
  }
  for (auto& [key, trial] : trials) {
    std::sort(trial.entries.begin(), trial.entries.end(),
              [](const PackEntry* a, const PackEntry* b) { return a->path < b->path; });
    unit.trials.push_back(std::move(trial));
  }
  return unit;
}

std::string evidence_of(const RawTrial& trial) {
  Sha256 hash;
  for (const PackEntry* entry : trial.entries)
    hash.update(entry->sha256 + " " + std::to_string(entry->size) + " " + entry->path.substr(trial.folder.size() + 1) +
                "\n");
  return hash.hex();
}

Expectations::Expectations(const std::vector<ExpectedTrial>& expected) {
  for (const ExpectedTrial& one : expected) by_key_.try_emplace({one.spec.trial, one.spec.attempt}, &one);
}

const ExpectedTrial* Expectations::find(const TrialKey& key) const {
  if (auto exact = by_key_.find(key); exact != by_key_.end()) return exact->second;
  auto first = by_key_.lower_bound({key.first, 0});
  return first != by_key_.end() && first->first.first == key.first ? first->second : nullptr;
}

Result<ReadTrial> read_trial(int unit_dir, const RawTrial& trial, const Expectations& expectations) {
  const ExpectedTrial* expected = expectations.find(trial.key);
  if (expected == nullptr) return refused(trial.folder + ": no such trial in the plan");
  ReadTrial read;
  BENCHCTL_TRY(read.record, read_record(unit_dir, trial));
  BENCHCTL_CHECK(check_spec(read.record.spec, expected->spec, trial.key.second, trial.folder + "/trial.json"));
  sanitize_texts(read.record);
  read.point_hash = expected->point_hash;
  read.verdict = read.record.verdict;
  read.reason = read.record.reason;
  if (read.verdict != "ok") return read;
  if (auto output = read_output(unit_dir, trial, read); !output) {
    if (output.error().kind != ErrorKind::kWorkload) return output.error();
    read.samples.clear();
    read.histograms.clear();
    read.verdict = "malformed";
    read.reason = output.error().message;
  }
  return read;
}

}  // namespace benchctl
