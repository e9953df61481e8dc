// The host key's replacement on a real sshd: a file tree in the place of cloud-init's, and a restart of our own in the
// place of systemd's.
#include "provisioning/host_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "lib/files.h"
#include "lib/text.h"
#include "tests/transport/sshd_fixture.h"

namespace benchctl::testing {
namespace {

class HostKeyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sshd_.start();
    places_.host_key = sshd_.host_key_path();
    places_.cloud_data = sshd_.folder() + "/lib-cloud";
    places_.cloud_runtime = sshd_.folder() + "/run-cloud-init";
    places_.cloud_init_off = sshd_.folder() + "/etc-cloud/cloud-init.disabled";
    places_.restart = {"sh", "-c", ": >\"$1\"", "sh", sshd_.folder() + "/restarted"};
    old_key_ = *read_file(places_.host_key);
    std::string user_data = "#cloud-config\nssh_keys:\n  ed25519_private: |\n";
    for (std::string_view line : split(trim(old_key_), '\n')) user_data += "    " + std::string(line) + "\n";
    for (const char* path : {"/instances/i-1/user-data.txt", "/instances/i-1/user-data.txt.i",
                             "/instances/i-1/cloud-config.txt", "/instances/i-1/obj.pkl", "/seed/nocloud/user-data"})
      plant(places_.cloud_data + path, user_data);
    plant(places_.cloud_runtime + "/instance-data-sensitive.json", user_data);
    plant(places_.cloud_runtime + "/combined-cloud-config.json", user_data);
    plant(places_.cloud_runtime + "/result.json", "{}");
    transport_ = connect_or_fail(connector_, sshd_.request());
    ASSERT_NE(nullptr, transport_);
  }
  void plant(const std::string& path, const std::string& text) {
    ASSERT_TRUE(make_dirs(path.substr(0, path.rfind('/'))).ok());
    ASSERT_TRUE(write_atomic(path, text).ok());
  }
  int files_with_old_key() {
    auto found = transport_->run({"sh", "-c", "grep -rlF -e \"$1\" \"$2\" \"$3\" | wc -l", "sh",
                                  std::string(split(old_key_, '\n')[2]), places_.cloud_data, places_.cloud_runtime},
                                 {.deadline = in_seconds(20)});
    return static_cast<int>(parse_int(trim(found->output)).value_or(-1));
  }

  SshConnector connector_{system_clock()};
  Sshd sshd_;
  HostKeyPlaces places_;
  std::string old_key_;
  std::unique_ptr<Transport> transport_;
};

TEST_F(HostKeyTest, TheNewPinConnectsAndTheOldOneIsRefused) {
  ASSERT_EQ(7, files_with_old_key());
  int64_t before = transport_->counts().channels;
  auto pin = rotate_host_key(*transport_, in_seconds(30), places_);
  ASSERT_TRUE(pin.ok()) << pin.error().message;
  EXPECT_EQ(1, transport_->counts().channels - before);
  EXPECT_TRUE(exists(sshd_.folder() + "/restarted"));
  EXPECT_TRUE(exists(places_.cloud_init_off));
  EXPECT_TRUE(exists(places_.cloud_runtime + "/result.json"));
  EXPECT_EQ(0, files_with_old_key());
  EXPECT_EQ(*pin, *host_key_pin(*read_file(places_.host_key + ".pub")));
  struct stat st {};
  ASSERT_EQ(0, stat(places_.host_key.c_str(), &st));
  EXPECT_EQ(0600u, st.st_mode & 0777);

  sshd_.stop();
  sshd_.start();
  ConnectRequest old_pin = sshd_.request(), new_pin = sshd_.request();
  new_pin.host_key = *pin;
  EXPECT_NE(old_pin.host_key, *pin);
  auto refused = connector_.connect(old_pin);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(std::string::npos, refused.error().message.find(*pin)) << refused.error().message;
  EXPECT_NE(nullptr, connect_or_fail(connector_, new_pin));
}

TEST_F(HostKeyTest, ACopyThatStaysIsAnErrorThatNamesIt) {
  plant(places_.cloud_data + "/elsewhere/notes", old_key_);
  auto pin = rotate_host_key(*transport_, in_seconds(30), places_);
  ASSERT_FALSE(pin.ok());
  EXPECT_NE(std::string::npos, pin.error().message.find("/elsewhere/notes")) << pin.error().message;
  EXPECT_FALSE(exists(sshd_.folder() + "/restarted"));
}

TEST_F(HostKeyTest, AFailedRestartIsAnError) {
  places_.restart = {"sh", "-c", "echo no such unit >&2; exit 5"};
  auto pin = rotate_host_key(*transport_, in_seconds(30), places_);
  ASSERT_FALSE(pin.ok());
  EXPECT_NE(std::string::npos, pin.error().message.find("no such unit")) << pin.error().message;
}

}  // namespace
}  // namespace benchctl::testing
