#include "lib/json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace benchctl {
namespace {

std::string problem(std::string_view text, const Json::Caps& caps = {}) {
  auto parsed = Json::parse(text, caps);
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(Json, RoundTripKeepsTypesOrderAndExtremes) {
  const char* text =
      R"({"b":[1,-9223372036854775808,9223372036854775807,1.5,1e300],"a":{"t":true,"n":null,"s":"é\u0001\"\\/"},"":""})";
  auto parsed = Json::parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->as_object()[0].first, "b");
  EXPECT_EQ((*parsed)["b"].as_array()[1].as_int(), INT64_MIN);
  EXPECT_EQ((*parsed)["b"].as_array()[2].as_int(), INT64_MAX);
  EXPECT_EQ((*parsed)["b"].as_array()[4].as_double(), 1e300);
  EXPECT_EQ((*parsed)["a"]["s"].as_string(), "é\x01\"\\/");
  std::string once = parsed->dump();
  EXPECT_EQ(Json::parse(once)->dump(), once);
  EXPECT_EQ(Json::parse(parsed->dump_pretty())->dump(), once);
}

TEST(Json, ADoubleStaysADouble) {
  auto parsed = Json::parse(Json(2.0).dump());
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->is_int());
  EXPECT_EQ(parsed->as_double(), 2.0);
  EXPECT_EQ(Json(std::nan("")).dump(), "null");
  EXPECT_EQ(Json(INFINITY).dump(), "null");
  EXPECT_EQ(Json::parse("18446744073709551615")->as_double(), 18446744073709551615.0);
}

TEST(Json, StrictSyntax) {
  for (const char* bad : {"", "{", "[1,]", "{\"a\":1,}", "{a:1}", "// c\n1", "nan", "01", "1 2", "'a'", "\"\\x\"",
                          "1e999", "\"\n\"", "\"\xff\"", "[\"\\ud800\"]"})
    EXPECT_NE(problem(bad), "") << bad;
}

TEST(Json, DuplicateKeysAreRefusedAtEveryLevel) {
  EXPECT_EQ(problem(R"({"a":1,"a":2})"), "duplicate key \"a\"");
  EXPECT_EQ(problem(R"([{"x":{"b":1,"b":1}}])"), "duplicate key \"b\"");
  EXPECT_EQ(problem(R"({"a":{"a":1},"b":{"a":1}})"), "");
}

TEST(Json, CapsHoldExactly) {
  EXPECT_EQ(problem("[[1]]", {.depth = 2}), "");
  EXPECT_EQ(problem("[[[1]]]", {.depth = 2}), "nested deeper than 2");
  EXPECT_EQ(problem("[1,2]", {.values = 3}), "");
  EXPECT_EQ(problem("[1,2,3]", {.values = 3}), "more than 3 values");
  EXPECT_EQ(problem("[1]", {.bytes = 3}), "");
  EXPECT_NE(problem("[1] ", {.bytes = 3}), "");
  EXPECT_NE(problem(std::string(1'000'000, '[')), "");
}

TEST(Json, AnObjectOfTooManyMembersIsRefused) {
  auto object = [](int members) {
    std::string text = "{";
    for (int i = 0; i < members; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
    return text + "}";
  };
  EXPECT_EQ(problem(object(4096)), "");
  EXPECT_EQ(problem(object(4097)), "an object of more than 4096 members");
}

TEST(Json, MissingAndWrongTypesGiveDefaultsOrNamedErrors) {
  Json json = *Json::parse(R"({"i":1,"s":"x","d":1.5,"list":["a",2,"b"]})");
  EXPECT_TRUE(json["nothing"]["below"].is_null());
  EXPECT_EQ(json["s"].as_int(7), 7);
  EXPECT_EQ(json["i"].as_string(), "");
  EXPECT_EQ(json["i"].as_double(), 1.0);
  EXPECT_EQ(json["list"].as_strings(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(json.need_int("d").error().message, "\"d\" must be an integer");
  EXPECT_EQ(json.need_string("i").error().message, "\"i\" must be a text");
  EXPECT_EQ(*json.need_int("i"), 1);
}

TEST(Json, SetReplacesAndPushAppends) {
  Json json;
  json.set("a", 1);
  json.set("b", std::vector<std::string>{"x"});
  json.set("a", "new");
  EXPECT_EQ(json.dump(), R"({"a":"new","b":["x"]})");
  Json list;
  list.push(true);
  list.push(Json());
  EXPECT_EQ(list.dump(), "[true,null]");
  EXPECT_EQ(Json("bad \xff").dump(), "\"bad \xef\xbf\xbd\"");
}

}  // namespace
}  // namespace benchctl
