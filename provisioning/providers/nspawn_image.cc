#include "provisioning/providers/nspawn_image.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"
#include "provisioning/command.h"
#include "provisioning/packages.h"

namespace benchctl {
namespace {

constexpr std::chrono::minutes kBuildTime{20};

Error in_image(const Error& error, const std::string& what) {
  return Error{ErrorKind::kProvisioning, "machine image: " + what + ": " + error.message};
}

// mmdebstrap runs apt without this computer's configuration; a proxy that is set only there is passed on for the build.
std::string apt_proxy_option(Clock& clock) {
  CommandSpec spec;
  spec.argv = {"apt-config", "dump", "--format", "%f \"%v\";%n", "Acquire::http::Proxy", "Acquire::https::Proxy"};
  spec.deadline = Deadline::in(clock, std::chrono::seconds(10));
  auto text = run_checked(spec, clock);
  return text ? std::string(trim(*text)) : "";
}

// Folders of builders that died, which hold no lock any more.
Status remove_stale(const std::string& images, const std::string& hash) {
  BENCHCTL_TRY(auto names, list_dir(images));
  for (const auto& name : names)
    if (name.rfind(hash + ".tmp-", 0) == 0) BENCHCTL_CHECK(remove_tree(images + "/" + name));
  return {};
}

// Adds the uid base to every owner, once for files with several names. systemd-nspawn could do it, but would start a
// container in our own cgroup for that.
Status shift_owners(const std::string& tree) {
  namespace fs = std::filesystem;
  auto shift = [](const std::string& path) -> Status {
    struct stat st {};
    if (lstat(path.c_str(), &st) != 0) return errno_error("stat " + path);
    if (st.st_uid >= kNspawnUidBase) return {};
    auto base = static_cast<uid_t>(kNspawnUidBase);
    if (lchown(path.c_str(), base + st.st_uid, base + st.st_gid) != 0) return errno_error("chown " + path);
    // chown drops the set-user-id bits.
    if (!S_ISLNK(st.st_mode) && (st.st_mode & 06000) != 0 && chmod(path.c_str(), st.st_mode & 07777) != 0)
      return errno_error("chmod " + path);
    return {};
  };
  BENCHCTL_CHECK(shift(tree));
  std::error_code ec;
  for (fs::recursive_directory_iterator entry(tree, ec), end; !ec && entry != end; entry.increment(ec))
    BENCHCTL_CHECK(shift(entry->path().string()));
  if (ec) return Error{ErrorKind::kInternal, "walk " + tree + ": " + ec.message()};
  return {};
}

}  // namespace

Result<NspawnRecipe> nspawn_recipe(const std::string& image, const std::vector<std::string>& more) {
  NspawnRecipe recipe;
  if (image.empty() || image == "trixie" || image == "debian-13") {
    recipe.suite = "trixie";
  } else if (image == "bookworm" || image == "debian-12") {
    recipe.suite = "bookworm";
  } else {
    auto guess = did_you_mean(image, {"trixie", "bookworm", "debian-13", "debian-12"});
    return Error{ErrorKind::kUsage, "image \"" + sanitize(image, 60) + "\": nspawn knows trixie and bookworm" +
                                        (guess ? "; did you mean " + *guess + "?" : "")};
  }
  // What a cloud image carries, its timers and background services too, so that hardening has real work.
  recipe.packages = {
      "systemd", "systemd-sysv", "dbus",       "openssh-server",    "cloud-init",      "unattended-upgrades",
      "man-db",  "e2fsprogs",    "cron",       "logrotate",         "apt-listchanges", "iproute2",
      "procps",  "sudo",         "udev",       "ifupdown",          "netplan.io",      "systemd-resolved",
      "python3", "nftables",     "util-linux", "systemd-timesyncd", "ca-certificates"};
  for (const std::string& package : more) {
    if (!valid_package(package))
      return Error{ErrorKind::kUsage, "\"" + sanitize(package, 80) + "\" is no name of a Debian package"};
    if (std::find(recipe.packages.begin(), recipe.packages.end(), package) == recipe.packages.end())
      recipe.packages.push_back(package);
  }
  recipe.hooks = {
      // No two machines may share an identity.
      "rm -f \"$1\"/etc/ssh/ssh_host_*_key*",
      ": >\"$1\"/etc/machine-id",
      "rm -f \"$1\"/var/lib/dbus/machine-id \"$1\"/etc/resolv.conf \"$1\"/etc/hostname",
      "rm -f \"$1\"/etc/apt/apt.conf.d/99mmdebstrap",
      "install -d \"$1\"/var/lib/benchctl",
      // The seed folder is the only source; asking the network for others would cost the boot a minute.
      "printf 'datasource_list: [NoCloud]\\n' >\"$1\"/etc/cloud/cloud.cfg.d/90_datasource.cfg",
  };
  return recipe;
}

std::string NspawnRecipe::hash() const {
  return sha256_hex("nspawn image 1\n" + suite + "\n" + std::to_string(kNspawnUidBase) + "\n" + join(packages, ",") +
                    "\n" + join(hooks, "\n"));
}

std::string nspawn_image_path(const std::string& cache_dir, const NspawnRecipe& recipe) {
  return cache_dir + "/images/" + recipe.hash();
}

Status make_nspawn_image(const std::string& cache_dir, const NspawnRecipe& recipe, Clock& clock,
                         const std::function<void(const std::string&)>& say) {
  const std::string images = cache_dir + "/images", final_path = nspawn_image_path(cache_dir, recipe);
  if (exists(final_path)) return {};
  BENCHCTL_CHECK(make_dirs(images, 0755));
  Deadline deadline = Deadline::in(clock, kBuildTime);
  std::string lock_path = images + "/" + recipe.hash() + ".lock",
              holder = "the builder of the " + recipe.suite + " image";
  auto lock = FileLock::take(lock_path, holder);
  if (!lock) say("waiting for another benchctl that makes the " + recipe.suite + " machine image");
  while (!lock && !deadline.passed(clock)) {
    clock.sleep(std::chrono::milliseconds(500));
    lock = FileLock::take(lock_path, holder);
  }
  if (!lock) return in_image(lock.error(), "waiting for its other builder");
  if (exists(final_path)) return {};
  BENCHCTL_CHECK(remove_stale(images, recipe.hash()));

  say("making the Debian " + recipe.suite + " machine image with mmdebstrap: one to six minutes, once");
  std::string tree = final_path + ".tmp-" + random_hex(4);
  CommandSpec build;
  // In a process namespace of its own, so that a builder whose controller is killed goes with it, whole.
  build.argv = {"unshare",    "--mount",           "--pid",
                "--fork",     "--kill-child=KILL", "--mount-proc",
                "mmdebstrap", "--variant=minbase", "--include=" + join(recipe.packages, ",")};
  if (std::string proxy = apt_proxy_option(clock); !proxy.empty()) build.argv.push_back("--aptopt=" + proxy);
  for (const auto& hook : recipe.hooks) build.argv.push_back("--customize-hook=" + hook);
  build.argv.insert(build.argv.end(), {recipe.suite, tree});
  build.deadline = deadline;
  std::string rest;
  build.on_output = [&](std::string_view bytes) {
    // mmdebstrap's own lines ("I: installing remaining packages...") are the progress; carriage returns are its bars.
    rest += bytes;
    for (size_t end; (end = rest.find_first_of("\r\n")) != std::string::npos; rest.erase(0, end + 1))
      if (rest.rfind("I: ", 0) == 0) say("image " + recipe.suite + ": " + sanitize(rest.substr(3, end - 3), 200));
    if (rest.size() > 4096) rest.clear();
  };
  auto abandon = [&](const Error& error, const std::string& what) {
    (void)remove_tree(tree);
    return in_image(error, what);
  };
  if (auto built = run_checked(build, clock); !built) return abandon(built.error(), "mmdebstrap " + recipe.suite);

  say("image " + recipe.suite + ": shifting the tree to the machines' user ids");
  if (auto shifted = shift_owners(tree); !shifted) return abandon(shifted.error(), "shift");
  // The tree must be on disk whole before its name says so.
  CommandSpec sync;
  sync.argv = {"sync", "--file-system", tree};
  sync.deadline = Deadline::in(clock, std::chrono::minutes(5));
  if (auto synced = run_checked(sync, clock); !synced) return abandon(synced.error(), "sync");
  if (rename(tree.c_str(), final_path.c_str()) != 0) return abandon(errno_error("rename " + tree), "finish");
  BENCHCTL_CHECK(sync_dir(images));
  say("image " + recipe.suite + ": ready");
  return {};
}

}  // namespace benchctl
