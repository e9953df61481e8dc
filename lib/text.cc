#include "lib/text.h"

#include <sys/random.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace benchctl {

std::string_view trim(std::string_view text) {
  const char* spaces = " \t\r\n";
  size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string_view::npos; begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string all;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) all += separator;
    all += parts[i];
  }
  return all;
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

namespace {

struct Unit {
  std::string_view suffix;
  int64_t factor;
};

// The longest suffix must stand before its own tail ("ms" before "s").
template <size_t N>
std::optional<int64_t> parse_with_unit(std::string_view text, const Unit (&units)[N]) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.suffix)) continue;
    auto value = parse_double(text.substr(0, text.size() - unit.suffix.size()));
    if (!value || *value < 0 || *value * static_cast<double>(unit.factor) > 9e18) return std::nullopt;
    return static_cast<int64_t>(std::llround(*value * static_cast<double>(unit.factor)));
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> parse_duration_ms(std::string_view text) {
  static constexpr Unit kUnits[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  return parse_with_unit(text, kUnits);
}

std::optional<int64_t> parse_bytes(std::string_view text) {
  if (auto whole = parse_int(text)) return *whole >= 0 ? whole : std::nullopt;  // exact where a double is not
  static constexpr Unit kUnits[] = {{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},   {"TiB", int64_t{1} << 40},
                                    {"kB", 1000},     {"MB", 1000000},  {"GB", 1000000000}, {"", 1}};
  return parse_with_unit(text, kUnits);
}

std::string format_bytes(int64_t bytes) {
  static const char* kNames[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < std::size(kNames)) value /= 1024, ++unit;
  char text[48];
  std::snprintf(text, sizeof text, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, kNames[unit]);
  return text;
}

std::string format_seconds(double seconds) {
  char text[48];
  if (seconds < 59.95) {  // above, one decimal would say "60.0 s"
    std::snprintf(text, sizeof text, seconds < 9.995 ? "%.2f s" : "%.1f s", seconds);
  } else {
    int64_t whole = std::llround(seconds);
    if (whole < 3600) {
      std::snprintf(text, sizeof text, "%dm %02ds", static_cast<int>(whole / 60), static_cast<int>(whole % 60));
    } else {
      std::snprintf(text, sizeof text, "%dh %02dm", static_cast<int>(whole / 3600), static_cast<int>(whole / 60 % 60));
    }
  }
  return text;
}

std::string shell_quote(std::string_view word) {
  bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  // "NAME=…" in the place of a command would set a variable.
  bool letter = plain && ((word[0] >= 'a' && word[0] <= 'z') || (word[0] >= 'A' && word[0] <= 'Z') || word[0] == '_');
  if (plain && !(letter && word.find('=') != std::string_view::npos)) return std::string(word);
  std::string quoted = "'";
  for (char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_quote(const std::vector<std::string>& argv) {
  static constexpr std::string_view kKeywords[] = {"if",   "then",     "else",   "elif",  "fi",  "do",
                                                   "done", "case",     "esac",   "while", "for", "until",
                                                   "time", "function", "select", "coproc"};
  std::string line;
  for (const std::string& word : argv) {
    bool keyword = line.empty() && std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
    if (!line.empty()) line += ' ';
    line += keyword ? "'" + word + "'" : shell_quote(word);
  }
  return line;
}

namespace {

// Decodes one UTF-8 sequence at text[at]; returns its length, or 0 when it is invalid (overlong, surrogate, cut).
size_t decode_utf8(std::string_view text, size_t at, uint32_t& code) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(at);
  if (first < 0x80) {
    code = first;
    return 1;
  }
  size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first > 0xF4 || at + length > text.size()) return 0;
  code = first & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
  return length;
}

bool is_hidden(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) ||                                // C0, DEL, C1
         code == 0x061C || code == 0x200E || code == 0x200F ||                          // bidi marks
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||    // bidi embeddings, isolates
         code == 0x2028 || code == 0x2029 || code == 0xFEFF ||                          // separators, BOM
         (code >= 0x200B && code <= 0x200D) || (code >= 0xE0000 && code <= 0xE007F) ||  // zero width, tags
         code == 0xAD || (code >= 0x2060 && code <= 0x206F) ||
         (code >= 0xFFF9 && code <= 0xFFFB);  // invisible controls
}

}  // namespace

std::string sanitize(std::string_view text, size_t limit) {
  std::string clean;
  for (size_t at = 0; at < text.size();) {
    uint32_t code = 0;
    size_t length = decode_utf8(text, at, code);
    char escape[16];
    std::string_view shown;
    if (length == 0) {
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(text[at]));
      shown = escape;
      length = 1;
    } else if (is_hidden(code)) {
      std::snprintf(escape, sizeof escape, code < 0x100 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(code));
      shown = escape;
    } else {
      shown = text.substr(at, length);
    }
    if (clean.size() + shown.size() > limit) return clean + "…";
    clean += shown;
    at += length;
  }
  return clean;
}

std::optional<std::string> did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 100) return std::nullopt;
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // Three rows of the Damerau-Levenshtein (optimal string alignment) table.
    std::vector<size_t> before, last(candidate.size() + 1), row(candidate.size() + 1);
    std::iota(last.begin(), last.end(), size_t{0});
    for (size_t i = 1; i <= word.size(); ++i) {
      row[0] = i;
      for (size_t j = 1; j <= candidate.size(); ++j) {
        row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (word[i - 1] != candidate[j - 1] ? 1 : 0)});
        if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1])
          row[j] = std::min(row[j], before[j - 2] + 1);
      }
      before = last;
      last = row;
    }
    if (last[candidate.size()] < best_distance) {
      best_distance = last[candidate.size()];
      best = candidate;
    }
  }
  return best;
}

bool valid_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::string random_hex(size_t bytes) {
  std::string hex;
  for (size_t i = 0; i < bytes; ++i) {
    unsigned char byte = 0;
    if (getrandom(&byte, 1, 0) != 1) std::abort();  // cannot fail after boot for one byte
    char text[3];
    std::snprintf(text, sizeof text, "%02x", byte);
    hex += text;
  }
  return hex;
}

}  // namespace benchctl
