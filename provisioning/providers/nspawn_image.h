// The base image of nspawn machines: a Debian tree made once by mmdebstrap, kept under the hash of its recipe, shifted
// to the user ids of the machines, never written again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/clock.h"
#include "lib/result.h"

namespace benchctl {

// The first host user id of every machine (root inside is this one); a range of 65,536.
inline constexpr int64_t kNspawnUidBase = 1000013824;

struct NspawnRecipe {
  std::string suite;  // trixie | bookworm
  std::vector<std::string> packages;
  std::vector<std::string> hooks;  // shell lines with the tree in "$1"

  std::string hash() const;  // of everything that decides what is in the tree
};

// "trixie", "bookworm", "debian-13", "debian-12" or empty (trixie). `more`: packages beyond those of every image.
Result<NspawnRecipe> nspawn_recipe(const std::string& image, const std::vector<std::string>& more = {});

// Where the finished tree is, or would be.
std::string nspawn_image_path(const std::string& cache_dir, const NspawnRecipe& recipe);

// Makes the image unless it is there. Minutes the first time; a second caller waits for the first. A builder that was
// killed leaves a folder that the next one removes.
Status make_nspawn_image(const std::string& cache_dir, const NspawnRecipe& recipe, Clock& clock,
                         const std::function<void(const std::string&)>& say);

}  // namespace benchctl
