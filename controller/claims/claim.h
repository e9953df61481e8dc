// A claim: one figure of a document, and what in a run says whether it holds. docs/claims.md explains every key.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benchctl {

struct ClaimSource {
  std::string title;
  std::string environment;  // what its figures were measured on, in words
};

// One row of a run.
struct ClaimSide {
  std::string workload, mode, arm, case_name, metric;
  std::map<std::string, std::string> params;  // those that must be so; others may be anything
};

// Where the figure should hold: in words, and what of it can be asked of a machine.
struct ClaimRegime {
  std::string words;
  std::vector<std::string> filesystem;  // of the work directory; empty: any
  std::string arch;                     // empty: any
  int cpus = 0;                         // at least
};

struct Claim {
  std::string id;
  std::string source;  // key in ClaimFile::sources
  std::string statement;
  std::string published;      // as the document puts it
  std::string not_tested;     // why it cannot be tested; all below is empty then
  std::string kind;           // ratio | value | count | equality
  std::optional<double> min;  // of what is measured; a ratio is of / to
  std::optional<double> max;
  ClaimRegime regime;
  // A side each; several of a ratio whose geometric mean counts. `to` is empty for value and count.
  std::vector<ClaimSide> of, to;
};

struct ClaimFile {
  std::string file;
  std::map<std::string, ClaimSource> sources;
  std::vector<Claim> claims;
};

}  // namespace benchctl
