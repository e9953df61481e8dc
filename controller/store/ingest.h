// Import of one pulled unit into the store: hostile files in, rows or named refusals out. See docs/formats/results.md.
#pragma once

#include <cstdint>
#include <string>

#include "controller/store/sqlite.h"
#include "controller/store/store.h"
#include "lib/failpoint.h"
#include "lib/result.h"

namespace benchctl {

struct ImportPlace {
  int64_t machine = 0;
  std::string run;
  std::string fleet;
  int64_t slot = 0;
  std::string unit_folder;  // relative to run.folder
  int64_t now_ms = 0;
};

// Within the caller's transaction. `unit.entries` are set.
Result<UnitResult> import_unit_rows(sqlite::Database& database, Failpoints& failpoints, const ImportPlace& place,
                                    const UnitSource& unit);

}  // namespace benchctl
