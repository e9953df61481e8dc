// This process's own defences, put up before anything else in main: see docs/security.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"
#include "lib/secret.h"

namespace benchctl {

// The exit code once standard output is written out: `code`, but 1 where that was good and what was printed is lost,
// for instance on a full disk; then it is said. A reader that has gone (`| head`) wanted no more: nothing is lost.
int finish_output(int code);

// The variables that providers read their credentials from.
const std::vector<std::string>& credential_variables();

// True for what we, or a program that we start, read from the environment. Nothing else survives the start.
bool keeps_variable(std::string_view name);

// No core dump, no reader of our memory but root, files of ours for us alone unless their mode is stated, three open
// standard streams, and an environment that holds only what keeps_variable() names. Gives the credentials it held.
Result<Secrets> protect_process();

// What is left of the environment, plus the credentials: for a child that is benchctl again and takes them over.
// The texts must be wiped by whoever asked for them.
std::vector<std::string> environment_with(const Secrets& secrets);

// For an interactive program (ssh): where its terminal and its files are, and nothing else of ours.
std::vector<std::string> terminal_environment();

}  // namespace benchctl
