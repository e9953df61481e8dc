// The journal of leases for reaping, as the store keeps it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "controller/store/store.h"
#include "provisioning/lifecycle.h"

namespace benchctl {

class StoreBook final : public LeaseBook {
 public:
  // `executing`: whether a living controller executes a run. `kept`: whether a provider's machines live on without us.
  StoreBook(Store& store, std::function<Result<bool>(const std::string& run)> executing,
            std::function<bool(const std::string& provider)> kept)
      : store_(store), executing_(std::move(executing)), kept_(std::move(kept)) {}

  Result<std::vector<BookedMachine>> open() override;
  Result<bool> executing(const std::string& run) override { return executing_(run); }
  Status gone(const std::string& nonce) override;

 private:
  Status note_gone(const MachineRow& machine);

  Store& store_;
  std::function<Result<bool>(const std::string& run)> executing_;
  std::function<bool(const std::string& provider)> kept_;
};

}  // namespace benchctl
