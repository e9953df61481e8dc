#include "provisioning/providers/nspawn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "lib/files.h"
#include "lib/json.h"
#include "lib/sha256.h"
#include "lib/text.h"
#include "provisioning/command.h"
#include "provisioning/packages.h"
#include "provisioning/providers/cgroups.h"
#include "provisioning/providers/loop_devices.h"
#include "provisioning/providers/nspawn_image.h"
#include "provisioning/providers/nspawn_launch.h"
#include "provisioning/providers/nspawn_shape.h"

namespace benchctl {
namespace {

constexpr char kWorkDir[] = "/var/lib/benchctl";
constexpr std::chrono::seconds kStepTime{60};   // one tool; they need milliseconds on a quiet computer
constexpr std::chrono::seconds kEntryTime{10};  // until the detached launcher is in its cgroups
constexpr std::chrono::seconds kDestroyTime{20};

Error provisioning_error(const Error& error, const std::string& where) {
  return Error{ErrorKind::kProvisioning, where + ": " + error.message};
}

// Machines never see each other, so that addresses need not differ; they do, for the people who read about them.
std::string subnet(const std::string& nonce) {
  std::string digest = sha256_hex(nonce);
  int hash = std::stoi(digest.substr(0, 4), nullptr, 16);
  return "10." + std::to_string(64 + (hash >> 8) % 128) + "." + std::to_string(hash & 0xFF) + ".";
}

Machine describe(const MachineTag& tag) {
  Machine machine;
  machine.provider = "nspawn";
  machine.id = machine.name = tag.name();
  machine.nonce = tag.nonce;
  machine.run = tag.run;
  machine.owner = tag.owner;
  machine.expires_unix = tag.expires_unix;
  return machine;
}

// JSON is YAML: nothing has to be quoted twice.
std::string network_config(const std::string& nonce) {
  Json interface =
      Json::object({{"addresses", Json(Json::Array{subnet(nonce) + "2/24"})}, {"dhcp4", false}, {"dhcp6", false}});
  return Json::object({{"version", 2}, {"ethernets", Json::object({{"host0", interface}})}}).dump() + "\n";
}

std::string meta_data(const MachineTag& tag) {
  return Json::object({{"instance-id", tag.nonce}, {"local-hostname", tag.name()}}).dump() + "\n";
}

// The folder's lock, so that two callers with one lease do not both make the machine.
Result<UniqueFd> lock_folder(const std::string& path, Clock& clock) {
  BENCHCTL_TRY(UniqueFd fd, open_dir(path));
  Deadline deadline = Deadline::in(clock, kStepTime);
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (deadline.passed(clock))
      return Error{ErrorKind::kProvisioning, path + ": another benchctl is making this machine"};
    clock.sleep(std::chrono::milliseconds(20));
  }
  return fd;
}

Status disk_fits(std::string folder, int64_t bytes) {
  while (folder.size() > 1 && !exists(folder)) folder.resize(std::max<size_t>(1, folder.rfind('/')));
  BENCHCTL_TRY(int64_t free, free_bytes(folder));
  if (bytes <= free) return {};
  return Error{ErrorKind::kUsage, "option disk of provider nspawn: " + format_bytes(bytes) + " is more than the " +
                                      format_bytes(free) + " that are free below " + folder};
}

}  // namespace

Capabilities NspawnProvider::capabilities() const {
  Capabilities can;
  can.disposable = true;
  can.root = true;
  return can;
}

Status NspawnProvider::check(const MachineSpec& spec) {
  BENCHCTL_CHECK(nspawn_recipe(spec.image, packages_of(spec)));
  BENCHCTL_TRY(NspawnShape shape, NspawnShape::parse(spec));
  // The usual disk is sparse and mostly stays so; whoever asks for a size means to use it.
  if (spec.options.count("disk") != 0) BENCHCTL_CHECK(disk_fits(dirs_.state, shape.disk_bytes));
  if (geteuid() != 0)
    return Error{
        ErrorKind::kProvisioning,
        "provider nspawn makes machines as root: run with sudo, or use provider = \"local\", which needs no root"};
  std::vector<std::string> missing;
  const std::vector<std::pair<const char*, const char*>> tools{{"systemd-nspawn", "systemd-container"},
                                                               {"mmdebstrap", "mmdebstrap"},
                                                               {"unshare", "util-linux"},
                                                               {"setsid", "util-linux"},
                                                               {"nsenter", "util-linux"},
                                                               {"mount", "mount"},
                                                               {"losetup", "mount"},
                                                               {"ip", "iproute2"},
                                                               {"mke2fs", "e2fsprogs"},
                                                               {"ssh-keygen", "openssh-client"}};
  for (const auto& [tool, package] : tools)
    if (!find_program(tool)) missing.push_back(std::string(tool) + " (apt-get install " + package + ")");
  if (!missing.empty()) return Error{ErrorKind::kProvisioning, "provider nspawn needs " + join(missing, ", ")};
  if (!exists("/usr/share/keyrings/debian-archive-keyring.gpg"))
    return Error{ErrorKind::kProvisioning,
                 "provider nspawn needs Debian's keys (apt-get install debian-archive-keyring)"};
  if (!exists("/dev/loop-control"))
    return Error{ErrorKind::kProvisioning,
                 "provider nspawn needs loop devices: /dev/loop-control is absent (modprobe loop)"};
  BENCHCTL_CHECK(Cgroups::of_this_computer());
  return {};
}

Status NspawnProvider::prepare(const MachineSpec& spec, const std::function<void(const std::string&)>& say) {
  BENCHCTL_TRY(NspawnRecipe recipe, nspawn_recipe(spec.image, packages_of(spec)));
  return make_nspawn_image(dirs_.cache, recipe, clock_, say);
}

Result<std::vector<MachineTag>> NspawnProvider::tags() const {
  std::set<std::string> names;
  if (auto folders = list_dir(dirs_.state)) names.insert(folders->begin(), folders->end());
  BENCHCTL_TRY(Cgroups cgroups, Cgroups::of_this_computer());
  names.merge(cgroups.tags());
  std::vector<MachineTag> found;
  for (const auto& name : names)
    if (auto tag = MachineTag::parse(name)) found.push_back(*tag);
  return found;
}

Result<Machine> NspawnProvider::create(const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap) {
  BENCHCTL_TRY(MachineTag tag, MachineTag::of(lease));
  BENCHCTL_CHECK(make_dirs(dirs_.state, 0700));
  const std::string folder = dirs_.state + "/" + tag.text();
  // The first trace of the machine, and already its whole record.
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return errno_error("mkdir " + folder, ErrorKind::kProvisioning);
  BENCHCTL_TRY(UniqueFd lock, lock_folder(folder, clock_));
  BENCHCTL_CHECK(failpoints_.reach("nspawn:folder"));
  Machine machine = describe(tag);
  BENCHCTL_TRY(MachineState now, state(machine));
  struct stat link {};
  bool was_started = lstat((folder + "/netns").c_str(), &link) == 0;
  if (now == MachineState::kRunning || was_started) return machine;
  if (auto launched = launch(spec, tag, bootstrap); !launched)
    return provisioning_error(launched.error(), "machine " + tag.name());
  BENCHCTL_CHECK(state(machine));
  return machine;
}

Status NspawnProvider::launch(const MachineSpec& spec, const MachineTag& tag, const Bootstrap& bootstrap) {
  BENCHCTL_TRY(NspawnShape shape, NspawnShape::parse(spec));
  BENCHCTL_TRY(NspawnRecipe recipe, nspawn_recipe(spec.image, packages_of(spec)));
  BENCHCTL_TRY(Cgroups cgroups, Cgroups::of_this_computer());
  const std::string image = nspawn_image_path(dirs_.cache, recipe), folder = dirs_.state + "/" + tag.text();
  if (!exists(image)) return Error{ErrorKind::kProvisioning, "image " + recipe.suite + " has not been made yet"};
  // Leftovers of an attempt that was cut off: processes first, they may still be at work here.
  BENCHCTL_CHECK(cgroups.destroy(tag.text(), clock_, Deadline::in(clock_, kDestroyTime)));
  BENCHCTL_TRY(auto leftovers, list_dir(folder));
  for (const auto& name : leftovers) BENCHCTL_CHECK(remove_tree(folder + "/" + name));

  BENCHCTL_CHECK(cgroups.make(tag.text(), shape.limits));
  BENCHCTL_CHECK(failpoints_.reach("nspawn:cgroups"));

  const std::string disk = folder + "/work.img";
  UniqueFd file(open(disk.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || ftruncate(file.get(), shape.disk_bytes) != 0) return errno_error("make " + disk);
  file.reset();
  CommandSpec format;
  std::string root = std::to_string(kNspawnUidBase);
  format.argv = {"mke2fs", "-q",   "-F",
                 "-t",     "ext4", "-m",
                 "0",      "-E",   "lazy_itable_init=1,lazy_journal_init=1,root_owner=" + root + ":" + root,
                 disk};
  format.deadline = Deadline::in(clock_, kStepTime);
  BENCHCTL_CHECK(run_checked(format, clock_));
  BENCHCTL_CHECK(failpoints_.reach("nspawn:disk"));

  BENCHCTL_CHECK(make_dirs(folder + "/mnt"));
  BENCHCTL_CHECK(make_dirs(folder + "/seed"));
  BENCHCTL_CHECK(write_atomic(folder + "/seed/user-data", bootstrap.user_data));
  BENCHCTL_CHECK(write_atomic(folder + "/seed/meta-data", meta_data(tag)));
  BENCHCTL_CHECK(write_atomic(folder + "/seed/network-config", network_config(tag.nonce)));
  BENCHCTL_CHECK(failpoints_.reach("nspawn:seed"));

  CommandSpec start;
  // setsid --fork: the machine is no child of ours and holds none of our descriptors. The console is cut by a reader of
  // its own, so that a machine that prints without end fills no disk.
  start.argv = {"sh", "-euc",
                "setsid --fork sh -c 'sh -euc \"$LAUNCH\" 2>&1 </dev/null | "
                "{ cd \"$DIR\" || exit; for f in $HELPER_CGROUPS; do echo 0 >\"$f/cgroup.procs\" || late=1; done; "
                "head -c 262144 >console; [ -n \"$late\" ] || exec cat >/dev/null; }' </dev/null >/dev/null 2>&1"};
  start.env = default_environment();
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"LAUNCH", kNspawnLaunch},
           {"DIR", folder},
           {"HELPER_CGROUPS", join(cgroups.helper_folders(tag.text()), " ")},
           {"MACHINE_CGROUPS", join(cgroups.machine_folders(tag.text()), " ")},
           {"BASE", image},
           {"UIDS", root},
           {"ROOT_BYTES", std::to_string(shape.root_bytes)},
           {"GATEWAY", subnet(tag.nonce) + "1/24"},
           {"NAME", tag.name()}})
    start.env.push_back(name + "=" + value);
  start.deadline = Deadline::in(clock_, kStepTime);
  BENCHCTL_CHECK(run_checked(start, clock_));
  BENCHCTL_CHECK(failpoints_.reach("nspawn:launched"));

  // The last thing before the boot is the link to its network; without it, what went wrong stands on the console.
  struct stat link {};
  Deadline deadline = Deadline::in(clock_, kStepTime), first = Deadline::in(clock_, kEntryTime);
  while (lstat((folder + "/netns").c_str(), &link) != 0) {
    bool alive = !cgroups.pids(tag.text()).empty();
    if (deadline.passed(clock_) || (!alive && (first.passed(clock_) || exists(folder + "/console")))) {
      std::string text = console(describe(tag));
      text = text.substr(text.size() - std::min<size_t>(text.size(), 400));
      return Error{ErrorKind::kProvisioning, "could not be started: " + sanitize(trim(text), 400)};
    }
    clock_.sleep(std::chrono::milliseconds(10));
  }
  BENCHCTL_CHECK(failpoints_.reach("nspawn:started"));
  return {};
}

Result<MachineState> NspawnProvider::state(Machine& machine) {
  BENCHCTL_TRY(auto known, tags());
  auto tag = std::find_if(known.begin(), known.end(), [&](const auto& t) { return t.nonce == machine.nonce; });
  if (tag == known.end()) return MachineState::kGone;
  BENCHCTL_TRY(Cgroups cgroups, Cgroups::of_this_computer());
  if (cgroups.pids(tag->text()).empty()) return MachineState::kStopped;
  const std::string netns = dirs_.state + "/" + tag->text() + "/netns";
  if (!exists(netns)) return MachineState::kPending;  // it is a link: this asks for the process behind it
  Endpoint endpoint;
  endpoint.host = subnet(tag->nonce) + "2";
  endpoint.netns = netns;
  endpoint.work_dir = kWorkDir;
  machine.endpoint = endpoint;
  return MachineState::kRunning;
}

Status NspawnProvider::remove(const std::string& tag) {
  BENCHCTL_TRY(Cgroups cgroups, Cgroups::of_this_computer());
  Deadline deadline = Deadline::in(clock_, kDestroyTime);
  BENCHCTL_CHECK(cgroups.destroy(tag, clock_, deadline));
  // The last process is gone, and its namespaces go now; the loop device clears itself with them.
  BENCHCTL_CHECK(detach_loop_devices(dirs_.state + "/" + tag + "/work.img", clock_, deadline));
  return remove_tree(dirs_.state + "/" + tag);
}

Status NspawnProvider::destroy(const Machine& machine) {
  BENCHCTL_TRY(auto known, tags());
  for (const auto& tag : known)
    if (tag.nonce == machine.nonce)
      if (auto removed = remove(tag.text()); !removed)
        return Error{ErrorKind::kLeaked, "machine " + tag.name() + ": " + removed.error().message};
  return {};
}

Result<std::vector<Machine>> NspawnProvider::list(const std::string& owner) {
  BENCHCTL_TRY(auto known, tags());
  std::vector<Machine> machines;
  for (const auto& tag : known) {
    if (!owner.empty() && tag.owner != owner) continue;
    machines.push_back(describe(tag));
    BENCHCTL_CHECK(state(machines.back()));
  }
  return machines;
}

Result<std::optional<Price>> NspawnProvider::price(const MachineSpec&) {
  return std::optional<Price>();
}

std::string NspawnProvider::console(const Machine& machine) const {
  auto known = tags();
  if (known)
    for (const auto& tag : *known)
      if (tag.nonce == machine.nonce)
        if (auto text = read_file(dirs_.state + "/" + tag.text() + "/console", 1 << 20)) return *text;
  return "";
}

}  // namespace benchctl
