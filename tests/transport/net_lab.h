// Network namespaces of a test's own: a controller's, a machine's and a router between them, so that links can be cut
// and narrowed for real.
#pragma once

#include <string>

namespace benchctl::testing {

class NetLab {
 public:
  NetLab();
  ~NetLab();
  NetLab(const NetLab&) = delete;
  NetLab& operator=(const NetLab&) = delete;

  std::string here() const { return "/run/netns/" + name_ + "c"; }
  std::string machine() const { return "/run/netns/" + name_ + "m"; }
  static constexpr const char* kMachine = "10.213.2.2";
  static constexpr const char* kMachine6 = "fd00:213:2::2";
  // On the machine's network, and nobody has it: packets to it vanish without an answer.
  static constexpr const char* kNobody = "10.213.9.9";

  void cut();
  void mend();
  // The router carries packets of at most so many bytes towards the machine and never says so.
  void narrow(int mtu);
  bool ok() const { return ok_; }

 private:
  void sh(const std::string& script);
  std::string name_;
  bool ok_ = true;
};

}  // namespace benchctl::testing
