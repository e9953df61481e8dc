#include "provisioning/providers/ssh.h"

#include <sys/utsname.h>

#include <algorithm>
#include <utility>

#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/providers/ssh_scripts.h"

namespace benchctl {
namespace {

constexpr std::chrono::seconds kScriptTime{90};
// The agent, a few bundles and the rounds that are not home yet.
constexpr int64_t kFreeKib = 200 << 10;
constexpr int64_t kLongestTtlSeconds = 30 * 24 * 3600;
constexpr int kHeld = 75, kNoLock = 76, kNoFolder = 78;

std::string value_of(std::string_view lines, const std::string& key) {
  for (std::string_view line : split(lines, '\n'))
    if (line.starts_with(key + "=")) return std::string(line.substr(key.size() + 1));
  return "";
}

std::string shown(std::string_view lines, const std::string& key) {
  std::string value = sanitize(value_of(lines, key), 100);
  return value.empty() ? "?" : value;
}

std::string time_of(std::string_view lines, const std::string& key) {
  auto seconds = parse_int(value_of(lines, key));
  return seconds && *seconds > 0 && *seconds < 100'000'000'000 ? format_utc(*seconds * 1000) : "?";
}

// Who holds the machine, from the lines of its lock.
Error held_error(const std::string& where, std::string_view lock) {
  std::string busy = value_of(lock, "busy");
  std::string what = where + " is in use: run " + shown(lock, "run") + " of " + shown(lock, "controller") +
                     " (as user " + shown(lock, "user") + " there) holds its lock since " + time_of(lock, "since");
  if (!busy.empty())
    what += "; the lock has expired, but its processes still run there: " + sanitize(busy, 100);
  else if (!value_of(lock, "foreign").empty())
    what += "; it has expired, and only that user or root can remove it: benchctl-machine.lock in /run/lock";
  else
    what += ", until " + time_of(lock, "expires") + " at most; wait for it, or end it there by: benchctl reap --run " +
            shown(lock, "run");
  return Error{ErrorKind::kInterrupted, what};
}

// A folder that our own script could have made.
bool valid_work_dir(const std::string& path, const std::string& name) {
  return path.starts_with("/") && path.size() < 1000 && path.ends_with("benchctl-" + name) &&
         path.find("/../") == std::string::npos && sanitize(path, 1000) == path;
}

bool never_began(const Error& error) {
  return error.message.starts_with("connect to ") || error.message.find(kNotStarted) != std::string::npos;
}

std::string place_of(const Endpoint& endpoint) {
  return host_and_port(endpoint.host, endpoint.port);
}

std::string own_kernel_version() {
  utsname names{};
  return uname(&names) == 0 ? names.version : "";
}

// btime of /proc/stat; "0" when it does not say.
std::string own_start_second() {
  auto stat = read_pseudo_file("/proc/stat");
  size_t at = stat ? stat->find("\nbtime ") : std::string::npos;
  if (at == std::string::npos) return "0";
  auto second = parse_int(std::string_view(*stat).substr(at + 7, stat->find('\n', at + 1) - at - 7));
  return std::to_string(second.value_or(0));
}

}  // namespace

SshProvider::SshProvider(SshWorld world)
    : world_(std::move(world)), known_hosts_(world_.home, world_.clock), book_(world_.home, world_.clock) {}

Capabilities SshProvider::capabilities() const {
  Capabilities can;
  can.isolated = true;
  return can;
}

Status SshProvider::check(const MachineSpec& spec) {
  for (const SshHost& host : spec.hosts) {
    std::string path = host.key_file;
    if (path.starts_with("~/")) path = world_.user_home + path.substr(1);
    auto key = read_private_key(path);
    if (!key) return key.error().in("host " + sanitize(host.host, 260));
  }
  return {};
}

Status SshProvider::prepare(const MachineSpec& spec, const std::function<void(const std::string&)>& say) {
  for (const SshHost& host : spec.hosts) BENCHCTL_CHECK(endpoint_of(host, say));
  return {};
}

Result<std::string> SshProvider::pin_of(const SshHost& host, const Endpoint& endpoint,
                                        const std::function<void(const std::string&)>& say) {
  if (host.host_key != kAcceptFirst) {
    if (valid_host_key(host.host_key)) return host.host_key;
    return Error{ErrorKind::kUsage, "no host key is given for " + place_of(endpoint)};
  }
  BENCHCTL_TRY(auto known, known_hosts_.find(place_of(endpoint)));
  if (known) return known->host_key;
  BENCHCTL_TRY(std::string key, world_.host_key_of(endpoint, Deadline::in(world_.clock, world_.reach_time)));
  if (!valid_host_key(key))
    return Error{ErrorKind::kProvisioning, place_of(endpoint) + " shows no host key: " + sanitize(key, 100)};
  BENCHCTL_CHECK(known_hosts_.add(place_of(endpoint), key));
  if (say)
    say(place_of(endpoint) + ": its host key " + key +
        " is trusted from now on, unproved (accept-first); recorded in " + known_hosts_.path());
  return key;
}

Result<Endpoint> SshProvider::endpoint_of(const SshHost& host, const std::function<void(const std::string&)>& say) {
  Endpoint endpoint;
  endpoint.host = host.host;
  endpoint.port = host.port;
  endpoint.user = host.user;
  endpoint.netns = world_.netns;
  endpoint.become = host.become;
  endpoint.key_file = host.key_file;
  if (endpoint.key_file.starts_with("~/")) endpoint.key_file = world_.user_home + endpoint.key_file.substr(1);
  BENCHCTL_TRY(endpoint.host_key, pin_of(host, endpoint, say));
  return endpoint;
}

Result<CommandResult> SshProvider::run_script(const Endpoint& endpoint, const std::string& script,
                                              const std::vector<std::string>& arguments) {
  ConnectRequest request;
  request.endpoint = endpoint;
  request.deadline = Deadline::in(world_.clock, world_.reach_time);
  auto transport = world_.connector.connect(request);
  if (!transport) {
    Error error = transport.error();
    auto known = known_hosts_.find(place_of(endpoint));
    if (known && *known && (*known)->host_key == endpoint.host_key &&
        error.message.find("another machine") != std::string::npos)
      error.message += "; its key was trusted on first use on " + (*known)->since +
                       ": if the machine was installed anew since, remove it from " + known_hosts_.path();
    return error;
  }
  // The script by standard input, so that what went wrong is not said with all of it.
  std::vector<std::string> argv = {"sh", "-s", "--"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  RunOptions options{.deadline = Deadline::in(world_.clock, kScriptTime), .output_cap = 64 << 10};
  options.input = [text = script]() mutable -> Result<std::string> { return std::exchange(text, std::string()); };
  return (*transport)->run(argv, options);
}

Result<Machine> SshProvider::create(const MachineSpec& spec, const Lease& lease, const Bootstrap&) {
  if (lease.slot < 0 || static_cast<size_t>(lease.slot) >= spec.hosts.size())
    return Error{ErrorKind::kUsage, "fleet " + spec.fleet + " has no host number " + std::to_string(lease.slot + 1)};
  if (!valid_id(lease.nonce) || !valid_id(lease.name) || !valid_id(lease.run) || !valid_id(lease.owner))
    return Error{ErrorKind::kUsage, "not a lease: " + sanitize(lease.name + " " + lease.run, 200)};
  BENCHCTL_TRY(Endpoint endpoint, endpoint_of(spec.hosts[static_cast<size_t>(lease.slot)], {}));
  const std::string where = place_of(endpoint);
  Machine machine{"ssh", where, lease.name, lease.nonce, lease.run, lease.owner, lease.expires_unix, endpoint};
  BENCHCTL_TRY(auto known, book_.find(lease.nonce));
  if (!known) BENCHCTL_CHECK(book_.put(machine));
  // Nothing was made there, so nothing has to be given back, unless an earlier call had made it.
  auto nothing_made = [&](Error error) -> Error {
    if (known) return error;
    auto removed = book_.remove(lease.nonce);
    return removed ? error : removed.error();
  };
  auto own_boot_id = read_pseudo_file("/proc/sys/kernel/random/boot_id", 100);
  int64_t ttl = std::clamp<int64_t>(lease.expires_unix - world_.clock.unix_ms() / 1000, 60, kLongestTtlSeconds);
  std::string who = "run=" + lease.run + "\nowner=" + lease.owner + "\ncontroller=" + sanitize(world_.controller, 200);
  auto answer =
      run_script(endpoint, ssh_take_script(),
                 {lease.name, std::to_string(ttl), who, std::to_string(kFreeKib),
                  own_boot_id ? std::string(trim(*own_boot_id)) : "", own_kernel_version(), own_start_second()});
  // Not even begun; a script that was cut off may have done its work.
  if (!answer) return never_began(answer.error()) ? nothing_made(answer.error()) : answer.error();
  if (answer->exit_code == kHeld && answer->signal.empty()) return nothing_made(held_error(where, answer->output));
  if (!answer->ok()) {
    bool unfit = answer->signal.empty() && (answer->exit_code == kNoFolder || answer->exit_code == kNoLock);
    return Error{unfit ? ErrorKind::kRejected : ErrorKind::kProvisioning,
                 where + ": " + sanitize(trim(answer->errors), 600) +
                     (unfit ? "" : " (exit " + std::to_string(answer->exit_code) + answer->signal + ")")};
  }
  machine.endpoint->work_dir = value_of(answer->output, "work");
  machine.same_kernel = !value_of(answer->output, "same_kernel").empty();
  if (!valid_work_dir(machine.endpoint->work_dir, lease.name))
    return Error{ErrorKind::kRejected,
                 where + ": names a work folder that cannot be: " + sanitize(machine.endpoint->work_dir, 200)};
  BENCHCTL_CHECK(book_.put(machine));
  return machine;
}

Result<MachineState> SshProvider::state(Machine& machine) {
  BENCHCTL_TRY(auto known, book_.find(machine.nonce));
  if (!known) return MachineState::kGone;  // before create() touches anything it stands in the book
  machine.endpoint = known->endpoint;
  BENCHCTL_TRY(CommandResult answer, run_script(*known->endpoint, ssh_look_script(), {known->name}));
  if (!answer.ok()) return Error{ErrorKind::kProvisioning, known->id + ": " + sanitize(trim(answer.errors), 300)};
  if (value_of(answer.output, "state") != "there") return MachineState::kGone;
  // A create whose answer was lost: its folder is found again.
  std::string work = value_of(answer.output, "work");
  if (machine.endpoint->work_dir.empty() && valid_work_dir(work, known->name)) machine.endpoint->work_dir = work;
  return machine.endpoint->work_dir.empty() ? MachineState::kPending : MachineState::kRunning;
}

Status SshProvider::destroy(const Machine& machine) {
  BENCHCTL_TRY(auto known, book_.find(machine.nonce));
  if (!known) return {};
  BENCHCTL_TRY(CommandResult answer, run_script(*known->endpoint, ssh_give_back_script(), {known->name}));
  if (!answer.ok())
    return Error{ErrorKind::kLeaked, known->id + ": could not be given back: " + sanitize(trim(answer.errors), 600)};
  return book_.remove(machine.nonce);
}

Result<std::vector<Machine>> SshProvider::list(const std::string& owner) {
  BENCHCTL_TRY(auto machines, book_.all());
  std::erase_if(machines, [&](const Machine& machine) { return !owner.empty() && machine.owner != owner; });
  return machines;
}

}  // namespace benchctl
