#include "agent/exec/sampler.h"

#include "lib/text.h"

namespace benchctl {

std::string system_row(std::string_view proc_stat) {
  std::string_view line = proc_stat.substr(0, proc_stat.find('\n'));
  auto fields = split(trim(line.starts_with("cpu ") ? line.substr(4) : ""), ' ');
  std::string row;
  for (size_t i = 0; i < 8; ++i) {
    row += ',';
    if (i < fields.size() && parse_int(fields[i])) row += fields[i];
  }
  return row;
}

void Sampler::begin(int64_t trial, int attempt) {
  rows_.clear();
  rows_.reserve(8192);
  prefix_ = std::to_string(trial) + "," + std::to_string(attempt) + ",";
}

void Sampler::sample() {
  if (rows_.size() < kMaxBytes)
    rows_ += prefix_ + std::to_string(clock_.unix_ms()) + system_row(stat_.read(512)) + "\n";
}

std::string Sampler::take() {
  return std::move(rows_);
}

}  // namespace benchctl
