#include "controller/store/migrations.h"

#include <fcntl.h>
#include <unistd.h>

#include "lib/files.h"

namespace benchctl {
namespace {

constexpr int64_t kApplicationId = 0x62636374;  // "bcct"

Status check_sound(sqlite::Database& database) {
  auto finding = database.text("PRAGMA quick_check(1)");
  if (!finding) return finding.error();
  if (*finding != "ok") return sqlite::damaged(database.path(), *finding);
  return {};
}

// A whole, consistent copy with mode 0600, on the disk before the migration begins. One that stands there from an
// attempt that was cut short is written anew: the store is still the old one.
Status copy_store(sqlite::Database& database, int64_t version) {
  std::string copy = database.path() + ".v" + std::to_string(version);
  if (unlink(copy.c_str()) != 0 && errno != ENOENT) return errno_error("remove " + copy);
  UniqueFd fd(open(copy.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return errno_error("create " + copy);
  if (auto copied = database.run("VACUUM INTO ?", copy); !copied) {
    unlink(copy.c_str());
    return copied.error().in("copy before the migration");
  }
  if (fsync(fd.get()) != 0) return errno_error("fsync " + copy);
  return {};
}

// Takes the steps from `first` on to `last`, in one transaction. False when another process had taken them in between.
Result<bool> take_steps(sqlite::Database& database, const Migration* first, const Migration* last) {
  BENCHCTL_TRY(auto transaction, sqlite::Transaction::begin(database));
  BENCHCTL_TRY(int64_t version, database.integer("PRAGMA user_version"));
  if (version >= first->version) return false;
  for (const Migration* step = first; step <= last; ++step) BENCHCTL_CHECK(database.exec(step->sql));
  BENCHCTL_CHECK(database.exec("PRAGMA application_id=" + std::to_string(kApplicationId) +
                               "; PRAGMA user_version=" + std::to_string(last->version)));
  BENCHCTL_CHECK(transaction.commit());
  return true;
}

}  // namespace

const std::vector<Migration>& store_migrations() {
  static const std::vector<Migration> kMigrations = {{1, kSchema}, {2, kMigration2}, {3, kMigration3}};
  return kMigrations;
}

Status migrate(sqlite::Database& database, const std::vector<Migration>& migrations,
               const std::function<Status()>& before_step) {
  BENCHCTL_TRY(int64_t version, database.integer("PRAGMA user_version"));
  BENCHCTL_TRY(int64_t tables, database.integer("SELECT count(*) FROM sqlite_schema"));
  BENCHCTL_TRY(int64_t application, database.integer("PRAGMA application_id"));
  if (tables > 0 && application != kApplicationId)
    return Error{ErrorKind::kUsage, database.path() + " is an SQLite database, but not a store of benchctl"};
  if (version > migrations.back().version)
    return Error{ErrorKind::kUsage, "store " + database.path() + " has version " + std::to_string(version) +
                                        ", made by a newer benchctl; this one (" BENCHCTL_VERSION ") knows version " +
                                        std::to_string(migrations.back().version) + " and older: update benchctl"};
  BENCHCTL_CHECK(check_sound(database));
  // A new store is made whole at once: whoever opens it beside us sees nothing or the last version.
  if (version == 0) {
    if (auto made = take_steps(database, &migrations.front(), &migrations.back()); !made)
      return made.error().in("making the store");
    return {};
  }
  for (const Migration& step : migrations) {
    if (version >= step.version) continue;
    BENCHCTL_CHECK(before_step());
    BENCHCTL_CHECK(copy_store(database, version));
    if (auto taken = take_steps(database, &step, &step); !taken)
      return taken.error().in("migration of the store to version " + std::to_string(step.version));
    version = step.version;
  }
  return {};
}

}  // namespace benchctl
