// The wish to stop, from a signal or from `cancel`. Waiting code asks requested(); code that is blocked in an operation
// registers a function that ends it.
#pragma once

#include <functional>
#include <list>
#include <mutex>

namespace benchctl {

class StopRequest {
 public:
  // Thread-safe, not for signal handlers: a watcher thread turns signals into this call.
  void request();
  bool requested();

  // While it lives, request() calls `end`; when the request came first, it is called at once.
  class Handle {
   public:
    Handle(StopRequest& stop, std::function<void()> end);
    ~Handle();
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

   private:
    StopRequest& stop_;
    std::list<std::function<void()>>::iterator place_;
  };

 private:
  std::mutex mutex_;
  bool requested_ = false;
  std::list<std::function<void()>> ends_;
};

}  // namespace benchctl
