#include "controller/workloads/elf_needs.h"

#include <elf.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "controller/workloads/target.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kFileBytes = 512 << 20;
constexpr size_t kEntries = 65'536;  // of any table: a bound against files that point into themselves

template <typename T>
std::optional<T> at(std::string_view elf, uint64_t offset) {
  if (offset > elf.size() || elf.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, elf.data() + offset, sizeof value);
  return value;
}

// Tables of a program are named by address; the loaded segments say where in the file that is.
std::optional<uint64_t> offset_of(const std::vector<Elf64_Phdr>& segments, uint64_t address) {
  for (const Elf64_Phdr& one : segments)
    if (one.p_type == PT_LOAD && address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz)
      return one.p_offset + (address - one.p_vaddr);
  return std::nullopt;
}

std::string_view text_at(std::string_view elf, uint64_t offset) {
  if (offset >= elf.size()) return "";
  std::string_view rest = elf.substr(offset, 64);
  return rest.substr(0, rest.find('\0'));
}

struct Tables {
  std::optional<uint64_t> strings, needs;
};

Tables find_tables(std::string_view elf, const std::vector<Elf64_Phdr>& segments) {
  Tables tables;
  for (const Elf64_Phdr& one : segments) {
    if (one.p_type != PT_DYNAMIC) continue;
    for (size_t i = 0; i < kEntries; ++i) {
      auto entry = at<Elf64_Dyn>(elf, one.p_offset + i * sizeof(Elf64_Dyn));
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_STRTAB) tables.strings = offset_of(segments, entry->d_un.d_ptr);
      if (entry->d_tag == DT_VERNEED) tables.needs = offset_of(segments, entry->d_un.d_ptr);
    }
  }
  return tables;
}

}  // namespace

std::string glibc_needed(std::string_view elf) {
  auto header = at<Elf64_Ehdr>(elf, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB)
    return "";
  std::vector<Elf64_Phdr> segments;
  for (size_t i = 0; i < header->e_phnum; ++i)
    if (auto segment = at<Elf64_Phdr>(elf, header->e_phoff + i * sizeof(Elf64_Phdr))) segments.push_back(*segment);
  const Tables tables = find_tables(elf, segments);
  std::string newest;
  if (!tables.strings || !tables.needs) return newest;
  uint64_t need_at = *tables.needs;
  for (size_t i = 0; i < kEntries; ++i) {
    auto need = at<Elf64_Verneed>(elf, need_at);
    if (!need) break;
    uint64_t version_at = need_at + need->vn_aux;
    for (size_t k = 0; k < need->vn_cnt; ++k) {
      auto version = at<Elf64_Vernaux>(elf, version_at);
      if (!version) break;
      std::string_view name = text_at(elf, *tables.strings + version->vna_name);
      if (name.starts_with("GLIBC_2.") && !glibc_suffices(name.substr(6), newest.empty() ? "0.0" : newest))
        newest = name.substr(6);
      if (version->vna_next == 0) break;
      version_at += version->vna_next;
    }
    if (need->vn_next == 0) break;
    need_at += need->vn_next;
  }
  return newest;
}

Status check_glibc(const std::string& folder, const std::string& declared) {
  std::error_code ec;
  for (auto file = std::filesystem::recursive_directory_iterator(folder, ec);
       !ec && file != std::filesystem::recursive_directory_iterator(); file.increment(ec)) {
    if (!file->is_regular_file(ec)) continue;
    BENCHCTL_TRY(std::string bytes, read_file(file->path().string(), kFileBytes));
    std::string needed = glibc_needed(bytes);
    if (needed.empty() || glibc_suffices(needed, declared == "none" || declared.empty() ? "0.0" : declared)) continue;
    return Error{ErrorKind::kWorkload, sanitize(file->path().string().substr(folder.size() + 1), 200) +
                                           " needs glibc " + sanitize(needed, 20) +
                                           ", and min_glibc of its recipe says " + declared};
  }
  if (ec) return Error{ErrorKind::kInternal, "look through " + folder + ": " + ec.message()};
  return {};
}

}  // namespace benchctl
