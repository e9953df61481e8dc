#include "controller/cli/kept_host.h"

#include <pwd.h>
#include <unistd.h>

#include <iostream>

#include "controller/cli/signals.h"
#include "lib/text.h"
#include "provisioning/lifecycle.h"
#include "provisioning/providers/ssh_book.h"

namespace benchctl {
namespace {

constexpr std::chrono::minutes kWholeTime{15};  // the lock runs out after it, should we be killed
constexpr std::chrono::minutes kTakeTime{2};

Result<SshHost> host_of(Context& context, const KeptHostArguments& arguments) {
  BENCHCTL_TRY(SshHost host, parse_ssh_host(arguments.host));
  if (host.user.empty()) {
    const passwd* us = getpwuid(geteuid());
    host.user = us != nullptr ? us->pw_name : "root";
  }
  host.key_file = arguments.key;
  host.host_key = arguments.host_key;
  host.become = arguments.become;
  if (!host.become.empty() && host.become != "sudo")
    return Error{ErrorKind::kUsage, "--become must be sudo, not \"" + sanitize(host.become, 60) + "\""};
  if (host.host_key == kAcceptFirst || valid_host_key(host.host_key)) return host;
  if (!host.host_key.empty())
    return Error{ErrorKind::kUsage, "--host-key must be SHA256:… as ssh-keygen -l prints it, or accept-first"};
  const std::string place = host_and_port(host.host, host.port);
  BENCHCTL_TRY(auto known, KnownHosts(context.home, *context.clock).find(place));
  if (!known)
    return Error{ErrorKind::kUsage, "no host key is known for " + place +
                                        ": give --host-key SHA256:… (on it: ssh-keygen -lf "
                                        "/etc/ssh/ssh_host_ed25519_key.pub), or --host-key accept-first"};
  host.host_key = known->host_key;
  return host;
}

}  // namespace

void KeptHostArguments::declare_options(Options& options) {
  options.text("--key", key, "private key to log in with (default ~/.ssh/id_ed25519)");
  options.text("--host-key", host_key, "the key that it must show, SHA256:…; accept-first: take what it shows now");
  options.text("--become", become, "sudo: work as root there");
}

Result<int> on_kept_host(Context& context, Parts& parts, const KeptHostArguments& arguments, const std::string& purpose,
                         const std::function<Result<int>(AgentClient&, Transport&)>& work) {
  Clock& clock = *context.clock;
  MachineSpec spec;
  spec.provider = spec.fleet = "ssh";
  BENCHCTL_TRY(SshHost host, host_of(context, arguments));
  spec.hosts = {host};
  Provider& provider = *parts.provider("ssh");
  BENCHCTL_CHECK(provider.check(spec));
  BENCHCTL_CHECK(provider.prepare(spec, [](const std::string& line) { std::cerr << line << "\n"; }));
  BENCHCTL_TRY(Store * store, parts.store());
  Lease lease;
  lease.nonce = random_hex(6);
  lease.name = "bc-" + lease.nonce;
  lease.run = purpose + "-" + lease.nonce;
  BENCHCTL_TRY(lease.owner, store->owner());
  lease.expires_unix = clock.unix_ms() / 1000 + std::chrono::duration_cast<std::chrono::seconds>(kWholeTime).count();
  // Whoever stops us waits until the machine is given back: its lock would be in everybody's way.
  static StopRequest stop;
  watch_signals(stop, [run = lease.run] {
    std::cerr << "\nbenchctl: ended at once; give the machine back by: benchctl reap --run " << run << "\n";
  });
  Machine machine{"ssh", "", lease.name, lease.nonce, lease.run, lease.owner, lease.expires_unix};
  auto done = [&]() -> Result<int> {
    BENCHCTL_TRY(machine, acquire(provider, spec, lease, {}, clock, Deadline::in(clock, kTakeTime)));
    ConnectRequest request;
    request.endpoint = *machine.endpoint;
    request.deadline = Deadline::in(clock, kTakeTime);
    BENCHCTL_TRY(auto transport, parts.connector().connect(request));
    StopRequest::Handle handle(stop, [&] { transport->interrupt(); });
    AgentClient agent(*transport, clock, machine.endpoint->work_dir);
    BENCHCTL_TRY(Installed installed, agent.install_agent(context.agent, Deadline::in(clock, kWholeTime)));
    agent.use_agent(installed.sha256);
    if (std::string remark = transport->remark(); !remark.empty()) std::cerr << "note: " << remark << "\n";
    return work(agent, *transport);
  }();
  auto released = release(provider, machine, clock, Deadline::in(clock, kTakeTime));
  if (stop.requested()) {
    if (!released) std::cerr << "benchctl: " << sanitize(released.error().message, 4000) << "\n";
    return Error{ErrorKind::kInterrupted, "stopped on request"};
  }
  if (done && !released) return released.error();
  return done;
}

}  // namespace benchctl
