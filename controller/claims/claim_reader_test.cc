#include "controller/claims/claim_reader.h"

#include <gtest/gtest.h>

#include "controller/claims/claim_json.h"
#include "controller/plan/plan_fixture.h"

namespace benchctl {
namespace {

const char kHead[] = "schema = 1\n[source.doc]\ntitle = \"A paper\"\nenvironment = \"a laptop\"\n";
const char kClaim[] = R"([[claim]]
id = "a.b"
source = "doc"
statement = "Rust takes twice as long"
published = "2x"
value = 2
kind = "ratio"
regime = { words = "anywhere" }
holds_if = { min = 1.5, max = 2.5 }
select = { workload = "request_shape", mode = "sequential", case = "edit", metric = "per_item" }
of = { arm = "rust_rusqlite", params = { items = 1000 } }
to = { arm = "c_sqlite" }
)";

Result<ClaimFile> parse(const std::string& text) {
  return parse_claims(text, "c.toml", fixture::workloads());
}

// The good claim with one text replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = std::string(kHead) + kClaim;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Claims, AGoodFileIsReadWhole) {
  auto file = parse(std::string(kHead) + kClaim);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->claims.size(), 1u);
  const Claim& claim = file->claims[0];
  EXPECT_EQ(claim.id, "a.b");
  EXPECT_EQ(claim.published, "2x");
  EXPECT_EQ(claim.min, 1.5);
  EXPECT_EQ(claim.max, 2.5);
  ASSERT_EQ(claim.of.size(), 1u);
  ASSERT_EQ(claim.to.size(), 1u);
  EXPECT_EQ(claim.of[0].arm, "rust_rusqlite");
  EXPECT_EQ(claim.to[0].arm, "c_sqlite");
  EXPECT_EQ(claim.of[0].case_name, claim.to[0].case_name);
  EXPECT_EQ(claim.of[0].params.at("items"), "1000");
  EXPECT_TRUE(claim.to[0].params.empty());
  Json json = Json::array();
  add_to(json, *file);
  EXPECT_EQ(json.as_array()[0]["source"]["environment"].as_string(), "a laptop");
  EXPECT_EQ(json.as_array()[0]["of"].as_array()[0]["params"]["items"].as_string(), "1000");
  EXPECT_EQ(json.as_array()[0]["max"].as_double(), 2.5);
}

TEST(Claims, OneEdgeIsEnoughAndStaysOpenOnTheOtherSide) {
  auto file = parse(changed("min = 1.5, max = 2.5", "min = 1.5"));
  ASSERT_TRUE(file) << file.error().message;
  Json json = Json::array();
  add_to(json, *file);
  EXPECT_TRUE(json.as_array()[0]["max"].is_null());
}

TEST(Claims, ListsMakeTheSidesOfAGeometricMean) {
  auto file = parse(changed("case = \"edit\"",
                            "case = \"{statement_cache}/edit\", params = { statement_cache = "
                            "[\"fits\", \"none\"] }"));
  ASSERT_TRUE(file) << file.error().message;
  const Claim& claim = file->claims[0];
  ASSERT_EQ(claim.of.size(), 2u);
  ASSERT_EQ(claim.to.size(), 2u);
  EXPECT_EQ(claim.of[0].case_name, "fits/edit");
  EXPECT_EQ(claim.of[1].case_name, "none/edit");
  EXPECT_EQ(claim.to[1].params.at("statement_cache"), "none");
  EXPECT_EQ(claim.of[1].params.at("items"), "1000");
}

TEST(Claims, EqualityIsOfChecksUnlessAMetricIsNamed) {
  std::string text = changed("kind = \"ratio\"", "kind = \"equality\"");
  for (const char* gone : {"value = 2\n", "holds_if = { min = 1.5, max = 2.5 }\n", ", metric = \"per_item\""})
    text.erase(text.find(gone), std::string(gone).size());
  auto file = parse(text);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->claims[0].of[0].metric, "check");
}

TEST(Claims, WhatCannotBeTestedSaysWhyAndNothingElse) {
  std::string untested =
      "[[claim]]\nid = \"pg\"\nsource = \"doc\"\nstatement = \"s\"\npublished = \"4.85x\"\n"
      "regime = { words = \"w\" }\nnot_tested = \"there is none\"\n";
  auto file = parse(kHead + untested);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->claims[0].not_tested, "there is none");
  file = parse(kHead + untested + "kind = \"ratio\"\n");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, "c.toml:12:8: kind in [[claim]] and not_tested exclude each other");
}

TEST(Claims, MistakesAreNamedWithWhatWasMeant) {
  struct Case {
    const char *from, *to, *error;
  };
  for (const Case& one : std::initializer_list<Case>{
           {"schema = 1", "schema = 2", "1:10: schema must be from 1 to 1, not 2"},
           {"environment = \"a laptop\"", "",
            "2:1: [source.doc] needs environment: what its figures were measured on, or that it does not say"},
           {"id = \"a.b\"", "id = \"A b\"", "6:6: id in [[claim]] must be a-z, 0-9, . _ and - only, not \"A b\""},
           {"source = \"doc\"", "source = \"dco\"",
            "7:10: source in [[claim]] is \"dco\", which is no [source.NAME]; did you mean \"doc\"?"},
           {"published = \"2x\"\n", "", "5:1: [[claim]] needs published: the figure as the document has it"},
           {"statement", "statment",
            "5:1: [[claim]] needs statement: what is said\n"
            "c.toml:8:1: unknown key \"statment\" in [[claim]]; did you mean \"statement\"?"},
           {"kind = \"ratio\"", "kind = \"ratoi\"",
            "11:8: kind in [[claim]] must be one of ratio, value, count, equality, not \"ratoi\"; did you mean "
            "\"ratio\"?"},
           {"value = 2", "value = 0.5", "10:9: value in [[claim]] is 0.5, which lies outside of its own holds_if"},
           {"value = 2", "value = nan", "10:9: value in [[claim]] must be from"},
           {"min = 1.5, max = 2.5", "min = 2.5, max = 1.5", "13:31: max in holds_if of [[claim]] is below min"},
           {"min = 1.5, max = 2.5", "", "13:12: holds_if of [[claim]] needs min: or max, or both"},
           {"min = 1.5,", "min = -1,", "13:20: min in holds_if of [[claim]] must be from"},
           {"words = \"anywhere\"", "filesystem = [\"ext4\"]",
            "12:10: regime of [[claim]] needs words: where it should hold"},
           {"words = ", "arch = \"x86\", words = ",
            "12:19: arch in regime of [[claim]] must be one of x86_64, aarch64, not \"x86\""},
           {"workload = \"request_shape\"", "workload = \"request_shpae\"",
            "14:23: unknown workload \"request_shpae\"; did you mean \"request_shape\"?; known: request_shape, spin"},
           {"mode = \"sequential\"", "mode = \"sequental\"",
            "14:47: workload \"request_shape\" has no mode \"sequental\"; did you mean \"sequential\"?"},
           {"arm = \"c_sqlite\"", "arm = \"c_sqlit\"",
            "16:14: workload \"request_shape\" has no arm \"c_sqlit\" in mode \"sequential\"; did you mean "
            "\"c_sqlite\"?"},
           {"items = 1000", "itmes = 1000",
            "15:42: mode \"sequential\" has no parameter \"itmes\"; did you mean \"items\"?; known: items, "
            "statement_cache"},
           {"items = 1000", "items = 0", "15:50: items of a side must be from 1 to 100000000, not 0"},
           {"items = 1000", "statement_cache = \"fit\"",
            "15:60: statement_cache of a side must be one of fits, default, none, not \"fit\"; did you mean \"fits\"?"},
           {"metric = \"per_item\"", "metric = \"per_itme\"",
            "14:85: a sequential mode has no metric \"per_itme\"; did you mean \"per_item\"?"},
           {", metric = \"per_item\"", "", "15:6: [claim.of] needs metric (here or in [claim.select])"},
           {"case = \"edit\"", "case = \"{item}/edit\"", "14:68: case \"{item}/edit\" must be letters"},
           {", params = { items = 1000 } }\nto = { arm = \"c_sqlite\"", " }\nto = { arm = \"rust_rusqlite\"",
            "16:6: to in [[claim]] is the same side as of"},
           {"to = { arm = \"c_sqlite\" }\n", "", "5:1: [[claim]] needs to: the side that [claim.of] is held against"},
           {"kind = \"ratio\"", "kind = \"value\"",
            "16:6: to in [[claim]] belongs to ratio and equality; a value has one side"},
           {"arm = \"c_sqlite\"", "arm = \"c_sqlite\", armm = 1", "unknown key \"armm\" in [claim.to]; did you mean"},
           {"params = { items = 1000 }", "params = { items = [1, 2] }",
            "16:6: to in [[claim]] has 1 combinations of its parameters and of 2; they must be pairs"},
       }) {
    auto file = parse(changed(one.from, one.to));
    ASSERT_FALSE(file) << one.to;
    EXPECT_EQ(file.error().kind, ErrorKind::kUsage);
    EXPECT_NE(file.error().message.find(one.error), std::string::npos)
        << file.error().message << "\nwanted " << one.error;
  }
}

TEST(Claims, WhatBothSidesShareIsToldOnce) {
  auto file = parse(changed("workload = \"request_shape\"", "workload = \"none\""));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message.find('\n'), std::string::npos) << file.error().message;
}

TEST(Claims, AllMistakesComeInOneGo) {
  std::string twice = std::string(kHead) + kClaim + kClaim;
  twice.replace(twice.rfind("c_sqlite"), 8, "x_sqlite");
  auto file = parse(twice);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("c.toml:18:6: id in [[claim]] names \"a.b\" again"), std::string::npos);
  EXPECT_NE(file.error().message.find("c.toml:28:14: workload \"request_shape\" has no arm"), std::string::npos)
      << file.error().message;
}

TEST(Claims, AFileWithoutClaimsIsAMistake) {
  EXPECT_EQ(parse(kHead).error().message, "c.toml:1:1: the claims need at least one [[claim]]");
  EXPECT_NE(parse(std::string(kHead) + "[claim]\nid = \"a\"\n").error().message.find("write [[claim]]"),
            std::string::npos);
}

}  // namespace
}  // namespace benchctl
