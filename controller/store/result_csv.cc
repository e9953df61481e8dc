#include "controller/store/result_csv.h"

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr std::string_view kSequential = "case,items,micros,us_per_item,check";
constexpr std::string_view kConcurrent =
    "case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors";
constexpr std::string_view kConcurrentNine =
    "case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us";
constexpr std::string_view kGeneric = "case,metric,unit,value,better,check";
constexpr size_t kMaxColumns = 10;
constexpr int64_t kExactIntegers = int64_t{1} << 53;  // every integer up to here is a REAL without rounding

using Fields = std::array<std::string_view, kMaxColumns>;

std::string quoted(std::string_view text) {
  return "\"" + sanitize(text, 80) + "\"";
}

Error bad(const std::string& what) {
  return Error{ErrorKind::kWorkload, what};
}

// Nothing hidden and nothing that another reader of CSV would take for more than text.
Status check_line(std::string_view line) {
  bool ascii = true;
  for (unsigned char c : line) {
    if (c == '\0') return bad("a NUL byte");
    if (c == '\r') return bad("a carriage return: rows end with a line feed alone");
    if (c == '"') return bad("a quotation mark: fields are never quoted");
    if (c < 0x20 || c == 0x7F) return bad("a control character");
    ascii &= c < 0x80;
  }
  if (!ascii && sanitize(line, line.size()) != line) return bad("invalid UTF-8 or a hidden character");
  return {};
}

Result<double> read_number(std::string_view column, std::string_view text) {
  auto value = parse_double(text);
  if (!value) return bad(std::string(column) + ": " + quoted(text) + " is no finite decimal number");
  return *value;
}

Result<double> read_positive(std::string_view column, std::string_view text) {
  BENCHCTL_TRY(double value, read_number(column, text));
  if (text.front() == '-') return bad(std::string(column) + ": " + quoted(text) + " is negative");
  return value;
}

Result<double> read_count(std::string_view column, std::string_view text, int64_t least) {
  auto value = parse_int(text);
  if (!value || *value < least || *value > kExactIntegers)
    return bad(std::string(column) + ": " + quoted(text) + " is no whole number from " + std::to_string(least) +
               " to 2^53");
  return static_cast<double>(*value);
}

bool is_time(std::string_view unit) {
  static constexpr std::string_view kTimes[] = {"ns", "us", "ms", "s", "min", "h", "seconds"};
  return std::find(std::begin(kTimes), std::end(kTimes), unit) != std::end(kTimes);
}

class Reader {
 public:
  virtual ~Reader() = default;
  virtual Status row(const Fields& fields) = 0;
  virtual std::vector<ResultSample> take() { return std::move(samples_); }

 protected:
  Status new_case(std::string_view name) {
    if (!cases_.insert(name).second) return bad("case " + quoted(name) + " stands there twice");
    return {};
  }
  void add(std::string_view case_name, std::string_view metric, std::string_view unit, std::string_view better,
           std::optional<double> value, std::optional<std::string> check = {}) {
    samples_.push_back({case_name, metric, unit, better, 0, value, std::move(check)});
  }
  std::vector<ResultSample> samples_;

 private:
  std::unordered_set<std::string_view> cases_;
};

class SequentialReader final : public Reader {
 public:
  Status row(const Fields& fields) override {
    BENCHCTL_CHECK(new_case(fields[0]));
    BENCHCTL_CHECK(read_count("items", fields[1], 1));
    BENCHCTL_TRY(double total, read_positive("micros", fields[2]));
    BENCHCTL_TRY(double per_item, read_positive("us_per_item", fields[3]));
    if (fields[4].empty()) return bad("check: empty");
    add(fields[0], "total", "us", "lower", total, std::string(fields[4]));
    add(fields[0], "per_item", "us", "lower", per_item, std::string(fields[4]));
    return {};
  }
};

class ConcurrentReader final : public Reader {
 public:
  explicit ConcurrentReader(bool with_errors) : with_errors_(with_errors) {}
  Status row(const Fields& fields) override {
    BENCHCTL_CHECK(new_case(fields[0]));
    BENCHCTL_CHECK(read_count("workers", fields[1], 1));
    BENCHCTL_CHECK(read_positive("seconds", fields[2]));
    BENCHCTL_TRY(double requests, read_count("requests", fields[3], 0));
    BENCHCTL_TRY(double rate, read_positive("requests_per_second", fields[4]));
    add(fields[0], "requests_per_second", "1/s", "higher", rate);
    static constexpr std::pair<const char*, const char*> kLatencies[] = {
        {"p50_us", "p50"}, {"p95_us", "p95"}, {"p99_us", "p99"}, {"max_us", "max"}};
    for (size_t i = 0; i < std::size(kLatencies); ++i) {
      BENCHCTL_TRY(double latency, read_positive(kLatencies[i].first, fields[5 + i]));
      add(fields[0], kLatencies[i].second, "us", "lower", latency);
    }
    add(fields[0], "requests", "count", "none", requests);
    std::optional<double> errors;
    if (with_errors_) {
      BENCHCTL_TRY(errors, read_count("errors", fields[9], 0));
    }
    add(fields[0], "errors", "count", "lower", errors);
    return {};
  }

 private:
  bool with_errors_;
};

class GenericReader final : public Reader {
 public:
  Status row(const Fields& fields) override {
    const auto& [case_name, metric, unit, value_text, better, check] =
        std::tie(fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]);
    if (metric.empty() || unit.empty()) return bad("an empty metric or unit");
    if (better != "lower" && better != "higher" && better != "none")
      return bad("better: " + quoted(better) + " is none of lower, higher, none");
    BENCHCTL_TRY(double value, is_time(unit) ? read_positive("value", value_text) : read_number("value", value_text));
    // Fields hold no comma, so the joined text of the first two is a key without doubt, and a view of the row.
    std::string_view key(case_name.data(), static_cast<size_t>(metric.data() + metric.size() - case_name.data()));
    auto [group, fresh] = groups_.try_emplace(key, Group{samples_.size(), {}});
    if (!fresh) {
      const ResultSample& first = samples_[group->second.first];
      if (first.unit != unit || first.better != better)
        return bad("metric " + quoted(metric) + " of case " + quoted(case_name) +
                   " has another unit or direction before");
    }
    if (!fresh) group->second.more.push_back(samples_.size());
    add(case_name, metric, unit, better, value, check.empty() ? std::nullopt : std::optional<std::string>(check));
    return {};
  }

  // Inner iterations are kept as 1..n; the run itself (0) is their median, so that one process stays one sample.
  std::vector<ResultSample> take() override {
    for (const auto& [key, group] : groups_) {
      if (group.more.empty()) continue;
      std::vector<size_t> rows = {group.first};
      rows.insert(rows.end(), group.more.begin(), group.more.end());
      std::vector<double> values;
      for (size_t i = 0; i < rows.size(); ++i) {
        samples_[rows[i]].iteration = static_cast<int>(i) + 1;
        values.push_back(*samples_[rows[i]].value);
      }
      std::sort(values.begin(), values.end());
      size_t half = values.size() / 2;
      ResultSample run = samples_[group.first];
      run.iteration = 0;
      run.value = values.size() % 2 == 1 ? values[half] : values[half - 1] + (values[half] - values[half - 1]) / 2;
      run.check = common_check(rows);
      samples_.push_back(std::move(run));
    }
    return std::move(samples_);
  }

 private:
  // The check that all iterations agree on, or a hash over theirs: arms still agree or differ as a whole.
  std::optional<std::string> common_check(const std::vector<size_t>& rows) const {
    const auto& first = samples_[rows.front()].check;
    if (std::all_of(rows.begin(), rows.end(), [&](size_t i) { return samples_[i].check == first; })) return first;
    Sha256 hash;
    for (size_t i : rows) hash.update(samples_[i].check.value_or("") + "\n");
    return "sha256:" + hash.hex();
  }

  struct Group {
    size_t first;              // most groups have a single row
    std::vector<size_t> more;  // and these do not
  };
  std::unordered_map<std::string_view, Group> groups_;
};

struct Form {
  std::string_view header;
  std::unique_ptr<Reader> reader;
};

Result<Form> find_form(std::string_view format, std::string_view header) {
  std::string_view expected = format == "sequential"   ? kSequential
                              : format == "concurrent" ? kConcurrent
                              : format == "generic"    ? kGeneric
                                                       : "";
  if (expected.empty()) return bad("format " + quoted(format) + " is not one of the contract's");
  if (format == "concurrent" && header == kConcurrentNine)
    return Form{kConcurrentNine, std::make_unique<ConcurrentReader>(false)};
  if (header != expected)
    return bad("unknown header " + quoted(header) + ", expected \"" + std::string(expected) + "\"");
  if (format == "sequential") return Form{expected, std::make_unique<SequentialReader>()};
  if (format == "concurrent") return Form{expected, std::make_unique<ConcurrentReader>(true)};
  return Form{expected, std::make_unique<GenericReader>()};
}

Status read_row(std::string_view line, size_t columns, const CsvCaps& caps, Reader& reader) {
  Fields fields;
  size_t count = 0, begin = 0;
  for (size_t end = 0; end != std::string_view::npos; begin = end + 1) {
    end = line.find(',', begin);
    std::string_view field = line.substr(begin, end == std::string_view::npos ? end : end - begin);
    if (field.size() > caps.field_bytes)
      return bad("a field of more than " + std::to_string(caps.field_bytes) + " bytes");
    if (count < kMaxColumns) fields[count] = field;
    ++count;
  }
  if (count != columns)
    return bad(std::to_string(count) + " columns instead of " + std::to_string(columns) +
               (count > columns ? " (a decimal comma?)" : ""));
  if (fields[0].empty()) return bad("case: empty");
  return reader.row(fields);
}

}  // namespace

Result<std::vector<ResultSample>> parse_result_csv(std::string_view format, std::string_view text,
                                                   const std::string& name, const CsvCaps& caps) {
  if (text.size() > caps.bytes)
    return bad(name + ": larger than the limit of " + format_bytes(static_cast<int64_t>(caps.bytes)));
  if (text.empty()) return bad(name + ":1: nothing was printed");
  Form form;
  size_t columns = 0, line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    std::string where = name + ":" + std::to_string(++line_number);
    size_t end = text.find('\n', begin);
    std::string_view line = text.substr(begin, end == std::string_view::npos ? end : end - begin);
    if (line.size() > caps.line_bytes)
      return bad(where + ": a line of more than " + std::to_string(caps.line_bytes) + " bytes");
    if (auto clean = check_line(line); !clean) return clean.error().in(where);
    if (end == std::string_view::npos) return bad(where + ": no line end: the output was cut");
    begin = end + 1;
    if (line_number == 1) {
      auto found = find_form(format, line);
      if (!found) return found.error().in(where);
      form = *std::move(found);
      columns = static_cast<size_t>(std::count(form.header.begin(), form.header.end(), ',')) + 1;
      continue;
    }
    if (line_number > caps.rows + 1) return bad(where + ": more than " + std::to_string(caps.rows) + " rows");
    if (line.empty()) return bad(where + ": an empty line");
    if (auto row = read_row(line, columns, caps, *form.reader); !row) return row.error().in(where);
  }
  if (line_number < 2) return bad(name + ":2: no rows after the header");
  return form.reader->take();
}

Status check_histogram_csv(std::string_view text, const std::string& name, const CsvCaps& caps) {
  if (text.size() > caps.bytes)
    return bad(name + ": larger than the limit of " + format_bytes(static_cast<int64_t>(caps.bytes)));
  constexpr std::string_view kHeader = "bucket_us,count";
  double last = -1;
  size_t line_number = 0;
  for (size_t begin = 0; begin < text.size() || line_number == 0;) {
    std::string where = name + ":" + std::to_string(++line_number);
    size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return bad(where + ": no line end: the file was cut");
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line_number == 1) {
      if (line != kHeader)
        return bad(where + ": unknown header " + quoted(line) + ", expected \"" + std::string(kHeader) + "\"");
      continue;
    }
    if (line_number > caps.rows + 1) return bad(where + ": more than " + std::to_string(caps.rows) + " rows");
    size_t comma = line.find(',');
    if (comma == std::string_view::npos) return bad(where + ": 1 column instead of 2");
    auto bucket = read_positive("bucket_us", line.substr(0, comma));
    if (!bucket) return bucket.error().in(where);
    if (*bucket <= last) return bad(where + ": buckets do not rise");
    last = *bucket;
    if (auto count = read_count("count", line.substr(comma + 1), 0); !count) return count.error().in(where);
  }
  return {};
}

}  // namespace benchctl
