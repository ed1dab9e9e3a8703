// The program's own pages, asked for at once. A start touches nearly every part of it, and the kernel
// maps them fault by fault: in a virtual machine each can take ten microseconds, and eighty of them
// longer than all of our own work. Only advice: a kernel before 5.14 does not know it, and nothing
// depends on it.
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace pinfold {
namespace {

constexpr std::uintptr_t page = 4096;

void ask_for(std::uintptr_t from, std::uintptr_t to, int how) {
  from = from / page * page;
  if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, how);
}

/// What is read-only after relocation (PT_GNU_RELRO) lies at the start of the writable part.
int map_object(dl_phdr_info* object, std::size_t, void*) {
  const std::span parts{object->dlpi_phdr, object->dlpi_phnum};
  std::uintptr_t writable_from = 0;
  for (const auto& part : parts) {
    if (part.p_type == PT_GNU_RELRO) writable_from = part.p_vaddr + part.p_memsz + page - 1;
  }
  for (const auto& part : parts) {
    if (part.p_type != PT_LOAD) continue;
    const bool is_written = (part.p_flags & PF_W) != 0;
    const auto from =
        is_written ? std::max<std::uintptr_t>(part.p_vaddr, writable_from) : part.p_vaddr;
    ask_for(object->dlpi_addr + from, object->dlpi_addr + part.p_vaddr + part.p_memsz,
            is_written ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
  }
  return 1;  // the first object is the program itself; no others
}

/// Before the constructors of the C++ library and of our own files, which touch half of it.
[[gnu::constructor(101)]] void map_program() {
  ::dl_iterate_phdr(&map_object, nullptr);
}

}  // namespace
}  // namespace pinfold
