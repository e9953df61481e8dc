#include "lib/sha256.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "lib/test_folder.h"

namespace benchctl {
namespace {

TEST(Sha256, VectorsOfTheStandard) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                 "mnopqrstnopqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

std::string sample(size_t length) {
  std::string text;
  for (size_t i = 0; i < length; ++i) text += static_cast<char>(i * 7 + length);
  return text;
}

// Every padding case, however the bytes are cut, against the system's tool in one call.
TEST(Sha256, AgreesWithSha256sumForEveryLengthTo200) {
  TestFolder folder;
  for (size_t length = 0; length <= 200; ++length) {
    char name[16];
    std::snprintf(name, sizeof name, "%03zu", length);
    ASSERT_TRUE(write_atomic(folder / name, sample(length)).ok());
  }
  FILE* pipe = popen(("cd " + folder.path() + " && sha256sum *").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  char hex[65], name[16];
  size_t seen = 0;
  for (; std::fscanf(pipe, "%64s %15s", hex, name) == 2; ++seen) {
    std::string text = sample(seen);
    EXPECT_EQ(sha256_hex(text), hex) << seen;
    Sha256 pieces;
    for (size_t at = 0; at < text.size(); at += 13) {
      pieces.update({});
      pieces.update(std::string_view(text).substr(at, 13));
    }
    EXPECT_EQ(pieces.hex(), hex) << seen;
    EXPECT_EQ(sha256_file(folder / name).value(), hex);
  }
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(seen, 201u);
}

TEST(Sha256, AbsentFileIsAnErrorThatNamesIt) {
  auto hash = sha256_file("/nonexistent/x");
  ASSERT_FALSE(hash.ok());
  EXPECT_NE(hash.error().message.find("/nonexistent/x"), std::string::npos);
}

TEST(Sha256, OnlyLowerCaseHexOfTheRightLengthIsValid) {
  EXPECT_TRUE(valid_sha256(sha256_hex("")));
  EXPECT_FALSE(valid_sha256(""));
  EXPECT_FALSE(valid_sha256(std::string(63, 'a')));
  EXPECT_FALSE(valid_sha256(std::string(64, 'A')));
  EXPECT_FALSE(valid_sha256(std::string(64, 'g')));
}

}  // namespace
}  // namespace benchctl
