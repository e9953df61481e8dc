#include "controller/workloads/git_facts.h"

#include "lib/sha256.h"
#include "lib/text.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

constexpr auto kGitTime = std::chrono::seconds(30);

// Standard output of git; empty when it fails.
std::string git(const std::string& folder, std::vector<std::string> words, const std::vector<std::string>& paths,
                Clock& clock) {
  CommandSpec spec;
  spec.argv = {"git", "-C", folder};
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.argv.push_back("--");
  spec.argv.insert(spec.argv.end(), paths.begin(), paths.end());
  spec.deadline = Deadline::in(clock, kGitTime);
  auto output = run_checked(spec, clock);
  return output ? *output : "";
}

}  // namespace

GitFacts git_facts(const std::string& folder, const std::vector<std::string>& paths, Clock& clock) {
  GitFacts facts;
  facts.commit = std::string(trim(git(folder, {"log", "-1", "--format=%H"}, paths, clock)));
  std::string status = git(folder, {"status", "--porcelain", "--untracked-files=all"}, paths, clock);
  facts.dirty = !status.empty();
  if (facts.dirty) facts.diff_sha256 = sha256_hex(status + git(folder, {"diff", "--binary", "HEAD"}, paths, clock));
  return facts;
}

}  // namespace benchctl
