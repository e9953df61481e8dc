#include "lib/text.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "lib/files.h"
#include "lib/test_folder.h"

namespace benchctl {
namespace {

TEST(Text, SplitKeepsEmptyPartsAndTrimTakesOnlyTheEnds) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), std::vector<std::string_view>{""});
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(Text, ParseIntTakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_int("0"), 0);
  EXPECT_EQ(parse_int("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(parse_int("9223372036854775807"), INT64_MAX);
  for (const char* bad : {"", " 1", "1 ", "+1", "1.0", "0x10", "9223372036854775808", "1e3", "--1", "-"})
    EXPECT_EQ(parse_int(bad), std::nullopt) << bad;
}

TEST(Text, ParseDoubleRefusesWhatIsNoFiniteCNumber) {
  EXPECT_EQ(parse_double("1.5"), 1.5);
  EXPECT_EQ(parse_double("-2e3"), -2000.0);
  for (const char* bad : {"", "nan", "inf", "-inf", "infinity", "1,5", " 1", "1 ", "+1", "1e999", "0x1p3", "1.5s"})
    EXPECT_EQ(parse_double(bad), std::nullopt) << bad;
}

TEST(Text, DurationsNeedAUnit) {
  EXPECT_EQ(parse_duration_ms("250ms"), 250);
  EXPECT_EQ(parse_duration_ms("90s"), 90'000);
  EXPECT_EQ(parse_duration_ms("1.5s"), 1500);
  EXPECT_EQ(parse_duration_ms("15m"), 900'000);
  EXPECT_EQ(parse_duration_ms("3h"), 10'800'000);
  EXPECT_EQ(parse_duration_ms("2d"), 172'800'000);
  for (const char* bad : {"", "15", "m", "ms", "-1s", "1 s", "15min", "1S", "nans", "infs", "1e300d", "1m30s"})
    EXPECT_EQ(parse_duration_ms(bad), std::nullopt) << bad;
}

TEST(Text, BytesAreExactForWholeNumbers) {
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("2GiB"), int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("1.5KiB"), 1536);
  EXPECT_EQ(parse_bytes("5kB"), 5000);
  EXPECT_EQ(parse_bytes("9007199254740993"), 9007199254740993);  // not a double
  EXPECT_EQ(parse_bytes("9223372036854775807"), INT64_MAX);
  for (const char* bad : {"", "KiB", "-1", "2 GiB", "2gib", "9e30", "9000000000TiB", "1B5"})
    EXPECT_EQ(parse_bytes(bad), std::nullopt) << bad;
}

TEST(Text, FormatsForPeople) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(int64_t{300} << 20), "300 MiB");
  EXPECT_EQ(format_seconds(3.42), "3.42 s");
  EXPECT_EQ(format_seconds(59.94), "59.9 s");
  EXPECT_EQ(format_seconds(59.97), "1m 00s");  // never "60.0 s"
  EXPECT_EQ(format_seconds(725), "12m 05s");
  EXPECT_EQ(format_seconds(7260), "2h 01m");
}

// The words as a real shell sees them.
std::vector<std::string> through_sh(const std::vector<std::string>& argv) {
  TestFolder folder;
  std::string script =
      "show() { for w in \"$@\"; do printf '%s\\000' \"$w\"; done; }\nshow " + shell_quote(argv) + "\n";
  EXPECT_TRUE(write_atomic(folder / "script", script).ok());
  FILE* pipe = popen(("/bin/sh " + (folder / "script")).c_str(), "r");
  std::string all;
  for (int c; (c = std::fgetc(pipe)) != EOF;) all += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0);
  std::vector<std::string> words;
  for (size_t at = 0, end; (end = all.find('\0', at)) != std::string::npos; at = end + 1)
    words.push_back(all.substr(at, end - at));
  return words;
}

TEST(Text, QuotedWordsSurviveARealShell) {
  std::vector<std::string> words = {"",         "plain", "two words", "it's",  "$HOME", "`id`", "$(id)", "a\nb",
                                    "\\",       "\"",    "*",         "~",     "#c",    "!x",   ";",     "&",
                                    "|",        "<",     ">",         "{a,b}", "[a]",   "a=b",  "-n",    "\x01\x7f",
                                    "\xff\xfe", "é",     "'''",       "%1",    "^a"};
  std::string every;
  for (int c = 1; c < 256; ++c) every += static_cast<char>(c);
  words.push_back(every);
  EXPECT_EQ(through_sh(words), words);
}

TEST(Text, ACommandNamedLikeAnAssignmentOrKeywordIsQuoted) {
  // Bare, these would set a variable or open a compound command in the place of the command.
  for (const char* word : {"A=b", "_x=1", "if", "while", "case", "for", "time", "fi", "done"})
    EXPECT_EQ(shell_quote(std::vector<std::string>{word}), "'" + std::string(word) + "'") << word;
  EXPECT_EQ(shell_quote(std::string_view("--from=3")), "--from=3");
  EXPECT_EQ(shell_quote(std::string_view("/usr/bin/x")), "/usr/bin/x");
}

TEST(Text, SanitizeShowsWhatWouldActOnATerminal) {
  EXPECT_EQ(sanitize("plain é 漢 😀"), "plain é 漢 😀");
  EXPECT_EQ(sanitize("a\x1b[31mb\n\t\r\x07\x7f"), "a\\x1b[31mb\\x0a\\x09\\x0d\\x07\\x7f");
  EXPECT_EQ(sanitize(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(sanitize("\xc2\x9b"
                     "2J"),
            "\\x9b2J");                  // C1 as UTF-8
  EXPECT_EQ(sanitize("\x9b"), "\\x9b");  // C1 as a raw byte
  EXPECT_EQ(sanitize("a\u202eb\u2066c\u200f\u061c"), "a\\u202eb\\u2066c\\u200f\\u061c");
  EXPECT_EQ(sanitize("\u2028\u2029\ufeff\u200b\u2060\u00ad"), "\\u2028\\u2029\\ufeff\\u200b\\u2060\\xad");
  EXPECT_EQ(sanitize("\U000E0041"), "\\ue0041");  // tag letters
}

TEST(Text, SanitizeEscapesInvalidUtf8ByteByByte) {
  EXPECT_EQ(sanitize("\xff"), "\\xff");
  EXPECT_EQ(sanitize("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(sanitize("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong, three bytes
  EXPECT_EQ(sanitize("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(sanitize("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(sanitize("a\xe6\xbc"), "a\\xe6\\xbc");                  // cut
}

TEST(Text, SanitizeNeverPassesItsLimit) {
  EXPECT_EQ(sanitize("abcdef", 6), "abcdef");
  EXPECT_EQ(sanitize("abcdefg", 6), "abcdef…");
  EXPECT_EQ(sanitize("abcde\x1b", 6), "abcde…");  // an escape is not cut in two, nor let over
  EXPECT_EQ(sanitize("abcde漢", 6), "abcde…");
  EXPECT_EQ(sanitize("x", 0), "…");
}

TEST(Text, DidYouMeanFindsTypingMistakesOnly) {
  std::vector<std::string> verbs = {"run", "resume", "report", "regress", "reap"};
  EXPECT_EQ(did_you_mean("reprot", verbs), "report");
  EXPECT_EQ(did_you_mean("resum", verbs), "resume");
  EXPECT_EQ(did_you_mean("rnu", verbs), "run");
  EXPECT_EQ(did_you_mean("destroy", verbs), std::nullopt);
  EXPECT_EQ(did_you_mean("", verbs), std::nullopt);
  EXPECT_EQ(did_you_mean("run", {}), std::nullopt);
  EXPECT_EQ(did_you_mean(std::string(10'000, 'r'), verbs), std::nullopt);
}

TEST(Text, IdsAndRandomness) {
  EXPECT_TRUE(valid_id("a-0"));
  EXPECT_TRUE(valid_id(std::string(64, 'a')));
  for (const std::string& bad : {std::string(), std::string(65, 'a'), std::string("A"), std::string("a/b"),
                                 std::string("a.b"), std::string("a\0", 2)})
    EXPECT_FALSE(valid_id(bad)) << bad;
  EXPECT_EQ(random_hex(8).size(), 16u);
  EXPECT_NE(random_hex(8), random_hex(8));
}

}  // namespace
}  // namespace benchctl
