// The folder of one run, D, and the work folder W around it (D = W/runs/<id>). Everything in D belongs to the agent
// alone (0700); trials see only their scratch folder below W/scratch.
#pragma once

#include <cstdint>
#include <string>

#include "lib/files.h"
#include "lib/result.h"
#include "lib/wire/job.h"

namespace benchctl {

std::string trial_path(int64_t trial, int attempt);  // "trials/000042/a1"
std::string unit_name(int round);  // "round-0003", warm-ups (0, -1 …) "round-w000", "round-w001" …

// ENOSPC or EDQUOT, from an error of this library.
bool is_no_space(const Error& error);

class RunFolder {
 public:
  // An existing D that belongs to the caller; others lose their access to it.
  static Result<RunFolder> open(const std::string& path);
  // Makes D where it is not yet, and W and W/runs so that a trial's user can pass through W to its bundle.
  static Result<RunFolder> create(const std::string& path);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  int fd() const { return fd_.get(); }
  const std::string& work() const { return work_; }
  std::string id() const { return path_.substr(path_.rfind('/') + 1); }
  std::string scratch_root() const { return work_ + "/scratch"; }
  std::string scratch_name(int64_t trial, int attempt) const;

  bool has_trial(int64_t trial, int attempt) const;
  // A new folder, by descriptor; one that exists already is an error.
  Result<UniqueFd> make_trial_folder(int64_t trial, int attempt) const;

 private:
  std::string path_, work_;
  UniqueFd fd_;
};

Result<UniqueFd> create_file_at(int folder, const std::string& name);  // O_EXCL | O_NOFOLLOW, 0600

Result<Job> read_job(const RunFolder& folder);

// The checks on a round that the wire format does not make: phases, timeouts, names.
Status check_round(const RoundSpec& round);

}  // namespace benchctl
