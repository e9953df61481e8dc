#include <unistd.h>

#include <algorithm>

#include "agent/facts/system_text.h"
#include "agent/facts/world.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr size_t kMaxProcesses = 20'000;
constexpr size_t kTop = 10;
constexpr Nanos kSample = std::chrono::milliseconds(250);

std::vector<std::string> process_ids(const World& world) {
  std::vector<std::string> ids;
  for (const std::string& name : world.list("/proc"))
    if (parse_int(name) && ids.size() < kMaxProcesses) ids.push_back(name);
  return ids;
}

std::map<int64_t, ProcessStat> processes(const World& world) {
  std::map<int64_t, ProcessStat> found;
  for (const std::string& id : process_ids(world))
    if (auto text = world.read("/proc/" + id + "/stat"))
      if (auto stat = parse_proc_stat(*text)) found[stat->pid] = *stat;
  return found;
}

// Those that used most CPU in a quarter of a second, then in their whole life; this process is left out.
void set_top(FactGroup& group, const World& world) {
  auto before = processes(world);
  if (world.live()) world.clock.sleep(kSample);
  auto after = world.live() ? processes(world) : before;
  std::vector<std::pair<int64_t, ProcessStat>> busy;  // ticks during the sample
  for (const auto& [pid, stat] : after) {
    auto old = before.find(pid);
    int64_t ticks = old != before.end() ? std::max<int64_t>(0, stat.cpu_ticks - old->second.cpu_ticks) : stat.cpu_ticks;
    if (!world.live() || pid != getpid()) busy.emplace_back(ticks, stat);
  }
  std::stable_sort(busy.begin(), busy.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second.cpu_ticks) > std::pair(b.first, b.second.cpu_ticks);
  });
  if (after.empty()) return group.none("top_cpu", "no process could be read from /proc");
  Json top = Json::array();
  const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const auto& [ticks, stat] : busy) {
    if (top.as_array().size() >= kTop || stat.cpu_ticks == 0) break;
    Json one = Json::object();
    one.set("pid", stat.pid);
    one.set("name", sanitize(stat.name, 64));
    one.set("cpu_seconds", static_cast<double>(stat.cpu_ticks) / per_second);
    one.set("recent_cpu_seconds", static_cast<double>(ticks) / per_second);
    top.push(std::move(one));
  }
  group.set("top_cpu", std::move(top));
  group.set("processes", static_cast<int64_t>(after.size()));
}

// Inode → "pid/name" of open sockets; only what the own rights let see.
std::map<int64_t, std::pair<int64_t, std::string>> socket_owners(const World& world) {
  std::map<int64_t, std::pair<int64_t, std::string>> owners;
  size_t looked_at = 0;
  for (const std::string& id : process_ids(world)) {
    for (const std::string& fd : world.list("/proc/" + id + "/fd")) {
      if (++looked_at > 200'000) return owners;
      char target[64];
      ssize_t length = readlink((world.root + "/proc/" + id + "/fd/" + fd).c_str(), target, sizeof target);
      std::string_view name(target, length > 0 ? static_cast<size_t>(length) : 0);
      if (!name.starts_with("socket:[") || !name.ends_with(']')) continue;
      auto inode = parse_int(name.substr(8, name.size() - 9));
      if (inode) owners[*inode] = {*parse_int(id), world.line("/proc/" + id + "/comm").value_or("")};
    }
  }
  return owners;
}

void set_listening(FactGroup& group, const World& world) {
  std::vector<Socket> sockets;
  bool any = false;
  for (const char* protocol : {"tcp", "tcp6", "udp", "udp6"}) {
    auto text = world.read(std::string("/proc/net/") + protocol);
    if (!text) continue;
    any = true;
    for (Socket& socket : parse_proc_net(*text, protocol)) sockets.push_back(std::move(socket));
  }
  if (!any) return group.none("listening", "no /proc/net");
  auto owners = sockets.empty() ? std::map<int64_t, std::pair<int64_t, std::string>>{} : socket_owners(world);
  Json list = Json::array();
  for (const Socket& socket : sockets) {
    if (list.as_array().size() >= 500) break;
    auto owner = owners.find(socket.inode);
    Json one = Json::object();
    one.set("protocol", socket.protocol);
    one.set("address", socket.address);
    one.set("port", socket.port);
    one.set("pid", owner != owners.end() ? Json(owner->second.first) : Json());
    one.set("process", owner != owners.end() ? Json(sanitize(owner->second.second, 64)) : Json());
    list.push(std::move(one));
  }
  group.set("listening", std::move(list));
}

// systemctl's answer as JSON, or as text where its version has no JSON.
template <typename Parse>
void set_systemctl(FactGroup& group, const World& world, const std::string& key, std::vector<std::string> argv,
                   Parse parse) {
  std::vector<std::string> with_json = argv;
  with_json.push_back("--output=json");
  auto printed = world.tools.run(with_json);
  auto parsed = printed ? parse(*printed) : std::nullopt;
  if (!parsed && (printed || printed.error().message != "not installed")) {
    auto text = world.tools.run(argv);
    if (text) parsed = parse(*text);
  }
  if (parsed) {
    group.set(key, Json(*parsed));
  } else {
    group.none(key, printed ? "systemctl: answer not understood" : "systemctl: " + printed.error().message);
  }
}

}  // namespace

Json state_facts(const World& world) {
  FactGroup group;
  auto uptime = world.line("/proc/uptime");
  auto seconds = uptime ? parse_double(uptime->substr(0, uptime->find(' '))) : std::nullopt;
  group.set("uptime_s", seconds, "no /proc/uptime");
  auto load = world.line("/proc/loadavg");
  Json loads = Json::array();
  if (load)
    for (std::string_view part : split(*load, ' '))
      if (auto value = parse_double(part); value && loads.as_array().size() < 3) loads.push(*value);
  if (loads.as_array().size() == 3) {
    group.set("load", std::move(loads));
  } else {
    group.none("load", "no /proc/loadavg");
  }
  set_systemctl(group, world, "timers", {"systemctl", "list-timers", "--all", "--no-pager"}, parse_timers);
  set_systemctl(
      group, world, "units",
      {"systemctl", "list-units", "--type=service", "--state=running", "--no-pager", "--no-legend", "--plain"},
      parse_units);
  std::vector<std::string> jobs;
  for (const char* folder : {"/etc/cron.d", "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly",
                             "/etc/cron.monthly", "/var/spool/cron/crontabs"})
    for (const std::string& name : world.list(folder))
      if (name != ".placeholder" && jobs.size() < 200) jobs.push_back(sanitize(std::string(folder) + "/" + name, 300));
  group.set("cron", jobs);
  set_listening(group, world);
  set_top(group, world);
  return std::move(group).take();
}

}  // namespace benchctl
