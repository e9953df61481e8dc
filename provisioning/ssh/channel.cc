#include "provisioning/ssh/channel.h"

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "lib/text.h"

namespace benchctl {
namespace {

constexpr size_t kPiece = 64 << 10;
constexpr size_t kNoiseCap = 64 << 10;  // what a login shell may print before our command starts
constexpr Nanos kEndGrace = std::chrono::seconds(5);

class Channel {
 public:
  Channel(Session& session, Clock& clock, const std::string& become, const RunOptions& options, ChannelNotes& notes)
      : session_(session),
        clock_(clock),
        become_(become),
        options_(options),
        notes_(notes),
        marker_("bc-" + random_hex(8)) {}

  ~Channel() {
    if (channel_ == nullptr) return;
    // libssh keeps a freed channel until the server closes it, and would call back into us.
    ssh_remove_channel_callbacks(channel_, &callbacks_);
    ssh_channel_free(channel_);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  Result<CommandResult> run(const std::vector<std::string>& argv) {
    BENCHCTL_CHECK(start(argv));
    if (auto pumped = pump(); !pumped) {
      end_command();
      return pumped.error();
    }
    if (!started_) return not_started();
    if (exit_status_) {
      if (*exit_status_ < 0 || *exit_status_ > 255) return lost("a nonsense exit status");
      result_.exit_code = *exit_status_;
    } else if (result_.signal.empty()) {
      return lost("ended without an exit status");
    }
    return std::move(result_);
  }

 private:
  static Error lost(const std::string& what) { return Error{ErrorKind::kProvisioning, what}; }

  Error not_started() const {
    std::string said = sanitize(trim(noise_ + result_.errors), 300);
    if (become_.empty()) return lost(std::string(kNotStarted) + "the login shell did not: " + said);
    return lost(std::string(kNotStarted) + "could not become root by " + become_ + ": " + said +
                "; the user must be allowed to without a password: `NAME ALL=(root) NOPASSWD: ALL` in "
                "/etc/sudoers.d/benchctl there");
  }

  Status start(const std::vector<std::string>& argv) {
    asked_at_ = clock_.now();
    session_.begin();
    channel_ = ssh_channel_new(session_.get());
    if (channel_ == nullptr) return Error{ErrorKind::kInternal, "out of memory"};
    callbacks_.userdata = this;
    callbacks_.channel_close_function = [](ssh_session, ssh_channel, void* self) {
      static_cast<Channel*>(self)->closed_ = true;
    };
    callbacks_.channel_exit_status_function = [](ssh_session, ssh_channel, int status, void* self) {
      static_cast<Channel*>(self)->exit_status_ = status;
    };
    callbacks_.channel_exit_signal_function = [](ssh_session, ssh_channel, const char* signal, int, const char*,
                                                 const char*, void* self) {
      static_cast<Channel*>(self)->result_.signal = sanitize(signal != nullptr ? signal : "unknown", 32);
    };
    ssh_callbacks_init(&callbacks_);
    BENCHCTL_CHECK(until_answered("open a channel", [&] { return ssh_channel_open_session(channel_); }));
    if (ssh_set_channel_callbacks(channel_, &callbacks_) != SSH_OK)
      return Error{ErrorKind::kInternal, "libssh refuses callbacks"};
    const std::string line = remote_command_line(argv, marker_, become_);
    return until_answered("run a command", [&] { return ssh_channel_request_exec(channel_, line.c_str()); });
  }

  // A libssh call that waits for the server's answer; here it waits in Session::wait(), which notices a dead server.
  template <typename Call>
  Status until_answered(const char* what, Call call) {
    ssh_set_blocking(session_.get(), 0);
    Status status;
    for (int end = call(); end != SSH_OK; end = call()) {
      if (end != SSH_AGAIN) {
        status = lost(std::string(what) + ": " + session_.last_error());
      } else if (options_.deadline.passed(clock_)) {
        status = lost("no answer before the deadline");
      } else if (!session_.wait(milliseconds_left())) {
        status = broken();
      }
      if (!status) break;
    }
    ssh_set_blocking(session_.get(), 1);
    return status;
  }

  int milliseconds_left() const {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(options_.deadline.left(clock_)).count();
    return static_cast<int>(std::min<int64_t>(left, 60'000));
  }

  // Input, output and errors together until the server closes the channel: its exit status comes after EOF, and a
  // command whose output is not read does not read its input either.
  Status pump() {
    std::string buffer(kPiece, '\0');
    while (true) {
      bool moved = false;
      const bool was_closed = closed_;  // reading one stream may take in the other's last bytes and the close
      BENCHCTL_CHECK(send_some(moved));
      BENCHCTL_CHECK(receive_some(buffer, moved));
      if (was_closed && !moved) return {};
      if (moved || closed_) continue;
      if (options_.deadline.passed(clock_)) return lost("no end before the deadline");
      auto left = std::chrono::ceil<std::chrono::milliseconds>(options_.deadline.left(clock_)).count();
      if (!session_.wait(static_cast<int>(std::min<int64_t>(left, 60'000))) && !closed_) return broken();
    }
  }

  Error broken() const {
    if (!session_.silent()) return lost("the connection broke: " + session_.last_error());
    auto seconds = std::chrono::duration<double>(2 * session_.patience()).count();
    return lost("the connection broke: no sign of life for " + format_seconds(seconds) +
                " (the link is cut, or sshd is frozen there)");
  }

  Status send_some(bool& moved) {
    if (input_ended_ || closed_) return {};
    if (piece_.empty()) {
      if (options_.input) {
        BENCHCTL_TRY(pending_, options_.input());
        piece_ = pending_;
      }
      if (piece_.empty()) {
        input_ended_ = true;
        moved = true;
        if (ssh_channel_send_eof(channel_) == SSH_ERROR && !gone()) return lost("send: " + session_.last_error());
        return {};
      }
    }
    // Never more than the window: a blocking write would wait for it without reading what the command prints.
    size_t count = std::min({piece_.size(), size_t{ssh_channel_window_size(channel_)}, kPiece});
    if (count == 0) return {};
    int sent = ssh_channel_write(channel_, piece_.data(), static_cast<uint32_t>(count));
    if (sent < 0) {
      if (!gone()) return lost("send: " + session_.last_error());
      input_ended_ = true;  // the command ended without reading all: its exit status will tell
      return {};
    }
    moved = sent > 0;
    notes_.sent += sent;
    piece_.remove_prefix(static_cast<size_t>(sent));
    return {};
  }

  bool gone() const { return closed_ || (session_.alive() && ssh_channel_is_eof(channel_) != 0); }

  Status receive_some(std::string& buffer, bool& moved) {
    for (int is_stderr : {0, 1}) {
      int count =
          ssh_channel_read_nonblocking(channel_, buffer.data(), static_cast<uint32_t>(buffer.size()), is_stderr);
      if (count == SSH_ERROR) return broken();
      if (count <= 0) continue;
      moved = true;
      notes_.received += count;
      std::string_view bytes(buffer.data(), static_cast<size_t>(count));
      if (is_stderr == 1) {
        int64_t room = options_.error_cap - static_cast<int64_t>(result_.errors.size());
        result_.errors += bytes.substr(0, static_cast<size_t>(std::max<int64_t>(room, 0)));
      } else {
        BENCHCTL_CHECK(started_ ? take_output(bytes) : drop_noise(bytes));
      }
    }
    if (options_.deadline.passed(clock_)) return lost("no end before the deadline");
    return {};
  }

  Status drop_noise(std::string_view bytes) {
    noise_ += bytes;
    std::string line = marker_ + "\n";
    size_t at = noise_.find(line);
    if (at == std::string::npos) {
      if (noise_.size() > kNoiseCap) return lost("the login shell prints without end: " + sanitize(noise_, 100));
      return {};
    }
    started_ = true;
    notes_.start_time = clock_.now() - asked_at_;
    notes_.shell_printed = noise_.substr(0, at);
    std::string rest = noise_.substr(at + line.size());
    noise_.clear();
    return rest.empty() ? Status() : take_output(rest);
  }

  Status take_output(std::string_view bytes) {
    if (options_.on_output) return options_.on_output(bytes);
    if (static_cast<int64_t>(result_.output.size() + bytes.size()) > options_.output_cap)
      return lost("it printed more than " + format_bytes(options_.output_cap));
    result_.output += bytes;
    return {};
  }

  // A command that we gave up on: killed, and what it still prints thrown away until the channel is closed, so that the
  // session stays usable. A server that does not close it in time loses the session. Nothing here blocks.
  // (OpenSSH refuses to signal where root logged in; there the command ends when it next writes to its closed output.)
  void end_command() {
    if (!session_.alive()) return;
    ssh_set_blocking(session_.get(), 0);
    ssh_channel_request_send_signal(channel_, "KILL");
    ssh_channel_close(channel_);
    std::string buffer(kPiece, '\0');
    Deadline end{std::min(options_.deadline.at, clock_.now() + kEndGrace)};
    do {
      session_.wait(closed_ || end.passed(clock_) ? 0 : 100);
      for (int is_stderr : {0, 1})
        ssh_channel_read_nonblocking(channel_, buffer.data(), static_cast<uint32_t>(buffer.size()), is_stderr);
    } while (!closed_ && session_.alive() && !end.passed(clock_));
    if (!closed_) session_.shut_down();
    ssh_set_blocking(session_.get(), 1);
  }

  Session& session_;
  Clock& clock_;
  const std::string& become_;
  const RunOptions& options_;
  ChannelNotes& notes_;
  const std::string marker_;
  ssh_channel channel_ = nullptr;
  ssh_channel_callbacks_struct callbacks_{};
  Nanos asked_at_{0};
  bool started_ = false;
  bool closed_ = false;
  bool input_ended_ = false;
  std::optional<int> exit_status_;
  std::string pending_;
  std::string_view piece_;
  std::string noise_;
  CommandResult result_;
};

}  // namespace

std::string remote_command_line(const std::vector<std::string>& argv, const std::string& marker,
                                const std::string& become) {
  // Inside single quotes csh still reads `!` and line feeds, fish backslashes. So none of these is sent: they travel as
  // octal escapes for printf's %b, and a real sh makes the words.
  std::string escaped;
  for (unsigned char c : shell_quote(argv)) {
    if (c < 0x20 || c >= 0x7f || c == '\'' || c == '!' || c == '\\') {
      char octal[8];
      std::snprintf(octal, sizeof octal, "\\0%03o", c);
      escaped += octal;
    } else {
      escaped += static_cast<char>(c);
    }
  }
  // Before our own shell: nothing has been printed yet when sudo refuses, so its refusal is never taken for an output.
  std::string as_root = become == "sudo" ? "sudo -n -- " : "";
  return "exec " + as_root + "/bin/sh -c 'echo " + marker + "; eval \"exec $(printf %b \"$1\")\"' sh '" + escaped + "'";
}

Result<CommandResult> run_channel(Session& session, Clock& clock, const std::vector<std::string>& argv,
                                  const std::string& become, const RunOptions& options, ChannelNotes& notes) {
  Channel channel(session, clock, become, options, notes);
  return channel.run(argv);
}

}  // namespace benchctl
