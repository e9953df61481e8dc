#include "tests/transport/sshd_fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "lib/files.h"
#include "lib/text.h"

extern char** environ;

namespace benchctl::testing {

TempDir::TempDir() : path_("/tmp/bc-transport-" + random_hex(6)) {
  EXPECT_EQ(0, mkdir(path_.c_str(), 0700));
}

TempDir::~TempDir() {
  EXPECT_TRUE(remove_tree(path_).ok());
}

Process::Process(const std::vector<std::string>& argv) : pid_(-1) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  EXPECT_EQ(0, posix_spawnp(&pid_, words[0], nullptr, nullptr, words.data(), environ)) << argv[0];
}

Process::~Process() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

namespace {

void run_program(const std::vector<std::string>& argv) {
  Process process(argv);
  siginfo_t info{};
  ASSERT_EQ(0, waitid(P_PID, static_cast<id_t>(process.pid()), &info, WEXITED | WNOWAIT));
  ASSERT_EQ(0, info.si_status) << shell_quote(argv);
}

std::string must_read(const std::string& path) {
  auto text = read_file(path);
  EXPECT_TRUE(text.ok()) << path;
  return text.ok() ? *text : "";
}

}  // namespace

KeyPair make_key_pair(const std::string& folder, const std::string& name, const std::string& type) {
  std::string path = folder + "/" + name, said = path + ".fingerprint";
  run_program({"ssh-keygen", "-q", "-t", type, "-N", "", "-C", name, "-f", path});
  run_program({"sh", "-c", "ssh-keygen -lf \"$1\" >\"$2\"", "sh", path + ".pub", said});
  KeyPair pair;
  pair.identity = {must_read(path), must_read(path + ".pub")};
  std::string words = must_read(said);  // "256 SHA256:… name (ED25519)"
  size_t at = words.find("SHA256:");
  if (at != std::string::npos) pair.pin = words.substr(at, words.find(' ', at) - at);
  EXPECT_TRUE(pair.pin.starts_with("SHA256:"));
  return pair;
}

int free_port() {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(0, bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length));
  EXPECT_EQ(0, getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length));
  return ntohs(address.sin_port);
}

Sshd::Sshd(std::string extra, std::string netns) : netns_(std::move(netns)), port_(free_port()) {
  host_ = make_key_pair(folder(), "host");
  client_ = make_key_pair(folder(), "client");
  EXPECT_TRUE(write_atomic(folder() + "/authorized", client_.identity.public_key).ok());
  std::string config = "ListenAddress 127.0.0.1\nListenAddress ::1\nPort " + std::to_string(port_) + "\nHostKey " +
                       host_key_path() + "\nAuthorizedKeysFile " + folder() +
                       "/authorized\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n"
                       "PermitRootLogin prohibit-password\nUseDNS no\n"
                       // bash would read the developer's own .bashrc, whatever that does
                       "SetEnv SHLVL=5\n" +
                       extra;
  EXPECT_TRUE(write_atomic(folder() + "/config", config).ok());
  // Debian's sshd wants this folder when it runs as root. Its service makes it where there is one; ours stays, since
  // other tests may be using it too.
  if (geteuid() == 0) mkdir("/run/sshd", 0755);
}

Sshd::~Sshd() {
  stop();
}

void Sshd::start(bool wait_until_up) {
  std::vector<std::string> argv = {"/usr/sbin/sshd", "-D", "-f", folder() + "/config", "-E", folder() + "/log"};
  argv.insert(argv.begin(), prefix_.begin(), prefix_.end());
  if (!netns_.empty()) argv.insert(argv.begin(), {"nsenter", "--net=" + netns_});
  process_ = std::make_unique<Process>(argv);
  for (int tries = 0; wait_until_up && tries < 500 && log().find("Server listening") == std::string::npos; ++tries)
    usleep(10'000);
}

void Sshd::stop() {
  process_.reset();
  unlink((folder() + "/log").c_str());
}

std::string Sshd::log() const {
  auto text = read_file(folder() + "/log");
  return text.ok() ? *text : "";
}

ConnectRequest Sshd::request(std::chrono::seconds within) const {
  ConnectRequest request;
  request.endpoint.host = "127.0.0.1";
  request.endpoint.port = port_;
  request.endpoint.user = getpwuid(geteuid())->pw_name;
  request.endpoint.netns = netns_;
  request.identity = client_.identity;
  request.host_key = host_.pin;
  request.deadline = Deadline::in(system_clock(), within);
  return request;
}

SystemClock& system_clock() {
  static SystemClock clock;
  return clock;
}

Deadline in_seconds(int seconds) {
  return Deadline::in(system_clock(), std::chrono::seconds(seconds));
}

std::unique_ptr<Transport> connect_or_fail(Connector& connector, const ConnectRequest& request) {
  auto transport = connector.connect(request);
  EXPECT_TRUE(transport.ok()) << transport.error().message;
  return transport.ok() ? std::move(*transport) : nullptr;
}

ByteSource source_of(std::string text, size_t piece) {
  return [text = std::move(text), piece, at = size_t{0}]() mutable -> Result<std::string> {
    std::string next = text.substr(at, piece);
    at += next.size();
    return next;
  };
}

std::string pattern_bytes(size_t count) {
  std::minstd_rand random(7);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() >> 8);
  return bytes;
}

}  // namespace benchctl::testing
