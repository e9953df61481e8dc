// Small text functions: strict number parsing, splitting, quoting, and the one sanitiser.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benchctl {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// The whole text is one decimal number in the C locale, or nothing: no leading space, no plus, no suffix.
std::optional<int64_t> parse_int(std::string_view text);
// Finite numbers only: "nan" and "inf" are refused, so is a decimal comma.
std::optional<double> parse_double(std::string_view text);
// "15m", "3h", "90s", "250ms" -> milliseconds.
std::optional<int64_t> parse_duration_ms(std::string_view text);
// "2GiB", "512MiB", "4096" -> bytes.
std::optional<int64_t> parse_bytes(std::string_view text);
std::string format_bytes(int64_t bytes);
std::string format_seconds(double seconds);  // "3.42 s", "12m 05s"

// One word for a POSIX shell: safe to paste, whatever it holds.
std::string shell_quote(std::string_view word);
std::string shell_quote(const std::vector<std::string>& argv);

// Every text from outside (machine, plan, provider) passes here before terminal, log or report: C0, C1, DEL, bidi
// controls, line and paragraph separators and invalid UTF-8 become visible "\x1b"-style escapes; at most `limit` bytes,
// then "…".
std::string sanitize(std::string_view text, size_t limit = 2000);

// The nearest of `candidates` when it is near enough to be a typing mistake (Damerau-Levenshtein <= max(1, length/3)).
std::optional<std::string> did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// ids are [a-z0-9-]{1,64}
bool valid_id(std::string_view id);
std::string random_hex(size_t bytes);  // from getrandom(2)

}  // namespace benchctl
