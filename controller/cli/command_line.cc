#include "controller/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "lib/text.h"

namespace benchctl {
namespace {

class CliOptions final : public Options {
 public:
  explicit CliOptions(CLI::App& app) : app_(app) {}
  void flag(const std::string& name, bool& variable, const std::string& help) override {
    app_.add_flag(name, variable, help);
  }
  void text(const std::string& name, std::string& variable, const std::string& help) override {
    app_.add_option(name, variable, help)->type_name("TEXT");
  }
  void integer(const std::string& name, int64_t& variable, int64_t min, int64_t max, const std::string& help) override {
    // CLI11 reads "010" as 8: numbers are read by our own strict parser.
    app_.add_option_function<std::string>(
            name,
            [=, &variable](const std::string& word) {
              auto value = parse_int(word);
              if (!value || *value < min || *value > max)
                throw CLI::ValidationError(name, "must be a whole number from " + std::to_string(min) + " to " +
                                                     std::to_string(max) + ", not \"" + word + "\"");
              variable = *value;
            },
            help)
        ->type_name("N");
  }
  void texts(const std::string& name, std::vector<std::string>& variable, const std::string& help) override {
    // One value an occurrence: a list option must not swallow the positional words behind it.
    app_.add_option(name, variable, help)->type_name("TEXT")->expected(1)->take_all();
  }
  void positional(const std::string& name, std::string& variable, bool required, const std::string& help) override {
    app_.add_option(name, variable, help)->required(required)->type_name("");
  }
  void positionals(const std::string& name, std::vector<std::string>& variable, bool required,
                   const std::string& help) override {
    app_.add_option(name, variable, help)->required(required)->type_name("");
  }

 private:
  CLI::App& app_;
};

int complain(const std::string& message) {
  std::cerr << "benchctl: " << message << "\n";
  return exit_code(ErrorKind::kUsage);
}

// CLI11 answers an unknown verb with "A subcommand is required": look at the words ourselves first.
std::string unknown_verb(const std::vector<Group>& groups, const std::vector<Verb>& verbs, int argc,
                         const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::string first = argv[1];
  std::vector<std::string> names, subverbs;
  bool is_group = false;
  for (const Group& group : groups) {
    names.push_back(group.name);
    is_group = is_group || group.name == first;
  }
  for (const Verb& verb : verbs) {
    if (verb.name.find(' ') == std::string::npos) names.push_back(verb.name);
    if (verb.name.starts_with(first + " ")) subverbs.push_back(verb.name.substr(first.size() + 1));
  }
  const std::vector<std::string>& known = is_group ? subverbs : names;
  if (is_group && (argc < 3 || argv[2][0] == '-'))
    return argc >= 3 && (std::string_view(argv[2]) == "--help" || std::string_view(argv[2]) == "-h")
               ? ""
               : "\"" + first + "\" needs one of: " + join(subverbs, ", ");
  std::string word = is_group ? argv[2] : first;
  if (std::find(known.begin(), known.end(), word) != known.end()) return "";
  auto nearest = did_you_mean(word, known);
  return "unknown verb \"" + sanitize((is_group ? first + " " : "") + word, 60) + "\"" +
         (nearest ? "; did you mean \"" + (is_group ? first + " " : "") + *nearest + "\"?" : "; see benchctl --help");
}

}  // namespace

int run_command_line(const std::vector<Group>& groups, const std::vector<Verb>& verbs, int argc,
                     const char* const* argv) {
  if (std::string problem = unknown_verb(groups, verbs, argc, argv); !problem.empty()) return complain(problem);

  CLI::App app("benchctl runs benchmarks on disposable Linux machines and says what the numbers mean", "benchctl");
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", std::string("benchctl " BENCHCTL_VERSION));
  app.require_subcommand(0, 1);
  app.footer(
      "benchctl VERB --help explains a verb with an example.\n"
      "Exit codes: 0 good, 1 internal, 2 usage or invalid plan, 3 regression or failed claim, 4 provisioning,\n"
      "5 machine rejected, 6 workload failed or checks disagree, 7 interrupted, 8 machine leaked.");
  std::vector<CLI::App*> parents;
  for (const Group& group : groups) {
    parents.push_back(app.add_subcommand(group.name, group.help));
    parents.back()->require_subcommand(1);
  }
  int exit = 0;
  for (const Verb& verb : verbs) {
    size_t space = verb.name.find(' ');
    CLI::App* parent = &app;
    if (space != std::string::npos) parent = app.get_subcommand(verb.name.substr(0, space));
    CLI::App* command = parent->add_subcommand(verb.name.substr(space == std::string::npos ? 0 : space + 1), verb.help);
    command->footer("Example: " + verb.example);
    CliOptions options(*command);
    verb.declare(options);
    command->callback([&exit, &verb] {
      auto code = verb.run();
      if (code) {
        exit = *code;
        return;
      }
      exit = exit_code(code.error().kind);
      for (std::string_view line : split(code.error().message, '\n'))
        std::cerr << "benchctl: " << sanitize(line, 4000) << "\n";
    });
  }
  if (argc < 2) {
    std::cout << app.help();
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* named = &app;
    std::string before;  // CLI11 writes it in front of the name in "Usage:"
    while (!named->get_subcommands().empty()) {
      before += (before.empty() ? "" : " ") + named->get_name();
      named = named->get_subcommands().front();
    }
    std::cout << named->help(before);
    return 0;
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what() << "\n";
    return 0;
  } catch (const CLI::ParseError& error) {
    return complain(sanitize(error.what(), 400));
  }
  return exit;
}

}  // namespace benchctl
