// Sealed memory files: bytes handed to another process that nobody can change on the way.
#pragma once

#include <expected>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

enum class memory_file_use : bool { data, program };

/// An empty close-on-exec memfd, to be handed on before its bytes are there. Error: an errno.
[[nodiscard]] std::expected<descriptor, int> open_memory_file(const char* name,
                                                              memory_file_use use);

/// Writes the bytes and seals the file against writing, growing and shrinking, its offset at 0. The
/// first page comes last: a program that was not written to its end has no header and cannot be
/// executed. Returns 0 or an errno, and then the file is empty.
[[nodiscard]] int fill_memory_file(const descriptor& file, std::string_view bytes);

/// A close-on-exec memfd with these bytes, sealed against writing, growing and shrinking, its
/// offset at 0. Error: an errno.
[[nodiscard]] std::expected<descriptor, int> make_memory_file(const char* name,
                                                              std::string_view bytes,
                                                              memory_file_use use);

/// An empty close-on-exec memfd that another process writes into and this one reads. Unlike a pipe
/// it cannot break: whoever writes is not killed by SIGPIPE when the reader is gone. Error: an errno.
[[nodiscard]] std::expected<descriptor, int> make_mailbox(const char* name);

}  // namespace pinfold
