// Sealed memory files: bytes handed to another process that nobody can change on the way.
#pragma once

#include <expected>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

enum class memory_file_use : bool { data, program };

/// A close-on-exec memfd with these bytes, sealed against writing, growing and shrinking, its
/// offset at 0. Error: an errno.
[[nodiscard]] std::expected<descriptor, int> make_memory_file(const char* name,
                                                              std::string_view bytes,
                                                              memory_file_use use);

/// An empty close-on-exec memfd that another process writes into and this one reads. Unlike a pipe
/// it cannot break: whoever writes is not killed by SIGPIPE when the reader is gone. Error: an errno.
[[nodiscard]] std::expected<descriptor, int> make_mailbox(const char* name);

}  // namespace pinfold
