// A real sshd of this test's own on loopback: own keys, own configuration, an unprivileged port.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/clock.h"
#include "provisioning/ssh/ssh_transport.h"
#include "provisioning/transport.h"

namespace benchctl::testing {

// A folder below /tmp, removed with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct KeyPair {
  SshIdentity identity;
  std::string pin;  // SHA256:…
};
KeyPair make_key_pair(const std::string& folder, const std::string& name, const std::string& type = "ed25519");

int free_port();

// A child process of the test, killed and reaped at the end.
class Process {
 public:
  explicit Process(const std::vector<std::string>& argv);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  int pid() const { return pid_; }

 private:
  int pid_;
};

class Sshd {
 public:
  // `extra` are lines of sshd_config. Does not start it; with `netns` it runs inside that network namespace.
  explicit Sshd(std::string extra = "", std::string netns = "");
  ~Sshd();
  // Runs it by way of this command, which must become what stands after it.
  void run_by(std::vector<std::string> prefix) { prefix_ = std::move(prefix); }
  void start(bool wait_until_up = true);
  void stop();  // the listener; sessions go on

  const std::string& folder() const { return folder_.path(); }
  std::string host_key_path() const { return folder_.path() + "/host"; }
  std::string log() const;
  ConnectRequest request(std::chrono::seconds within = std::chrono::seconds(20)) const;
  int port() const { return port_; }
  int pid() const { return process_ ? process_->pid() : -1; }  // of the listener

 private:
  TempDir folder_;
  std::string netns_;
  std::vector<std::string> prefix_;
  int port_;
  KeyPair host_, client_;
  std::unique_ptr<Process> process_;
};

SystemClock& system_clock();
Deadline in_seconds(int seconds);
// Connects or fails the test (nullptr).
std::unique_ptr<Transport> connect_or_fail(Connector& connector, const ConnectRequest& request);
// A source that gives `text` in pieces.
ByteSource source_of(std::string text, size_t piece = 100'000);
std::string pattern_bytes(size_t count);  // not compressible, the same each time

}  // namespace benchctl::testing
