// What a run's folder keeps beside the raw files so that the store can be made again from it: RUN/records/run.json,
// <lease nonce>.json a machine, and <nonce>-<unit>.manifest a unit. Written before the commit that they describe.
#pragma once

#include <cstdint>
#include <string>

#include "controller/store/sqlite.h"
#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

std::string records_dir(const std::string& run_folder);

// Reads the rows inside the caller's transaction, if one is open.
Status write_run_record(sqlite::Database& database, const std::string& run);
Status write_machine_record(sqlite::Database& database, int64_t machine);

// Puts the rows of a record back; rows that stand there already are left alone. The machine's id may be a new one.
Status restore_run(sqlite::Database& database, const Json& record, const std::string& run_folder);
Result<int64_t> restore_machine(sqlite::Database& database, const Json& record);

}  // namespace benchctl
