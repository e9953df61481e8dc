#include <algorithm>
#include <set>

#include "controller/plan/cpu_list.h"
#include "controller/plan/pattern.h"
#include "controller/plan/sections.h"
#include "lib/text.h"
#include "provisioning/packages.h"

namespace benchctl {
namespace {

using Kind = toml::Node::Kind;

constexpr size_t kFleets = 16;
constexpr size_t kMachines = 100;

// The keys of [fleet.NAME] that only some providers have.
const std::vector<std::pair<std::string, std::set<std::string>>>& keys_of_providers() {
  static const std::set<std::string> kCloud{"digitalocean", "hetzner", "aws"};
  static const std::set<std::string> kOwn{"nspawn", "qemu"};
  static const std::vector<std::pair<std::string, std::set<std::string>>> kKeys{
      {"region", kCloud},   {"size", kCloud},         {"image", {"nspawn", "qemu", "digitalocean", "hetzner", "aws"}},
      {"cpus", kOwn},       {"memory", kOwn},         {"disk", kOwn},
      {"root", {"nspawn"}}, {"packages", {"nspawn"}}, {"hosts", {"ssh"}},
      {"become", {"ssh"}},
  };
  return kKeys;
}

void refuse_foreign_keys(TableReader& table, const std::string& provider) {
  for (const auto& [key, providers] : keys_of_providers())
    if (table.has(key) && providers.count(provider) == 0) table.wrong(key, "is no key of provider " + quoted(provider));
}

// A count becomes the list of the first CPUs; a text is a list of CPUs.
void read_cpus(TableReader& table, PlanContext& context, Fleet& fleet) {
  const toml::Node* cpus = table.get("cpus");
  if (cpus == nullptr) return;
  std::optional<int> count;
  std::string list;
  if (cpus->kind == Kind::kInteger && cpus->integer >= 1 && cpus->integer <= 4096) {
    count = static_cast<int>(cpus->integer);
    list = *count == 1 ? "0" : "0-" + std::to_string(*count - 1);
  } else if (cpus->kind == Kind::kString) {
    count = count_cpu_list(cpus->text);
    list = cpus->text;
  }
  if (!count)
    return table.wrong("cpus",
                       "must be a count from 1 to 4096, such as 2, or a list of CPUs, such as \"0-1\" or \"2,3\"");
  fleet.spec.options["cpus"] = list;
  if (*count > context.source.host.cpus)
    context.findings.warn(cpus->place, "cpus in " + table.name() + " asks for " + std::to_string(*count) +
                                           ", this computer has " + std::to_string(context.source.host.cpus));
}

void read_size_option(TableReader& table, const std::string& key, int64_t min, Fleet& fleet) {
  int64_t bytes = -1;
  table.bytes(key, bytes, min, int64_t{64} << 40);
  if (bytes < 0) return;
  const toml::Node* value = table.get(key);
  fleet.spec.options[key] = value->kind == Kind::kString ? value->text : std::to_string(bytes);
}

void read_packages(TableReader& table, Fleet& fleet) {
  std::vector<std::string> packages;
  if (!table.has("packages")) return;
  table.texts("packages", packages, 64);
  for (const std::string& package : packages)
    if (!valid_package(package))
      table.wrong("packages", "must be names of Debian packages, such as \"gcc\", not " + quoted(package));
  std::sort(packages.begin(), packages.end());
  fleet.spec.options["packages"] = join(packages, ",");
}

bool flag_of_other_arch(const std::string& flag, const std::string& arch) {
  static const std::vector<std::string> kX86{"avx", "sse", "ssse", "fma", "bmi", "sha_ni", "amx"};
  static const std::vector<std::string> kArm{"asimd", "sve", "neon"};
  const auto& others = arch == "aarch64" ? kX86 : kArm;
  return std::any_of(others.begin(), others.end(), [&](const std::string& start) { return flag.starts_with(start); });
}

void read_require(const toml::Node& node, const std::string& name, PlanContext& context, const std::string& arch,
                  Require& require) {
  TableReader table(node, name, context.findings);
  table.texts("cpu_flags", require.cpu_flags, 64);
  table.text("cpu_model", require.cpu_model, 500);
  table.bytes("memory", require.memory_bytes, 1, int64_t{64} << 40);
  table.choice("cpu_class", require.cpu_class, {"dedicated", "shared", "any"});
  table.integer("rerolls", require.rerolls, 0, 20);
  table.boolean("spread", require.spread);
  table.boolean("allow_burstable", require.allow_burstable);
  table.refuse_unknown();
  for (const std::string& flag : require.cpu_flags)
    if (flag_of_other_arch(flag, arch))
      table.wrong("cpu_flags", "asks for " + quoted(flag) + ", which no " + arch + " CPU has");
  if (std::string mistake = pattern_mistake(require.cpu_model); !mistake.empty())
    table.wrong("cpu_model", "is no RE2 pattern: " + mistake);
}

SshHost read_host(const toml::Node& item, const std::string& table, const std::string& become, Findings& findings) {
  SshHost host;
  host.become = become;
  TableReader one(item, "hosts of " + table, findings);
  one.text("host", host.host);
  one.text("user", host.user);
  one.text("key_file", host.key_file, 1000);
  one.text("host_key", host.host_key);
  one.integer("port", host.port, 1, 65535);
  one.refuse_unknown();
  const std::pair<const char*, const char*> needed[] = {
      {"host", "the address of the machine"},
      {"user", "whom to log in as"},
      {"key_file", "the private key to log in with, such as \"~/.ssh/id_ed25519\""},
      {"host_key",
       "the key that the machine must show, \"SHA256:…\" (on it: ssh-keygen -lf "
       "/etc/ssh/ssh_host_ed25519_key.pub), or \"accept-first\""}};
  for (auto [key, what] : needed)
    if (!one.has(key)) one.missing(key, what);
  if (!host.host.empty() && !valid_ssh_host(host.host)) one.wrong("host", "must be an address or a DNS name");
  if (!host.user.empty() && !valid_ssh_user(host.user)) one.wrong("user", "is no user name");
  bool absolute = host.key_file.starts_with("/") || host.key_file.starts_with("~/");
  // It is the operator's own: nothing that lies beside the plan.
  if (!host.key_file.empty() && (!absolute || sanitize(host.key_file, 1000) != host.key_file))
    one.wrong("key_file", "must be an absolute path or begin with ~/");
  if (!host.host_key.empty() && host.host_key != kAcceptFirst && !valid_host_key(host.host_key))
    one.wrong("host_key", "must be \"SHA256:\" with 43 characters, as ssh-keygen -l prints it, or \"accept-first\"");
  return host;
}

void read_hosts(TableReader& table, PlanContext& context, const std::string& provider, Fleet& fleet) {
  std::string become;
  table.choice("become", become, {"sudo"});
  const toml::Node* hosts = table.get("hosts");
  if (hosts == nullptr) {
    if (provider == "ssh")
      table.missing("hosts", "the machines, such as [{ host = \"10.0.0.7\", user = \"bench\", … }]");
    return;
  }
  if (hosts->kind != Kind::kArray || hosts->items.empty() || hosts->items.size() > kMachines)
    return table.wrong("hosts",
                       "must be a list of 1 to 100 tables, such as [{ host = \"10.0.0.7\", user = \"bench\", … }]");
  std::set<std::string> seen;
  for (const toml::Node& item : hosts->items) {
    if (item.kind != Kind::kTable) {
      context.findings.error(item.place, "hosts in " + table.name() + " must hold tables only");
      continue;
    }
    SshHost host = read_host(item, table.name(), become, context.findings);
    if (!host.host.empty() && !seen.insert(host_and_port(host.host, host.port)).second)
      context.findings.error(item.place, "hosts in " + table.name() + " name " + quoted(host.host) + " twice");
    fleet.spec.hosts.push_back(std::move(host));
  }
  if (table.has("count") && fleet.count != static_cast<int>(fleet.spec.hosts.size()))
    table.wrong("count", "must be " + std::to_string(fleet.spec.hosts.size()) + " or absent: it follows from hosts");
  fleet.count = static_cast<int>(fleet.spec.hosts.size());
}

void read_image(TableReader& table, const std::string& provider, Fleet& fleet) {
  if (provider == "nspawn") {
    fleet.spec.image = "trixie";
    table.choice("image", fleet.spec.image, {"trixie", "bookworm"});
  } else {
    table.text("image", fleet.spec.image);
  }
}

void read_fleet(const toml::Node& node, const std::string& key, PlanContext& context, Plan& plan) {
  const std::string name = "[fleet." + sanitize(key, 64) + "]";
  const MachineShape& host = context.source.host;
  TableReader table(node, name, context.findings);
  if (!valid_id(key)) context.findings.error(node.place, name + " must be named with a-z, 0-9 and - only");
  Fleet fleet;
  fleet.spec.fleet = key;
  fleet.spec.arch = host.arch;
  std::string& provider = fleet.spec.provider;
  const std::string available = "available: " + listed(available_providers());
  table.choice("provider", provider, known_providers());
  if (!table.has("provider")) table.missing("provider", available);
  const auto& built = available_providers();
  if (!provider.empty() && std::find(built.begin(), built.end(), provider) == built.end())
    context.findings.error(table.place("provider"),
                           "provider " + quoted(provider) + " is not available in this version; " + available);
  table.texts("region", fleet.spec.regions, 16);
  table.text("size", fleet.spec.size);
  read_image(table, provider, fleet);
  table.choice("arch", fleet.spec.arch, {"x86_64", "aarch64"});
  table.integer("count", fleet.count, 1, int64_t{kMachines});
  read_cpus(table, context, fleet);
  read_size_option(table, "memory", 128 << 20, fleet);
  read_size_option(table, "disk", 64 << 20, fleet);
  read_size_option(table, "root", 64 << 20, fleet);
  read_packages(table, fleet);
  read_hosts(table, context, provider, fleet);
  if (const toml::Node* require = table.table("require"))
    read_require(*require, "[fleet." + sanitize(key, 64) + ".require]", context, fleet.spec.arch, fleet.require);
  table.refuse_unknown();
  if (!provider.empty()) refuse_foreign_keys(table, provider);
  if ((provider == "nspawn" || provider == "local") && fleet.spec.arch != host.arch)
    table.wrong("arch", "must be " + quoted(host.arch) + ": " + provider + " machines are parts of this computer");
  if (provider == "local" && fleet.count != 1) table.wrong("count", "must be 1: this computer is one machine");
  plan.fleets.emplace(key, std::move(fleet));
}

}  // namespace

const std::vector<std::string>& known_providers() {
  static const std::vector<std::string> kProviders{"nspawn", "local", "ssh", "qemu", "digitalocean", "hetzner", "aws"};
  return kProviders;
}

const std::vector<std::string>& available_providers() {
  static const std::vector<std::string> kProviders{"nspawn", "local", "ssh"};
  return kProviders;
}

void read_fleets(TableReader& top, PlanContext& context, Plan& plan) {
  const toml::Node* fleets = top.table("fleet");
  if (fleets == nullptr || fleets->members.empty()) {
    if (fleets != nullptr || !top.has("fleet")) top.missing("fleet", "at least one [fleet.NAME] with a provider");
    return;
  }
  if (fleets->members.size() > kFleets)
    return top.wrong("fleet", "must have at most " + std::to_string(kFleets) + " fleets");
  bool local = false;
  for (const auto& [key, node] : fleets->members) {
    if (node.kind != Kind::kTable) {
      context.findings.error(node.place,
                             "[fleet." + sanitize(key, 64) + "] must be a table, not " + toml::kind_name(node.kind));
      continue;
    }
    read_fleet(node, key, context, plan);
    bool is_local = plan.fleets.at(key).spec.provider == "local";
    if (is_local && local)
      context.findings.error(node.place, "a second fleet of provider \"local\": this computer is one machine");
    local = local || is_local;
  }
}

}  // namespace benchctl
