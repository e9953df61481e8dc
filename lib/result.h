// Errors are values: a function that can fail returns Result<T>; no exception crosses a folder.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace benchctl {

// What kind of failure it is decides the exit code (see exit_code below), nothing else does.
enum class ErrorKind {
  kInternal,      // a fault of ours, or of the computer we run on
  kUsage,         // wrong command line or plan
  kRegression,    // a claim or a comparison failed
  kProvisioning,  // no machine could be had, or the way to it is broken
  kRejected,      // the machine is not what was asked for
  kWorkload,      // a trial failed, or checks disagree
  kInterrupted,   // stopped by the user; can be resumed
  kLeaked,        // a machine could not be proved gone
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;  // what failed, where, and what to do; one line, without trailing dot or line feed

  // The same error with `where: ` in front.
  Error in(const std::string& where) const { return Error{kind, where + ": " + message}; }
};

// Documented and stable: 0 good, 1 internal, 2 usage or plan, 3 regression or failed claim, 4 provisioning, 5 machine
// rejected, 6 workload failed or checks disagree, 7 interrupted, 8 leaked machine.
constexpr int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInternal:
      return 1;
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kRegression:
      return 3;
    case ErrorKind::kProvisioning:
      return 4;
    case ErrorKind::kRejected:
      return 5;
    case ErrorKind::kWorkload:
      return 6;
    case ErrorKind::kInterrupted:
      return 7;
    case ErrorKind::kLeaked:
      return 8;
  }
  return 1;
}

// A value or an Error. [[nodiscard]]: a dropped error is a lie told later.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& value() const& { return std::get<0>(state_); }
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

// BENCHCTL_TRY(auto x, f()): x is the value, or this function returns f's error.
#define BENCHCTL_CONCAT_(a, b) a##b
#define BENCHCTL_CONCAT(a, b) BENCHCTL_CONCAT_(a, b)
#define BENCHCTL_TRY_(result, declaration, ...) \
  auto result = (__VA_ARGS__);                  \
  if (!result.ok()) return result.error();      \
  declaration = *std::move(result)
#define BENCHCTL_TRY(declaration, ...) BENCHCTL_TRY_(BENCHCTL_CONCAT(result_, __LINE__), declaration, __VA_ARGS__)
// BENCHCTL_CHECK(f()): for functions that return Status, or whose value is not wanted.
#define BENCHCTL_CHECK(...)                                                  \
  do {                                                                       \
    if (auto status_ = (__VA_ARGS__); !status_.ok()) return status_.error(); \
  } while (false)

}  // namespace benchctl
