#include "controller/toml/table_reader.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

// The findings of a reader that takes `t` as a text, `l` as a list of texts and `w` as the words of a command.
std::string findings_of(const std::string& text) {
  auto document = toml::parse(text, "f");
  if (!document) return document.error().message;
  Findings findings("f", {});
  TableReader table(*document, "[x]", findings);
  std::string one = "kept";
  std::vector<std::string> list, words;
  table.text("t", one);
  if (table.has("l")) table.texts("l", list, 9);
  if (table.has("w")) table.words("w", words, 9);
  table.refuse_unknown();
  if (findings.ok()) return "";
  EXPECT_EQ(one, "kept");
  EXPECT_TRUE(list.empty());
  return findings.as_error().message;
}

TEST(TableReader, TextsThatATerminalWouldObeyAreRefused) {
  EXPECT_EQ(findings_of("t = \"Größe – 1 µs\"\nl = [\"ä\"]"), "");
  for (const std::string evil : {"\\u001b]0;x\\u0007", "a\\u202eb", "a\\nb", "\\u0000", "\\u009b1m", "\\u2028"}) {
    EXPECT_EQ(findings_of("t = \"" + evil + "\""),
              "f:1:5: t in [x] holds a control character, or bytes that are no UTF-8");
    EXPECT_EQ(findings_of("l = [\"a\", \"" + evil + "\"]"),
              "f:1:11: l in [x] " + std::string(evil == "\\u0000" ? "holds a text longer than 4096 bytes or with a NUL"
                                                                  : "holds a control character, or bytes that are no "
                                                                    "UTF-8"));
  }
  // Words of a command are no words for people: a shell's script has lines.
  EXPECT_EQ(findings_of("w = [\"sh\", \"-c\", \"a\\nb\"]"), "");
}

}  // namespace
}  // namespace benchctl
