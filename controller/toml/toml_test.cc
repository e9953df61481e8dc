#include "controller/toml/toml.h"

#include <gtest/gtest.h>

namespace benchctl::toml {
namespace {

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string error_of(const std::string& text) {
  auto parsed = parse(text, "f");
  return parsed ? "" : parsed.error().message;
}

TEST(Toml, EveryKindWithItsPlace) {
  auto root = parse("a = 1\nb = 1.5\nc = true\nd = \"x\"\ne = 2020-01-01\nf = [1,\n  2]\n[g]\nh = {i = 2}\n", "f");
  ASSERT_TRUE(root.ok()) << root.error().message;
  EXPECT_EQ(root->find("a")->integer, 1);
  EXPECT_EQ(root->find("a")->place.line, 1);
  EXPECT_EQ(root->find("a")->place.column, 5);
  EXPECT_EQ(root->find("a")->key_place.column, 1);
  EXPECT_EQ(root->find("b")->number, 1.5);
  EXPECT_TRUE(root->find("c")->boolean);
  EXPECT_EQ(root->find("d")->text, "x");
  EXPECT_EQ(root->find("e")->kind, Node::Kind::kDate);
  EXPECT_EQ(root->find("f")->items[1].place.line, 7);
  EXPECT_EQ(root->find("f")->items[1].place.column, 3);
  EXPECT_EQ(root->find("g")->find("h")->find("i")->integer, 2);
  EXPECT_EQ(root->find("z"), nullptr);
}

TEST(Toml, MembersStandInFileOrder) {
  auto root = parse("z = 1\na = 2\nm = 3\n", "f");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->members[0].first + root->members[1].first + root->members[2].first, "zam");
}

TEST(Toml, CapsRefuseWhatWouldExhaustTheParser) {
  EXPECT_EQ(error_of(repeat("a.", 20'000) + "a = 1"), "f:1:131: a key of more than 64 parts");
  EXPECT_EQ(error_of("[" + repeat("a.", 20'000) + "a]"), "f:1:132: a key of more than 64 parts");
  EXPECT_EQ(error_of("a = " + repeat("[", 100'000)), "f:1:69: brackets nested deeper than 64");
  EXPECT_EQ(error_of("a = " + repeat("[\n", 100'000)), "f:64:2: brackets nested deeper than 64");
  EXPECT_EQ(error_of(repeat("a = {", 70)), "f:1:321: brackets nested deeper than 64");
  // Neither the keys nor the brackets alone are too many, but together they nest 2,000 deep.
  EXPECT_EQ(error_of("x = " + repeat("{" + repeat("a.", 40) + "a = ", 50)), "f:1:141: a key of more than 64 parts");
  EXPECT_EQ(error_of("a = \"" + std::string(70'000, 'x') + "\""),
            "f:1:70007: this line is longer than the limit of 64.0 KiB");
  EXPECT_EQ(error_of(std::string(2 << 20, '\n')), "f: larger than the limit of 1.0 MiB");
}

TEST(Toml, CapsLetPassWhatOnlyLooksNested) {
  EXPECT_EQ(error_of("# " + repeat("[a.", 200) + "\n"), "");
  EXPECT_EQ(error_of("a = \"" + repeat("[.\\\"", 200) + "\"\n"), "");
  EXPECT_EQ(error_of("a = '" + repeat("[.\\", 200) + "'\n"), "");
  EXPECT_EQ(error_of("a = \"\"\"\n" + repeat("[.\"\n", 200) + "\"\"\"\"\"\n"), "");
  EXPECT_EQ(error_of("a = '''\n" + repeat("{.'\n", 200) + "'''''\n"), "");
  EXPECT_EQ(error_of("a = [" + repeat("1.5, ", 500) + "]\n"), "");
  EXPECT_EQ(error_of("a = [\n" + repeat("[1.5],\n", 500) + "]\n"), "");
  EXPECT_EQ(error_of(repeat("[[a]]\nb.c = 1.5\n", 500)), "");
}

// Texts on which toml++ 3.3 has assertions, which would be assumptions in a release build.
TEST(Toml, TextsThatTheParserOnlyAssertsAboutAreRefused) {
  EXPECT_EQ(error_of("a = 1\n[[[b]]]\n"), "f:2:1: a table's name must follow here");
  EXPECT_EQ(error_of("[=]"), "f:1:1: a table's name must follow here");
  EXPECT_EQ(error_of("[ .a]"), "f:1:1: a table's name must follow here");
  EXPECT_EQ(error_of("[[\n"), "f:1:1: a table's name must follow here");
  EXPECT_EQ(error_of("["), "f:1:1: a table's name must follow here");
  EXPECT_EQ(error_of("  [[[b]]]\n"), "f: this is no TOML");
  EXPECT_EQ(error_of("a = [\n[1],\n[[2]]]\n[ b ]\n[[c]]\n[\"d\"]\n"), "");
}

TEST(Toml, LettersOutsideQuotesAreRefusedAndInsideTheyPass) {
  EXPECT_EQ(error_of("a = 1\n\xc3\xa4 = 2\n"), "f:2:1: only comments and texts in quotes may hold this character");
  EXPECT_EQ(error_of("a = 1\xd1\xa7\n"), "f:1:6: only comments and texts in quotes may hold this character");
  EXPECT_EQ(error_of("# \xc3\xa4\na = \"\xc3\xa4\"\n\"\xc3\xa4\" = '\xc3\xa4'\nb = \"\"\"\n\xc3\xa4\"\"\"\n"), "");
  EXPECT_EQ(error_of("\xef\xbb\xbf"
                     "a = 1\n"),
            "");
  const char* backslash = "a backslash in a text must have one of \" \\ b f n r t u U behind it";
  EXPECT_EQ(error_of("a = \"\"\"x\\\n  \xc3\xa4\"\"\"\n"), std::string("f:1:10: ") + backslash);
  EXPECT_EQ(error_of("a = \"\\\xd1\xa7\"\n"), std::string("f:1:7: ") + backslash);
}

TEST(Toml, MistakesNameTheirPlace) {
  EXPECT_EQ(error_of("a = 1\nb = \n").rfind("f:2:", 0), 0u);
  EXPECT_EQ(error_of("a = \"\xff\"\n").rfind("f:1:", 0), 0u);
  EXPECT_EQ(error_of("a = 1\na = 2\n").rfind("f:2:", 0), 0u);
  EXPECT_EQ(error_of("a = \"\x1b[2J\"\n").find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace benchctl::toml
