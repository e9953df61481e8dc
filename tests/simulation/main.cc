// simulation --schedules N [--first SEED] [--jobs J]: plays N schedules, prints what went wrong in them by kind, and
// for each broken invariant the command that plays that schedule again. simulation --seed S: that one alone, told step
// by step.
// --mutant NAME breaks one thing on purpose (see schedule.h): then schedules must come out broken.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "lib/files.h"
#include "lib/text.h"
#include "tests/simulation/schedule.h"

using namespace benchctl;
using namespace benchctl::simulation;

namespace {

std::string place() {
  std::string base = exists("/dev/shm") ? "/dev/shm" : "/tmp";
  return base + "/benchctl-simulation-" + random_hex(6);
}

std::string mutant;  // see schedule.h

ScheduleResult play(uint64_t seed, bool verbose) {
  std::string folder = place();
  ScheduleResult result;
  if (auto made = make_dirs(folder); !made) {
    result.broken = made.error().message;
    return result;
  }
  result = run_schedule(seed, folder, mutant, verbose);
  if (auto removed = remove_tree(folder); !removed && result.broken.empty()) result.broken = removed.error().message;
  return result;
}

// One worker's share; its findings and counts go to `out` as lines.
int work(uint64_t first, int64_t schedules, int64_t step, FILE* out) {
  Counts counts;
  int broken = 0;
  for (int64_t i = 0; i < schedules; i += step) {
    uint64_t seed = first + static_cast<uint64_t>(i);
    ScheduleResult result = play(seed, false);
    for (const auto& [what, count] : result.counts) counts[what] += count;
    if (result.broken.empty()) continue;
    ++broken;
    std::fprintf(out, "!%llu %s\n", static_cast<unsigned long long>(seed), result.broken.c_str());
  }
  for (const auto& [what, count] : counts) std::fprintf(out, "#%lld %s\n", static_cast<long long>(count), what.c_str());
  std::fclose(out);
  return broken == 0 ? 0 : 1;
}

int play_many(const char* self, uint64_t first, int64_t schedules, int jobs) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<FILE*> ins;
  std::vector<pid_t> children;
  for (int job = 0; job < jobs; ++job) {
    int ends[2];
    if (pipe(ends) != 0) return 2;
    std::fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
      close(ends[0]);
      std::_Exit(work(first + static_cast<uint64_t>(job), schedules - job, jobs, fdopen(ends[1], "w")));
    }
    close(ends[1]);
    ins.push_back(fdopen(ends[0], "r"));
    children.push_back(child);
  }
  Counts counts;
  int64_t broken = 0, unwell = 0;
  for (FILE* in : ins) {
    char line[4096];
    while (std::fgets(line, sizeof line, in) != nullptr) {
      char* words = std::strchr(line, ' ');
      if (words == nullptr) continue;
      *words++ = '\0';
      if (line[0] == '#') {
        words[std::strcspn(words, "\n")] = '\0';
        counts[words] += std::atoll(line + 1);
      } else if (++broken <= 10) {
        std::printf("BROKEN, seed %s: %sreplay: %s --seed %s\n", line + 1, words, self, line + 1);
      }
    }
    std::fclose(in);
  }
  for (pid_t child : children) {
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) ++unwell;
  }
  int64_t injected = 0;
  for (const auto& [what, count] : counts) {
    std::printf("%9lld  %s\n", static_cast<long long>(count), what.c_str());
    if (what[0] != '=') injected += count;
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%lld schedules, %lld faults, %lld broken, %.1f s\n", static_cast<long long>(schedules),
              static_cast<long long>(injected), static_cast<long long>(broken), seconds);
  if (unwell > 0) std::printf("%lld workers ended badly\n", static_cast<long long>(unwell));
  return broken == 0 && unwell == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t first = 1;
  int64_t schedules = 100;
  int jobs = 1;
  std::optional<uint64_t> seed;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string option = argv[i];
    if (option == "--mutant") {
      mutant = argv[i + 1];
      continue;
    }
    auto value = parse_int(argv[i + 1]);
    if (!value || *value < 0) return std::fprintf(stderr, "%s needs a number\n", option.c_str()), 2;
    if (option == "--seed") seed = static_cast<uint64_t>(*value);
    if (option == "--first") first = static_cast<uint64_t>(*value);
    if (option == "--schedules") schedules = *value;
    if (option == "--jobs") jobs = static_cast<int>(std::max<int64_t>(1, *value));
  }
  if (!seed) return play_many(argv[0], first, schedules, jobs);
  ScheduleResult result = play(*seed, true);
  std::printf("%s\n", result.broken.empty() ? "all invariants hold" : ("BROKEN: " + result.broken).c_str());
  return result.broken.empty() ? 0 : 1;
}
