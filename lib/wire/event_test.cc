#include "lib/wire/event.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

TEST(Event, RoundTrip) {
  Event event{7, 1796065856123, "trial_finished", Json::object({{"trial", 42}, {"verdict", "ok"}, {"odd\n", "\x1b"}})};
  std::string line = event_line(event);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  auto parsed = parse_event(line);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->number, 7);
  EXPECT_EQ(parsed->unix_ms, 1796065856123);
  EXPECT_EQ(parsed->kind, "trial_finished");
  EXPECT_EQ(parsed->fields.dump(), event.fields.dump());
  EXPECT_EQ(event_line(*parsed), line);
}

TEST(Event, FieldsCannotReplaceTheHead) {
  Event event{1, 2, "agent_started", Json::object({{"n", 99}, {"v", 99}, {"t", 99}, {"kind", "run_done"}, {"pid", 3}})};
  auto parsed = parse_event(event_line(event));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->number, 1);
  EXPECT_EQ(parsed->unix_ms, 2);
  EXPECT_EQ(parsed->kind, "agent_started");
  EXPECT_EQ(parsed->fields.dump(), R"({"pid":3})");
}

TEST(Event, AnotherVersionIsRefusedBeforeAnythingElse) {
  auto parsed = parse_event(R"({"v":2,"n":"other"})");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message, "event of version 2, this benchctl speaks 1");
}

TEST(Event, MalformedLinesAreRefused) {
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("[]"), std::string(R"({"v":1,"t":1,"kind":"x"})"),
        std::string(R"({"v":1,"n":0,"t":1,"kind":"x"})"), std::string(R"({"v":1,"n":-1,"t":1,"kind":"x"})"),
        std::string(R"({"v":1,"n":1,"kind":"x"})"), std::string(R"({"v":1,"n":1,"t":1})"),
        std::string(R"({"v":1,"n":1,"t":1,"kind":""})"), std::string(R"({"v":1,"n":1,"t":1,"kind":"x")"),
        R"({"v":1,"n":1,"t":1,"kind":"x","a":")" + std::string(65'536, 'a') + "\"}"})
    EXPECT_FALSE(parse_event(bad).ok()) << bad.substr(0, 100);
}

}  // namespace
}  // namespace benchctl
