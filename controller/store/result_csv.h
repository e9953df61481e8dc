// What a workload prints, by the contract: CSV of one of three forms, read strictly and without any locale into long
// form. Pure: text in, samples or the first mistake out; a text with any mistake gives nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace benchctl {

// One value. The views point into the text that was parsed (or at literals) and live as long as it does.
struct ResultSample {
  std::string_view case_name;
  std::string_view metric;
  std::string_view unit;
  std::string_view better;  // lower | higher | none
  int iteration = 0;        // 0: the run itself; 1..n: inner iterations, of which 0 is the median
  std::optional<double> value;
  std::optional<std::string> check;
};

struct CsvCaps {
  size_t bytes = 64 << 20;
  size_t rows = 100'000;
  size_t line_bytes = 4096;
  size_t field_bytes = 512;
};

// Formats and the samples that a row gives:
//   sequential  case,items,micros,us_per_item,check
//               total (us, lower) and per_item (us, lower), each with the check
//   concurrent  case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us[,errors]
//               requests_per_second (1/s, higher), p50, p95, p99, max (us, lower), requests (count, none), errors
//               (count, lower; no value in the nine-column form)
//   generic     case,metric,unit,value,better,check
//               as declared; rows that repeat a case and metric are its inner iterations
// `name` opens every error: "NAME:3: 4 columns instead of 5". Errors are of kind kWorkload; texts in them are
// sanitised.
Result<std::vector<ResultSample>> parse_result_csv(std::string_view format, std::string_view text,
                                                   const std::string& name, const CsvCaps& caps = {});

// A latency histogram: header `bucket_us,count`, rising buckets (upper bounds), whole counts. No rows: no requests.
Status check_histogram_csv(std::string_view text, const std::string& name, const CsvCaps& caps = {});

}  // namespace benchctl
