// A server that opens channels to us, as it would to use our agent, our display or our network: each is refused, and
// what we asked for goes on.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <libssh/server.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "lib/clock.h"
#include "provisioning/ssh/ssh_transport.h"

namespace benchctl {
namespace {

struct Key {
  ssh_key key = nullptr;
  Key() { EXPECT_EQ(SSH_OK, ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &key)); }
  ~Key() { ssh_key_free(key); }
  std::string pin() const {
    unsigned char* hash = nullptr;
    size_t length = 0;
    EXPECT_EQ(0, ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length));
    char* words = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
    std::string text = words;
    ssh_string_free_char(words);
    ssh_clean_pubkey_hash(&hash);
    return text;
  }
};

// One connection: lets anybody in, and once a command is asked for tries what it may not.
class GreedyServer {
 public:
  GreedyServer() : bind_(ssh_bind_new()) {
    int port = 0, verbosity = SSH_LOG_NOLOG;
    UniqueFd probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(0, bind(probe.get(), reinterpret_cast<sockaddr*>(&address), length));
    EXPECT_EQ(0, getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &length));
    port_ = port = ntohs(address.sin_port);
    probe.reset();
    bool no_config = false;
    ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_PROCESS_CONFIG, &no_config);
    ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_BINDADDR, "127.0.0.1");
    ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_BINDPORT, &port);
    ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_LOG_VERBOSITY, &verbosity);
    ssh_key copy = nullptr;  // the bind takes it over
    copy = ssh_key_dup(host_.key);
    ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_IMPORT_KEY, copy);
    EXPECT_EQ(SSH_OK, ssh_bind_listen(bind_)) << ssh_get_error(bind_);
    thread_ = std::thread([this] { serve(); });
  }
  ~GreedyServer() {
    thread_.join();
    ssh_bind_free(bind_);
  }
  int port() const { return port_; }
  std::string pin() const { return host_.pin(); }
  int refused() const { return refused_; }
  int granted() const { return granted_; }
  void wait() {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([] {});
  }

 private:
  struct Asked {
    ssh_channel channel = nullptr;
    std::string command;
    ssh_channel_callbacks_struct callbacks{};
  };

  void serve() {
    ssh_session session = ssh_new();
    Asked asked;
    asked.callbacks.userdata = &asked;
    asked.callbacks.channel_exec_request_function = [](ssh_session, ssh_channel, const char* command, void* place) {
      static_cast<Asked*>(place)->command = command;
      return 0;
    };
    ssh_callbacks_init(&asked.callbacks);
    ssh_server_callbacks_struct callbacks{};
    callbacks.userdata = &asked;
    callbacks.auth_pubkey_function = [](ssh_session, const char*, ssh_key_struct*, char, void*) {
      return static_cast<int>(SSH_AUTH_SUCCESS);
    };
    callbacks.channel_open_request_session_function = [](ssh_session opener, void* place) {
      auto* here = static_cast<Asked*>(place);
      here->channel = ssh_channel_new(opener);
      ssh_set_channel_callbacks(here->channel, &here->callbacks);
      return here->channel;
    };
    ssh_callbacks_init(&callbacks);
    ssh_set_server_callbacks(session, &callbacks);
    ssh_event event = ssh_event_new();
    if (ssh_bind_accept(bind_, session) == SSH_OK && ssh_handle_key_exchange(session) == SSH_OK) {
      long patience = 10;
      ssh_options_set(session, SSH_OPTIONS_TIMEOUT, &patience);
      ssh_event_add_session(event, session);
      for (int turn = 0; turn < 200 && asked.command.empty(); ++turn) ssh_event_dopoll(event, 100);
    }
    const std::string& command = asked.command;
    ssh_channel channel = asked.channel;
    if (channel != nullptr && !command.empty()) {
      attack(session);
      size_t at = command.find("bc-");
      std::string answer = command.substr(at, command.find(';', at) - at) + "\nstill here\n";
      ssh_channel_write(channel, answer.data(), static_cast<uint32_t>(answer.size()));
      ssh_channel_request_send_exit_status(channel, 0);
      ssh_channel_send_eof(channel);
      ssh_channel_close(channel);
      for (int turn = 0; turn < 10 && ssh_is_connected(session) == 1; ++turn)  // what we said leaves us
        if (ssh_event_dopoll(event, 100) == SSH_ERROR) break;
    }
    ssh_event_free(event);
    ssh_disconnect(session);
    ssh_free(session);
  }

  void attack(ssh_session session) {
    auto attempt = [&](auto&& open) {
      ssh_channel channel = ssh_channel_new(session);
      if (open(channel) == SSH_OK)
        ++granted_;
      else if (std::string_view(ssh_get_error(session)).find("hannel opening failure") != std::string_view::npos)
        ++refused_;  // and not only left without an answer
      ssh_channel_free(channel);
    };
    attempt([](ssh_channel channel) { return ssh_channel_open_auth_agent(channel); });
    attempt([](ssh_channel channel) { return ssh_channel_open_x11(channel, "127.0.0.1", 6000); });
    attempt([](ssh_channel channel) {
      return ssh_channel_open_reverse_forward(channel, "127.0.0.1", 22, "127.0.0.1", 4444);
    });
    attempt([](ssh_channel channel) { return ssh_channel_open_forward(channel, "127.0.0.1", 22, "127.0.0.1", 4444); });
    attempt([](ssh_channel channel) { return ssh_channel_open_session(channel); });
  }

  ssh_bind bind_;
  Key host_;
  int port_ = 0;
  std::thread thread_;
  int refused_ = 0, granted_ = 0;
};

TEST(SshRefusal, NoChannelIsOpenedByTheServer) {
  GreedyServer server;
  Key client;
  char* text = nullptr;
  ASSERT_EQ(SSH_OK, ssh_pki_export_privkey_base64(client.key, nullptr, nullptr, nullptr, &text));
  SystemClock clock;
  ConnectRequest request;
  request.endpoint.host = "127.0.0.1";
  request.endpoint.port = server.port();
  request.endpoint.user = "nobody";
  request.identity.private_key = text;
  ssh_string_free_char(text);
  request.host_key = server.pin();
  request.deadline = Deadline::in(clock, std::chrono::seconds(20));
  SshConnector connector(clock);
  {
    auto transport = connector.connect(request);
    ASSERT_TRUE(transport.ok()) << transport.error().message;
    RunOptions options;
    options.deadline = Deadline::in(clock, std::chrono::seconds(60));
    auto result = (*transport)->run({"true"}, options);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result->output, "still here\n");
  }
  server.wait();
  EXPECT_EQ(server.granted(), 0);
  EXPECT_EQ(server.refused(), 5);
}

}  // namespace
}  // namespace benchctl
