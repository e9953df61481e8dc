// What the ssh provider must remember on this computer: host keys that were trusted on first use, and the machines that
// it has taken. Two small JSON files, 0600, each changed under a lock of its own and replaced whole.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/clock.h"
#include "lib/json.h"
#include "provisioning/provider.h"

namespace benchctl {

// A JSON document in a file that several processes of this user may change.
class SharedJson {
 public:
  SharedJson(std::string path, Clock& clock) : path_(std::move(path)), clock_(clock) {}
  const std::string& path() const { return path_; }
  Result<Json> read() const;  // an empty object when there is none
  // Reads, changes and replaces it while nobody else does. Synced when it returns.
  Status change(const std::function<Status(Json&)>& edit);

 private:
  std::string path_;
  Clock& clock_;
};

class KnownHosts {
 public:
  KnownHosts(const std::string& home, Clock& clock) : file_(home + "/known_hosts.json", clock), clock_(clock) {}
  const std::string& path() const { return file_.path(); }

  struct Entry {
    std::string host_key;
    std::string since;  // UTC
  };
  Result<std::optional<Entry>> find(const std::string& host_and_port) const;
  // kProvisioning when another key stands there already.
  Status add(const std::string& host_and_port, const std::string& host_key);

 private:
  SharedJson file_;
  Clock& clock_;
};

// Machines by nonce, with everything that giving them back needs.
class SshBook {
 public:
  SshBook(const std::string& home, Clock& clock) : file_(home + "/ssh_machines.json", clock) {}
  Result<std::vector<Machine>> all() const;
  Result<std::optional<Machine>> find(const std::string& nonce) const;
  Status put(const Machine& machine);
  Status remove(const std::string& nonce);

 private:
  SharedJson file_;
};

}  // namespace benchctl
