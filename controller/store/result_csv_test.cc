#include "controller/store/result_csv.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <random>

namespace benchctl {
namespace {

const std::string kSeq = "case,items,micros,us_per_item,check\n";
const std::string kCon = "case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors\n";
const std::string kNine = "case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us\n";
const std::string kGen = "case,metric,unit,value,better,check\n";

std::vector<ResultSample> parse(std::string_view format, const std::string& text) {
  auto samples = parse_result_csv(format, text, "out");
  EXPECT_TRUE(samples.ok()) << (samples.ok() ? "" : samples.error().message);
  return samples.ok() ? *samples : std::vector<ResultSample>{};
}

const ResultSample* find(const std::vector<ResultSample>& samples, std::string_view case_name, std::string_view metric,
                         int iteration = 0) {
  for (const ResultSample& sample : samples)
    if (sample.case_name == case_name && sample.metric == metric && sample.iteration == iteration) return &sample;
  return nullptr;
}

TEST(ResultCsv, SequentialGivesTotalAndPerItemWithTheCheckAsText) {
  std::string text = kSeq + "c/edit,10000,63210,6.321,-9223372036854775808\n";
  auto samples = parse("sequential", text);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].metric, "total");
  EXPECT_EQ(samples[0].unit, "us");
  EXPECT_EQ(samples[0].better, "lower");
  EXPECT_EQ(samples[0].value, 63210.0);
  EXPECT_EQ(samples[0].check, "-9223372036854775808");
  EXPECT_EQ(samples[1].metric, "per_item");
  EXPECT_EQ(samples[1].value, 6.321);
  EXPECT_EQ(samples[1].iteration, 0);
}

TEST(ResultCsv, ConcurrentOfTenAndOfNineColumns) {
  std::string ten = kCon + "c/read,4,5.000,123456,24691.2,150.1,200,310.5,9000,3\n";
  auto samples = parse("concurrent", ten);
  ASSERT_EQ(samples.size(), 7U);
  EXPECT_EQ(find(samples, "c/read", "requests_per_second")->value, 24691.2);
  EXPECT_EQ(find(samples, "c/read", "requests_per_second")->better, "higher");
  EXPECT_EQ(find(samples, "c/read", "p50")->value, 150.1);
  EXPECT_EQ(find(samples, "c/read", "p95")->value, 200.0);
  EXPECT_EQ(find(samples, "c/read", "p99")->value, 310.5);
  EXPECT_EQ(find(samples, "c/read", "max")->value, 9000.0);
  EXPECT_EQ(find(samples, "c/read", "requests")->value, 123456.0);
  EXPECT_EQ(find(samples, "c/read", "errors")->value, 3.0);
  EXPECT_FALSE(find(samples, "c/read", "max")->check.has_value());
  std::string nine = kNine + "c/read,4,5.000,123456,24691.2,150.1,200,310.5,9000\n";
  samples = parse("concurrent", nine);
  ASSERT_EQ(samples.size(), 7U);
  EXPECT_FALSE(find(samples, "c/read", "errors")->value.has_value());
}

TEST(ResultCsv, GenericKeepsInnerIterationsAndTheirMedian) {
  std::string text = kGen + "a,time,ms,5,lower,7\na,time,ms,1,lower,7\na,time,ms,2,lower,7\na,size,B,-4,none,\n";
  auto samples = parse("generic", text);
  ASSERT_EQ(samples.size(), 5U);
  EXPECT_EQ(find(samples, "a", "time", 1)->value, 5.0);
  EXPECT_EQ(find(samples, "a", "time", 2)->value, 1.0);
  EXPECT_EQ(find(samples, "a", "time", 3)->value, 2.0);
  EXPECT_EQ(find(samples, "a", "time", 0)->value, 2.0);
  EXPECT_EQ(find(samples, "a", "time", 0)->check, "7");
  EXPECT_EQ(find(samples, "a", "size", 0)->value, -4.0);
  EXPECT_FALSE(find(samples, "a", "size", 0)->check.has_value());
  std::string even = kGen + "a,time,ms,5,lower,7\na,time,ms,1,lower,8\n";
  samples = parse("generic", even);
  EXPECT_EQ(find(samples, "a", "time", 0)->value, 3.0);
  EXPECT_TRUE(find(samples, "a", "time", 0)->check->starts_with("sha256:"));
}

struct Bad {
  const char* format;
  std::string text, message;
};

TEST(ResultCsv, EveryMistakeIsNamedWithItsLineAndNothingIsTaken) {
  const std::string row = "c,1,2,2.0,9\n";
  const std::string expected_seq = "expected \"case,items,micros,us_per_item,check\"";
  const Bad cases[] = {
      {"sequential", "", "out:1: nothing was printed"},
      {"sequential", "\n", "out:1: unknown header \"\", " + expected_seq},
      {"sequential", kSeq, "out:2: no rows after the header"},
      {"sequential", kSeq.substr(0, 10), "out:1: no line end: the output was cut"},
      {"sequential", kSeq + row + "d,1,2,2.0,9", "out:3: no line end: the output was cut"},
      {"sequential", kSeq + row + "d,1", "out:3: no line end: the output was cut"},
      {"sequential", kSeq + row + "d,1\n", "out:3: 2 columns instead of 5"},
      {"sequential", kSeq + "d,1,2,2,0,9\n", "out:2: 6 columns instead of 5 (a decimal comma?)"},
      {"sequential", kSeq + "d,1,2,nan,9\n", "out:2: us_per_item: \"nan\" is no finite decimal number"},
      {"sequential", kSeq + "d,1,inf,1,9\n", "out:2: micros: \"inf\" is no finite decimal number"},
      {"sequential", kSeq + "d,1,1e999,1,9\n", "out:2: micros: \"1e999\" is no finite decimal number"},
      {"sequential", kSeq + "d,1,0x10,1,9\n", "out:2: micros: \"0x10\" is no finite decimal number"},
      {"sequential", kSeq + "d,1, 1,1,9\n", "out:2: micros: \" 1\" is no finite decimal number"},
      {"sequential", kSeq + "d,1,+1,1,9\n", "out:2: micros: \"+1\" is no finite decimal number"},
      {"sequential", kSeq + "d,1,1us,1,9\n", "out:2: micros: \"1us\" is no finite decimal number"},
      {"sequential", kSeq + "d,1,,1,9\n", "out:2: micros: \"\" is no finite decimal number"},
      {"sequential", kSeq + "d,1,-5,1,9\n", "out:2: micros: \"-5\" is negative"},
      {"sequential", kSeq + "d,1,-0,1,9\n", "out:2: micros: \"-0\" is negative"},
      {"sequential", kSeq + "d,0,5,1,9\n", "out:2: items: \"0\" is no whole number from 1 to 2^53"},
      {"sequential", kSeq + "d,1.5,5,1,9\n", "out:2: items: \"1.5\" is no whole number from 1 to 2^53"},
      {"sequential", kSeq + "d,9007199254740993,5,1,9\n",
       "out:2: items: \"9007199254740993\" is no whole number from 1 to 2^53"},
      {"sequential", kSeq + "d,99999999999999999999,5,1,9\n",
       "out:2: items: \"99999999999999999999\" is no whole number from 1 to 2^53"},
      {"sequential", kSeq + ",1,5,1,9\n", "out:2: case: empty"},
      {"sequential", kSeq + "d,1,5,1,\n", "out:2: check: empty"},
      {"sequential", kSeq + row + "\n", "out:3: an empty line"},
      {"sequential", kSeq + row + row, "out:3: case \"c\" stands there twice"},
      {"sequential", "case,items,micros,us_per_item\n" + row,
       "out:1: unknown header \"case,items,micros,us_per_item\", " + expected_seq},
      {"sequential", "case;items;micros\n", "out:1: unknown header \"case;items;micros\", " + expected_seq},
      {"sequential", "Starting...\n" + kSeq + row, "out:1: unknown header \"Starting...\", " + expected_seq},
      {"sequential", "\xEF\xBB\xBF" + kSeq + row, "out:1: invalid UTF-8 or a hidden character"},
      {"sequential", "case,items,micros,us_per_item,check\r\n",
       "out:1: a carriage return: rows end with a line feed alone"},
      {"sequential", kSeq + "d,1,5,1,9\r\n", "out:2: a carriage return: rows end with a line feed alone"},
      {"sequential", kSeq + std::string("d\0,1,5,1,9\n", 11), "out:2: a NUL byte"},
      {"sequential", kSeq + "\"d\",1,5,1,9\n", "out:2: a quotation mark: fields are never quoted"},
      {"sequential", kSeq + "d\x1b[2J,1,5,1,9\n", "out:2: a control character"},
      {"sequential", kSeq + "d\xff,1,5,1,9\n", "out:2: invalid UTF-8 or a hidden character"},
      {"sequential", kSeq + "d\xE2\x80\xAE,1,5,1,9\n", "out:2: invalid UTF-8 or a hidden character"},
      {"sequential", kSeq + std::string(5000, 'x') + "\n", "out:2: a line of more than 4096 bytes"},
      {"sequential", kSeq + std::string(600, 'x') + ",1,5,1,9\n", "out:2: a field of more than 512 bytes"},
      {"concurrent", kCon + "c,4,5,1,1,1,1,1,1\n", "out:2: 9 columns instead of 10"},
      {"concurrent", kNine + "c,4,5,1,1,1,1,1,1,0\n", "out:2: 10 columns instead of 9 (a decimal comma?)"},
      {"concurrent", kCon + "c,0,5,1,1,1,1,1,1,0\n", "out:2: workers: \"0\" is no whole number from 1 to 2^53"},
      {"concurrent", kCon + "c,4,5,1,1,1,1,-1,1,0\n", "out:2: p99_us: \"-1\" is negative"},
      {"concurrent", kCon + "c,4,5,1,1,1,1,1,1,-1\n", "out:2: errors: \"-1\" is no whole number from 0 to 2^53"},
      {"concurrent", kCon + "c,4,5,-1,1,1,1,1,1,0\n", "out:2: requests: \"-1\" is no whole number from 0 to 2^53"},
      {"generic", kGen + "a,time,ms,-1,lower,\n", "out:2: value: \"-1\" is negative"},
      {"generic", kGen + "a,time,ms,1,Lower,\n", "out:2: better: \"Lower\" is none of lower, higher, none"},
      {"generic", kGen + "a,,ms,1,lower,\n", "out:2: an empty metric or unit"},
      {"generic", kGen + "a,time,ms,1,lower,\na,time,s,1,lower,\n",
       "out:3: metric \"time\" of case \"a\" has another unit or direction before"},
      {"generic", kSeq + row,
       "out:1: unknown header \"case,items,micros,us_per_item,check\", expected "
       "\"case,metric,unit,value,better,check\""},
      {"hyperfine", kSeq + row, "out:1: format \"hyperfine\" is not one of the contract's"},
  };
  for (const Bad& bad : cases) {
    auto samples = parse_result_csv(bad.format, bad.text, "out");
    ASSERT_FALSE(samples.ok()) << bad.message;
    EXPECT_EQ(samples.error().message, bad.message);
    EXPECT_EQ(samples.error().kind, ErrorKind::kWorkload);
  }
}

TEST(ResultCsv, CapsOnRowsAndBytes) {
  CsvCaps caps;
  caps.rows = 2;
  std::string text = kSeq + "a,1,1,1,0\nb,1,1,1,0\n";
  EXPECT_TRUE(parse_result_csv("sequential", text, "out", caps).ok());
  text += "c,1,1,1,0\n";
  EXPECT_EQ(parse_result_csv("sequential", text, "out", caps).error().message, "out:4: more than 2 rows");
  caps.bytes = text.size() - 1;
  EXPECT_EQ(parse_result_csv("sequential", text, "out", caps).error().message, "out: larger than the limit of 65 B");
}

std::string shortest(double value) {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

// Random tables of every form: what comes out is, bit for bit, what was printed.
TEST(ResultCsv, RandomTablesComeBackExactly) {
  std::mt19937_64 random(20261130);
  auto number = [&] { return std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 60) - 60); };
  int64_t values = 0;
  for (int table = 0; table < 300; ++table) {
    std::string sequential = kSeq, concurrent = kCon, generic = kGen;
    std::map<std::string, std::vector<double>> seq, con, gen;
    for (uint64_t row = 0, rows = 1 + random() % 30; row < rows; ++row) {
      std::string name = "case/" + std::to_string(row) + "é";
      std::vector<double> five = {number(), number(), number(), number(), number()};
      sequential += name + ",7," + shortest(five[0]) + "," + shortest(five[1]) + "," + std::to_string(random()) + "\n";
      seq[name] = {five[0], five[1]};
      int64_t requests = static_cast<int64_t>(random() >> 11);
      concurrent += name + ",4,5," + std::to_string(requests) + "," + shortest(five[0]);
      for (int i = 1; i < 5; ++i) concurrent += "," + shortest(five[static_cast<size_t>(i)]);
      concurrent += ",2\n";
      con[name] = five;
      con[name].push_back(static_cast<double>(requests));
      generic += name + ",bytes,B," + shortest(-five[0]) + ",none,\n";
      gen[name] = {-five[0]};
    }
    auto check = [&](const std::vector<ResultSample>& samples, std::map<std::string, std::vector<double>>& wanted,
                     const std::vector<std::string>& metrics) {
      for (auto& [name, expected] : wanted) {
        for (size_t i = 0; i < metrics.size(); ++i) {
          const ResultSample* sample = find(samples, name, metrics[i]);
          ASSERT_NE(sample, nullptr);
          ASSERT_EQ(*sample->value, expected[i]) << name << " " << metrics[i];
          ++values;
        }
      }
    };
    check(parse("sequential", sequential), seq, {"total", "per_item"});
    check(parse("concurrent", concurrent), con, {"requests_per_second", "p50", "p95", "p99", "max", "requests"});
    check(parse("generic", generic), gen, {"bytes"});
  }
  EXPECT_GT(values, 20'000);
}

TEST(Histogram, OnlyRisingBucketsAndWholeCounts) {
  const std::string head = "bucket_us,count\n";
  EXPECT_TRUE(check_histogram_csv(head, "h").ok());
  EXPECT_TRUE(check_histogram_csv(head + "1.5,3\n2,0\n", "h").ok());
  const std::pair<std::string, std::string> cases[] = {
      {"", "h:1: no line end: the file was cut"},
      {"us,count\n", "h:1: unknown header \"us,count\", expected \"bucket_us,count\""},
      {head + "1", "h:2: no line end: the file was cut"},
      {head + "1\n", "h:2: 1 column instead of 2"},
      {head + "1,2,3\n", "h:2: count: \"2,3\" is no whole number from 0 to 2^53"},
      {head + "2,1\n2,1\n", "h:3: buckets do not rise"},
      {head + "-2,1\n", "h:2: bucket_us: \"-2\" is negative"},
      {head + "2,-1\n", "h:2: count: \"-1\" is no whole number from 0 to 2^53"},
  };
  for (const auto& [text, message] : cases) {
    auto status = check_histogram_csv(text, "h");
    ASSERT_FALSE(status.ok()) << message;
    EXPECT_EQ(status.error().message, message);
  }
}

}  // namespace
}  // namespace benchctl
