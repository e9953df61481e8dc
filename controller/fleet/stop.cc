#include "controller/fleet/stop.h"

namespace benchctl {

void StopRequest::request() {
  std::lock_guard lock(mutex_);
  if (requested_) return;
  requested_ = true;
  for (const auto& end : ends_) end();
}

bool StopRequest::requested() {
  std::lock_guard lock(mutex_);
  return requested_;
}

StopRequest::Handle::Handle(StopRequest& stop, std::function<void()> end) : stop_(stop) {
  std::lock_guard lock(stop_.mutex_);
  if (stop_.requested_) end();
  place_ = stop_.ends_.insert(stop_.ends_.end(), std::move(end));
}

StopRequest::Handle::~Handle() {
  std::lock_guard lock(stop_.mutex_);
  stop_.ends_.erase(place_);
}

}  // namespace benchctl
