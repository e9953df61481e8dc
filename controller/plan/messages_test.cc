// What a mistake is answered with, word for word.
#include <gtest/gtest.h>

#include "controller/plan/plan_fixture.h"
#include "lib/text.h"

namespace benchctl {
namespace {

struct Case {
  const char* what;
  const char* text;   // of the plan; %SUITE% and %FLEET% stand for good ones
  const char* error;  // without the file's name
};

std::string plan_text(std::string text) {
  auto put = [&](const std::string& mark, const std::string& good) {
    if (size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), good);
  };
  put("%HEAD%", "schema = 1\nname = \"x\"");
  put("%FLEET%", "[fleet.a]\nprovider = \"nspawn\"");
  put("%SUITE%", "[[suite]]\nworkload = \"request_shape\"\nmode = \"sequential\"");
  put("%CONCURRENT%", "[[suite]]\nworkload = \"request_shape\"\nmode = \"concurrent\"");
  return text;
}

const Case kCases[] = {
    {"no name", "schema = 1\n%FLEET%\n%SUITE%",
     "1:1: the plan needs name: a name for its runs, such as name = \"local\""},
    {"bad name", "schema = 1\nname = \"My Plan\"\n%FLEET%\n%SUITE%",
     "2:8: name must be a-z, 0-9 and - only, not \"My Plan\""},
    {"control characters are shown, not sent", "schema = 1\nname = \"x\\u001b[2J\"\n%FLEET%\n%SUITE%",
     "2:8: name holds a control character, or bytes that are no UTF-8"},
    {"schema of another time", "schema = 2\nname = \"x\"\n%FLEET%\n%SUITE%",
     "1:10: schema must be 1, the only one that this version reads"},
    {"unknown top key", "%HEAD%\nshedule = 1\n%FLEET%\n%SUITE%",
     "3:1: unknown key \"shedule\"; did you mean \"schedule\"?"},
    {"unknown key, nothing near", "%HEAD%\nzzzzzzzz = 1\n%FLEET%\n%SUITE%", "3:1: unknown key \"zzzzzzzz\""},
    {"no fleet", "%HEAD%\n%SUITE%", "1:1: the plan needs fleet: at least one [fleet.NAME] with a provider"},
    {"no suite", "%HEAD%\n%FLEET%", "1:1: the plan needs suite: at least one [[suite]] with a workload or a command"},
    {"one bracket", "%HEAD%\n%FLEET%\n[suite]\nworkload = \"spin\"",
     "5:1: suite must be a list of tables: write [[suite]], with two brackets"},
    {"no provider", "%HEAD%\n[fleet.a]\ncount = 1\n%SUITE%",
     "3:1: [fleet.a] needs provider: available: nspawn, local, ssh"},
    {"provider not built",
     "%HEAD%\n[fleet.a]\nprovider = \"digitalocean\"\nregion = [\"nyc3\", \"ams3\"]\nsize = \"c-2\"\n%SUITE%",
     "4:12: provider \"digitalocean\" is not available in this version; available: nspawn, local, ssh"},
    {"key of another provider", "%HEAD%\n%FLEET%\nregion = \"nyc3\"\n%SUITE%",
     "5:10: region in [fleet.a] is no key of provider \"nspawn\""},
    {"option of nspawn for local", "%HEAD%\n[fleet.a]\nprovider = \"local\"\nmemory = \"1GiB\"\n%SUITE%",
     "5:10: memory in [fleet.a] is no key of provider \"local\""},
    {"packages of this computer", "%HEAD%\n[fleet.a]\nprovider = \"local\"\npackages = [\"gcc\"]\n%SUITE%",
     "5:12: packages in [fleet.a] is no key of provider \"local\""},
    {"a package with a version", "%HEAD%\n%FLEET%\npackages = [\"gcc\", \"make=4.3\"]\n%SUITE%",
     "5:12: packages in [fleet.a] must be names of Debian packages, such as \"gcc\", not \"make=4.3\""},
    {"a package that is an option", "%HEAD%\n%FLEET%\npackages = [\"--hook\"]\n%SUITE%",
     "5:12: packages in [fleet.a] must be names of Debian packages, such as \"gcc\", not \"--hook\""},
    {"built nowhere", "%HEAD%\n%FLEET%\n[[suite]]\nworkload = \"spin\"\nbuild = \"on-mashine\"",
     "7:9: build in [[suite]] must be one of prebuilt, on-machine, not \"on-mashine\"; did you mean \"on-machine\"?"},
    {"recipes that are not for machines", "%HEAD%\n%FLEET%\n%SUITE%\nbuild = \"on-machine\"\narms = [\"c_sqlite\"]",
     "8:9: build in [[suite]] is \"on-machine\", and of workload \"request_shape\" c_sqlite cannot be built there "
     "(their "
     "recipes have no on_machine)"},
    {"an ISA that is not for machines",
     "%HEAD%\n%FLEET%\n[[suite]]\nworkload = \"spin\"\nbuild = \"on-machine\"\nisa = \"x86-64-v3\"",
     "8:7: isa in [[suite]] must be one that workload \"spin\" can be built for, x86-64-v2, x86-64-v4, not "
     "\"x86-64-v3\"; did you mean \"x86-64-v2\"?"},
    {"fleet name", "%HEAD%\n[fleet.A_b]\nprovider = \"nspawn\"\n%SUITE%",
     "3:1: [fleet.A_b] must be named with a-z, 0-9 and - only"},
    {"count", "%HEAD%\n%FLEET%\ncount = 0\n%SUITE%", "5:9: count in [fleet.a] must be from 1 to 100, not 0"},
    {"count of this computer", "%HEAD%\n[fleet.a]\nprovider = \"local\"\ncount = 2\n%SUITE%",
     "5:9: count in [fleet.a] must be 1: this computer is one machine"},
    {"this computer twice", "%HEAD%\n[fleet.a]\nprovider = \"local\"\n[fleet.b]\nprovider = \"local\"\n%SUITE%",
     "5:1: a second fleet of provider \"local\": this computer is one machine"},
    {"cpus", "%HEAD%\n%FLEET%\ncpus = \"1-0\"\n%SUITE%",
     "5:8: cpus in [fleet.a] must be a count from 1 to 4096, such as 2, or a list of CPUs, such as \"0-1\" or \"2,3\""},
    {"memory", "%HEAD%\n%FLEET%\nmemory = \"1 GB\"\n%SUITE%",
     "5:10: memory in [fleet.a] must be a size, such as \"512MiB\" or \"2GiB\""},
    {"too little memory", "%HEAD%\n%FLEET%\nmemory = \"16MiB\"\n%SUITE%",
     "5:10: memory in [fleet.a] must be from 128 MiB to 64.0 TiB"},
    {"image", "%HEAD%\n%FLEET%\nimage = \"trixe\"\n%SUITE%",
     "5:9: image in [fleet.a] must be one of trixie, bookworm, not \"trixe\"; did you mean \"trixie\"?"},
    {"architecture of another computer", "%HEAD%\n%FLEET%\narch = \"aarch64\"\n%SUITE%",
     "5:8: arch in [fleet.a] must be \"x86_64\": nspawn machines are parts of this computer"},
    {"AVX2 on Arm",
     "%HEAD%\n[fleet.a]\nprovider = \"hetzner\"\narch = \"aarch64\"\n[fleet.a.require]\ncpu_flags = "
     "[\"avx2\"]\n%SUITE%",
     "4:12: provider \"hetzner\" is not available in this version; available: nspawn, local, ssh\n"
     "7:13: cpu_flags in [fleet.a.require] asks for \"avx2\", which no aarch64 CPU has"},
    {"pattern", "%HEAD%\n%FLEET%\nrequire = { cpu_model = \"(Xeon\" }\n%SUITE%",
     "5:25: cpu_model in [fleet.a.require] is no RE2 pattern: missing ): (Xeon"},
    {"backreference", "%HEAD%\n%FLEET%\nrequire = { cpu_model = '(a)\\1' }\n%SUITE%",
     "5:25: cpu_model in [fleet.a.require] is no RE2 pattern: invalid escape sequence: \\1"},
    {"host with a user only", "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\nhosts = [{ user = \"bench\" }]\n%SUITE%",
     "5:10: hosts of [fleet.a] needs host: the address of the machine\n"
     "5:10: hosts of [fleet.a] needs key_file: the private key to log in with, such as \"~/.ssh/id_ed25519\"\n"
     "5:10: hosts of [fleet.a] needs host_key: the key that the machine must show, \"SHA256:…\" (on it: ssh-keygen -lf "
     "/etc/ssh/ssh_host_ed25519_key.pub), or \"accept-first\""},
    {"ssh without hosts", "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\n%SUITE%",
     "3:1: [fleet.a] needs hosts: the machines, such as [{ host = \"10.0.0.7\", user = \"bench\", … }]"},
    {"host that is an option",
     "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\nhosts = [{ host = \"-oProxyCommand=x\", user = \"bench\", key_file = "
     "\"~/.ssh/id\", host_key = \"SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }]\n%SUITE%",
     "5:19: host in hosts of [fleet.a] must be an address or a DNS name"},
    {"host like an address",
     "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\nhosts = [{ host = \"10.0.0.700\", user = \"bench\", key_file = "
     "\"~/.ssh/id\", host_key = \"SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }]\n%SUITE%",
     "5:19: host in hosts of [fleet.a] must be an address or a DNS name"},
    {"user with a space",
     "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\nhosts = [{ host = \"10.0.0.7\", user = \"a b\", key_file = \"~/.ssh/id\", "
     "host_key = \"SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }]\n%SUITE%",
     "5:38: user in hosts of [fleet.a] is no user name"},
    {"key beside the plan",
     "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\nhosts = [{ host = \"10.0.0.7\", user = \"bench\", key_file = \"keys/id\", "
     "host_key = \"SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }]\n%SUITE%",
     "5:58: key_file in hosts of [fleet.a] must be an absolute path or begin with ~/"},
    {"host key",
     "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\nhosts = [{ host = \"10.0.0.7\", user = \"bench\", key_file = "
     "\"~/.ssh/id\", host_key = \"SHA256:x\" }]\n%SUITE%",
     "5:82: host_key in hosts of [fleet.a] must be \"SHA256:\" with 43 characters, as ssh-keygen -l prints it, or "
     "\"accept-first\""},
    {"host port",
     "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\nhosts = [{ host = \"10.0.0.7\", user = \"bench\", key_file = "
     "\"~/.ssh/id\", host_key = \"SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", port = 0 }]\n%SUITE%",
     "5:143: port in hosts of [fleet.a] must be from 1 to 65535, not 0"},
    {"become",
     "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\nbecome = \"su\"\nhosts = [{ host = \"10.0.0.7\", user = \"bench\", "
     "key_file = \"~/.ssh/id\", host_key = \"SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }]\n%SUITE%",
     "5:10: become in [fleet.a] must be one of sudo, not \"su\""},
    {"a machine twice",
     "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\nhosts = [{ host = \"10.0.0.7\", user = \"bench\", key_file = "
     "\"~/.ssh/id\", host_key = \"SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }, { host = \"10.0.0.7\", user "
     "= \"bench\", key_file = \"~/.ssh/id\", host_key = \"SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" "
     "}]\n%SUITE%",
     "5:138: hosts in [fleet.a] name \"10.0.0.7\" twice"},
    {"count of hosts",
     "%HEAD%\n[fleet.a]\nprovider = \"ssh\"\ncount = 3\nhosts = [{ host = \"10.0.0.7\", user = \"bench\", key_file = "
     "\"~/.ssh/id\", host_key = \"SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }]\n%SUITE%",
     "5:9: count in [fleet.a] must be 1 or absent: it follows from hosts"},
    {"hardening", "%HEAD%\n[harden]\nprofile = \"../quiet\"\n%FLEET%\n%SUITE%",
     "4:11: profile in [harden] must be one of none, quiet, not \"../quiet\""},
    {"hardening a machine that is kept",
     "%HEAD%\n[harden]\nprofile = \"quiet\"\n[fleet.a]\nprovider = \"local\"\n%SUITE%",
     "4:11: profile in [harden] changes a machine that is kept ([fleet.a] is local): it needs persistent_ok = true"},
    {"time without unit", "%HEAD%\n[limits]\nttl = 3\n%FLEET%\n%SUITE%",
     "4:7: ttl in [limits] must be a time with its unit, such as \"90s\", \"20m\" or \"3h\""},
    {"ttl too short", "%HEAD%\n[limits]\nttl = \"1m\"\n%FLEET%\n%SUITE%",
     "4:7: ttl in [limits] is 1m 00s, less than 1.5 times the expected 1m 13s; set ttl = \"2m\" or more, or ask for "
     "fewer runs"},
    {"cost", "%HEAD%\n[limits]\nmax_cost = \"2 dollars\"\n%FLEET%\n%SUITE%",
     "4:12: max_cost in [limits] must be an amount and a currency, such as \"2.00 USD\""},
    {"order", "%HEAD%\n[schedule]\norder = \"latni\"\n%FLEET%\n%SUITE%",
     "4:9: order in [schedule] must be one of latin, abba, fixed, not \"latni\"; did you mean \"latin\"?"},
    {"max_runs", "%HEAD%\n[schedule]\nruns = 10\nmax_runs = 9\n%FLEET%\n%SUITE%",
     "5:12: max_runs in [schedule] must not be below runs"},
    {"seed", "%HEAD%\n[schedule]\nseed = -1\n%FLEET%\n%SUITE%",
     "4:8: seed in [schedule] must be from 0 to 9223372036854775807, not -1"},
    {"aa", "%HEAD%\n[schedule]\naa = \"yes\"\n%FLEET%\n%SUITE%",
     "4:6: aa in [schedule] must be \"auto\", true or false"},
    {"too many trials", "%HEAD%\n[schedule]\nruns = 5000\n%FLEET%\n%SUITE%",
     "4:8: the plan makes 15003 trials on one machine; the limit is 9000"},
    {"percentage", "%HEAD%\n[noise]\nmax_steal = 0.01\n%FLEET%\n%SUITE%",
     "4:13: max_steal in [noise] must be a percentage from \"0%\" to \"100%\""},
    {"percentages crossed", "%HEAD%\n[noise]\nmax_steal = \"9%\"\n%FLEET%\n%SUITE%",
     "3:1: repeat_steal in [noise] must not be below max_steal"},
    {"workload", "%HEAD%\n%FLEET%\n[[suite]]\nworkload = \"spinn\"",
     "6:12: unknown workload \"spinn\"; did you mean \"spin\"?; known: request_shape, spin"},
    {"mode missing", "%HEAD%\n%FLEET%\n[[suite]]\nworkload = \"request_shape\"",
     "5:1: [[suite]] needs mode: one of sequential, concurrent"},
    {"mode", "%HEAD%\n%FLEET%\n[[suite]]\nworkload = \"request_shape\"\nmode = \"seqential\"",
     "7:8: mode in [[suite]] must be one of sequential, concurrent, not \"seqential\"; did you mean \"sequential\"?"},
    {"arm", "%HEAD%\n%FLEET%\n%SUITE%\narms = [\"c_sqlite\",\n  \"rust_rusqlit\"]",
     "9:3: workload \"request_shape\" has no arm \"rust_rusqlit\"; did you mean \"rust_rusqlite\"?; it has c_sqlite, "
     "rust_rusqlite, rust_query_only"},
    {"arm of another mode", "%HEAD%\n%FLEET%\n%CONCURRENT%\narms = [\"rust_query_only\"]",
     "8:9: arm \"rust_query_only\" has no mode \"concurrent\"; it has sequential"},
    {"arm twice", "%HEAD%\n%FLEET%\n%SUITE%\narms = [\"c_sqlite\", \"c_sqlite\"]",
     "8:21: arms in [[suite]] names \"c_sqlite\" twice"},
    {"baseline", "%HEAD%\n%FLEET%\n%SUITE%\narms = [\"c_sqlite\"]\nbaseline = \"rust_rusqlite\"",
     "9:12: baseline in [[suite]] must be one of its arms, c_sqlite, not \"rust_rusqlite\""},
    {"parameter", "%HEAD%\n%FLEET%\n%SUITE%\nparams = { itms = 1 }",
     "8:12: unknown key \"itms\" in [suite.params]; did you mean \"items\"?"},
    {"parameter out of range", "%HEAD%\n%FLEET%\n%SUITE%\nparams = { items = 0 }",
     "8:20: items in [suite.params] must be from 1 to 100000000, not 0"},
    {"parameter of another type", "%HEAD%\n%FLEET%\n%SUITE%\nparams = { items = \"many\" }",
     "8:20: items in [suite.params] must be an integer, not a text"},
    {"no list", "%HEAD%\n%FLEET%\n%SUITE%\nparams = { items = [1, 2] }",
     "8:20: items in [suite.params] takes one value, not a list"},
    {"choice", "%HEAD%\n%FLEET%\n%SUITE%\nparams = { statement_cache = \"nine\" }",
     "8:30: statement_cache in [suite.params] must be one of fits, default, none, not \"nine\"; did you mean "
     "\"none\"?"},
    {"auto in a list", "%HEAD%\n%FLEET%\n%CONCURRENT%\nparams = { workers = [1, \"auto\"] }",
     "8:22: workers in [suite.params] must be \"auto\" alone, or a list of values"},
    {"value twice", "%HEAD%\n%FLEET%\n%CONCURRENT%\nparams = { workers = [1, 1] }",
     "8:26: workers in [suite.params] lists \"1\" twice"},
    {"duration", "%HEAD%\n%FLEET%\n%CONCURRENT%\nparams = { duration = \"11m\" }",
     "8:23: duration in [suite.params] must be from 0s to 600s, not 660s"},
    {"duration without unit", "%HEAD%\n%FLEET%\n%CONCURRENT%\nparams = { duration = 5 }",
     "8:23: duration in [suite.params] must be a time with its unit, such as \"5s\", not an integer"},
    {"format of a workload", "%HEAD%\n%FLEET%\n%SUITE%\nformat = \"generic\"",
     "8:10: format in [[suite]] belongs to a command; a workload declares its own"},
    {"command and workload",
     "%HEAD%\n%FLEET%\n[[suite]]\nworkload = \"spin\"\ncommand = [\"./x\"]\nformat = \"generic\"",
     "6:12: workload in [[suite]] and command exclude each other in one [[suite]]"},
    {"command without format", "%HEAD%\n%FLEET%\n[[suite]]\ncommand = [\"./x\"]",
     "5:1: [[suite]] needs format: what the program prints: sequential, concurrent, generic, benchctl-csv, wall"},
    {"format not built", "%HEAD%\n%FLEET%\n[[suite]]\ncommand = [\"./x\"]\nformat = \"hyperfine\"",
     "7:10: format \"hyperfine\" is not available in this version; available: sequential, concurrent, generic, "
     "benchctl-csv, wall"},
    {"builds", "%HEAD%\n%FLEET%\n[build.old]\ngit = \"main\"\nrun = \"make\"\nfiles = [\"../x\"]\n%SUITE%",
     "5:1: [build.old]: builds of your own program are not available in this version; build it yourself and name the "
     "file in "
     "command of a [[suite]]\n"
     "8:9: files in [build.old] names \"../x\", which is not below the plan's root"},
};

TEST(Messages, EveryMistakeIsAnsweredWordForWord) {
  for (const Case& one : kCases) {
    auto plan = fixture::read(plan_text(one.text));
    ASSERT_FALSE(plan.ok()) << one.what;
    std::string expected;
    for (std::string_view line : split(one.error, '\n'))
      expected += (expected.empty() ? "" : "\n") + ("p.toml:" + std::string(line));
    EXPECT_EQ(plan.error().message, expected) << one.what;
    EXPECT_EQ(plan.error().kind, ErrorKind::kUsage) << one.what;
  }
}

TEST(Messages, OfDoublesAndOfTheParser) {
  auto twice = fixture::read(
      "schema = 1\nname = \"x\"\n[fleet.a]\nprovider = \"nspawn\"\n[[suite]]\nworkload = \"spin\"\n[[suite]]\nworkload "
      "= \"spin\"\n");
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().message,
            "p.toml:7:1: a second suite of the name \"spin.once\"; give each a name of its own (name = \"…\")");
  auto broken = fixture::read("schema = \n");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().message.rfind("p.toml:1:", 0), 0u);
}

// The rules for doubts: what is allowed, and said.
TEST(Messages, Doubts) {
  const Case doubts[] = {
      {"few runs", "%HEAD%\n[schedule]\nruns = 3\n%FLEET%\n%SUITE%",
       "4:8: warning: 3 scored rounds give no verdict: that needs 6 or more"},
      {"few items", "%HEAD%\n%FLEET%\n%SUITE%\nparams = { items = 9999 }",
       "8:20: warning: items in [suite.params] is 9999, below 10000: a CPU has not reached full speed"},
      {"more CPUs than there are", "%HEAD%\n%FLEET%\ncpus = 4\n%SUITE%",
       "5:8: warning: cpus in [fleet.a] asks for 4, this computer has 2"},
      {"timeout near the trial's length", "%HEAD%\n[limits]\ntrial_timeout = \"8s\"\n%FLEET%\n%CONCURRENT%",
       "4:17: warning: trial_timeout in [limits] is 8.00 s, and the longest trial takes about 6.00 s"},
  };
  for (const Case& one : doubts) {
    auto plan = fixture::read(plan_text(one.text));
    ASSERT_TRUE(plan.ok()) << one.what << ": " << plan.error().message;
    EXPECT_EQ(join(plan->warnings, "\n"), "p.toml:" + std::string(one.error)) << one.what;
  }
}

}  // namespace
}  // namespace benchctl
