// A sealed unit on its way into its folder: nothing appears under the final name before all of it is checked and
// synced.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lib/pack.h"
#include "lib/result.h"

namespace benchctl {

class UnitReceiver {
 public:
  UnitReceiver(std::string dest, std::string manifest_sha256, PackCaps caps);
  ~UnitReceiver();  // removes what was not finished
  UnitReceiver(const UnitReceiver&) = delete;
  UnitReceiver& operator=(const UnitReceiver&) = delete;

  Status begin();  // makes the folder that it unpacks into, beside `dest`
  Status feed(std::string_view bytes);
  Status finish();

 private:
  Status check_manifest();
  Status check_space() const;

  std::string dest_, temporary_, manifest_sha256_;
  std::unique_ptr<PackReader> reader_;
  bool manifest_checked_ = false;
  bool made_ = false;
};

}  // namespace benchctl
