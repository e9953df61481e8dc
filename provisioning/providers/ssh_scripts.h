// The shell text that the ssh provider runs on a machine. What varies comes in as arguments.
// They work in dash, bash and busybox, as root or as a plain user, and print `key=value` lines.
#pragma once

#include <string>

namespace benchctl {

// $1 the machine's name, $2 the lock's seconds to live, $3 lines for the lock that say who we are, $4 KiB that must be
// free, $5 our own boot id, $6 our kernel's version, $7 the second it was started in. Takes the machine's lock and
// makes the private folder; the same name gets the same folder again. Ends with 75 and the lock's lines when another
// holds it, 76 when there can be no lock, 78 when no folder can run programs.
std::string ssh_take_script();

// $1 the machine's name. Ends what runs from its folder, removes the folder, and the lock when it is this machine's.
// Nothing there is success. 77 when something cannot be removed or ended.
std::string ssh_give_back_script();

// $1 the machine's name. Prints state=there or state=gone, and work= when the lock is its own.
std::string ssh_look_script();

}  // namespace benchctl
