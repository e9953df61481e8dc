// The store's versions. Version 1 is schema.sql; each later one is a step from the version before it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "controller/store/sqlite.h"
#include "lib/result.h"

namespace benchctl {

extern const char* const kSchema;      // schema.sql, compiled in
extern const char* const kMigration2;  // migration_2.sql
extern const char* const kMigration3;

struct Migration {
  int version = 0;  // PRAGMA user_version after it
  const char* sql = nullptr;
};

// In order, without gaps, from 1. Append only.
const std::vector<Migration>& store_migrations();

// Brings an open store to the last version of `migrations`: checks that it is ours (application_id) and sound
// (quick_check), and makes a new file's tables. Before each step of a file that holds data, `before_step` is asked (it
// may refuse: a run is live) and the file is copied to PATH.v<old version>. Refused: a newer store, kUsage.
Status migrate(sqlite::Database& database, const std::vector<Migration>& migrations,
               const std::function<Status()>& before_step);

}  // namespace benchctl
