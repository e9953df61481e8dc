#include "controller/plan/order.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

namespace benchctl {
namespace {

// Different questions get unrelated streams.
enum Purpose : uint64_t { kPoints = 1, kArms = 2 };

SplitMix64 stream(std::initializer_list<uint64_t> words) {
  uint64_t mixed = 0;
  for (uint64_t word : words) mixed = SplitMix64(mixed ^ word).next();
  return SplitMix64(mixed);
}

std::vector<size_t> as_given(size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

int floor_div(int value, int by) {
  return value >= 0 ? value / by : -((-value + by - 1) / by);
}

}  // namespace

uint64_t SplitMix64::next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t SplitMix64::below(uint64_t bound) {
  // The lowest 2^64 mod bound values would favour small results: draw again.
  const uint64_t first = (0 - bound) % bound;
  while (true)
    if (uint64_t value = next(); value >= first) return value % bound;
}

std::vector<size_t> shuffled(size_t count, SplitMix64 random) {
  std::vector<size_t> order = as_given(count);
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

std::vector<size_t> point_order(const OrderKey& key, int round, size_t points) {
  if (key.order == "fixed") return as_given(points);
  return shuffled(points,
                  stream({kPoints, key.seed, static_cast<uint64_t>(key.machine), static_cast<uint64_t>(round)}));
}

std::vector<size_t> arm_order(const OrderKey& key, int round, size_t point, size_t arms) {
  if (key.order == "fixed" || arms < 2) return as_given(arms);
  const int length = key.order == "abba" ? 2 : static_cast<int>(arms);
  const int cycle = floor_div(round - 1, length);
  const size_t row = static_cast<size_t>(round - 1 - cycle * length);
  std::vector<size_t> order = shuffled(
      arms, stream({kArms, key.seed, static_cast<uint64_t>(key.machine), point, static_cast<uint64_t>(cycle)}));
  if (key.order == "abba") {
    if (row == 1) std::reverse(order.begin(), order.end());
  } else {
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(row), order.end());
  }
  return order;
}

}  // namespace benchctl
