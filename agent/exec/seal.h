// Sealing: a unit's files hashed, on the disk, and named in sealed/<unit>.manifest (lib/pack.h's text). What is sealed
// does not change any more; files that only grow are sealed with the size they had.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agent/exec/run_folder.h"
#include "lib/json.h"
#include "lib/pack.h"
#include "lib/result.h"

namespace benchctl {

struct SealedUnit {
  std::string unit;
  std::string manifest_sha256;
  int64_t files = 0;
  int64_t bytes = 0;
  void describe(Json& fields) const;  // unit, manifest_sha256, files, bytes
};

// The attempts' folders; those that do not exist (stopped before they were made) are left out.
Result<SealedUnit> seal_round(const RunFolder& folder, const std::string& unit,
                              const std::vector<std::pair<int64_t, int>>& trials);

// MANIFEST.sha256 over everything, then the unit "final": everything that is not in trials/.
Result<SealedUnit> seal_final(const RunFolder& folder);

// The pack of a sealed unit: the sealed manifest, then exactly the bytes it declares. kRegression's exit code 3 stands
// for "not sealed (yet)" on the agent's command line.
Status write_unit(const RunFolder& folder, const std::string& unit, const ByteSink& sink);

}  // namespace benchctl
