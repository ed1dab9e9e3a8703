// The small types of file tools: what lies at a path, how a file is to be opened for writing. Data
// only; nothing here asks the disk.
#pragma once

#include <cstdint>
#include <string>

namespace pinfold {

/// `special` is a FIFO, a socket or a device: nothing that a tool opens.
enum class file_type : std::uint8_t { file, directory, link, special };

/// What is known of a file without opening it for reading.
struct file_facts {
  std::string canonical;
  file_type type{file_type::file};
  std::uint64_t size{0};
  unsigned permissions{0};  ///< the lower nine bits of the mode
  std::int64_t modified{0};  ///< nanoseconds since 1970
  std::uint64_t links{1};    ///< how many names the file has
};

/// One name in a directory; bytes, not text.
struct directory_entry {
  std::string name;
  file_type type{file_type::file};

  friend bool operator==(const directory_entry&, const directory_entry&) = default;
};

/// Whether the file has to be there.
enum class creation : std::uint8_t {
  if_missing,  ///< made when it is not there
  never,       ///< `NotFound` when it is not there
  exclusive,   ///< `AlreadyExists` when it is there
};

/// What becomes of a file's content when it is opened for writing.
enum class contents : std::uint8_t {
  truncate,  ///< emptied
  append,    ///< kept; every write goes to the end
  keep,      ///< kept; writing begins at the start
};

/// What to do with a file that has another name elsewhere (a hard link): a write would change both.
enum class hard_links : std::uint8_t {
  refuse,   ///< `HardLinkedFile`
  replace,  ///< the name gets a file of its own, with the same content and mode, and that is opened
};

/// How a file is opened for writing.
struct write_options {
  creation make{creation::if_missing};
  contents existing{contents::truncate};
  hard_links shared{hard_links::refuse};
  unsigned permissions{0666};  ///< of a new file, less the process's umask
};

/// Whether a rename may replace what is at the target.
enum class overwrite : std::uint8_t { allowed, refused };

}  // namespace pinfold
