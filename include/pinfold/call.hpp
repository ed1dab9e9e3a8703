// What an agent is about to do, as a value: an operation and the texts that came with it.
// A call holds a model's words, so nothing that grants anything can be made from one.
#pragma once

#include <cstdint>
#include <string_view>

#include <pinfold/refusal.hpp>

namespace pinfold {

/// Text that came with a call. It turns into a plain view only by name, so that it cannot slip into
/// the constructor of a grant, a carve-out or a root.
class call_text {
 public:
  constexpr call_text() noexcept = default;
  constexpr explicit call_text(std::string_view text) noexcept : text_{text} {}
  [[nodiscard]] constexpr std::string_view as_the_call_says() const noexcept { return text_; }
  [[nodiscard]] constexpr bool is_empty() const noexcept { return text_.empty(); }
  friend constexpr bool operator==(call_text, call_text) noexcept = default;

 private:
  std::string_view text_;
};

/// One call. Paths are canonical: resolved by floor 6 before they get here. Holds views: the texts
/// must outlive it. It promises nothing about its texts; the guard checks their form.
class call {
 public:
  [[nodiscard]] static constexpr call read(std::string_view canonical) noexcept {
    return {operation::read, canonical};
  }
  [[nodiscard]] static constexpr call write(std::string_view canonical) noexcept {
    return {operation::write, canonical};
  }
  [[nodiscard]] static constexpr call make_directory(std::string_view canonical) noexcept {
    return {operation::make_directory, canonical};
  }
  [[nodiscard]] static constexpr call list(std::string_view canonical) noexcept {
    return {operation::list, canonical};
  }
  [[nodiscard]] static constexpr call remove(std::string_view canonical) noexcept {
    return {operation::remove, canonical};
  }
  [[nodiscard]] static constexpr call rename(std::string_view from, std::string_view to) noexcept {
    return {operation::rename, from, to};
  }
  /// `command` is for the words of an answer and is never parsed; `directory` is where it starts,
  /// the workspace when empty.
  [[nodiscard]] static constexpr call execute(std::string_view command,
                                              std::string_view directory = {}) noexcept {
    return {operation::execute, command, directory};
  }
  /// A port over 65535 is kept as it is, to be refused.
  [[nodiscard]] static constexpr call connect(std::string_view host, std::uint32_t port) noexcept {
    return {operation::connect, host, {}, port};
  }

  [[nodiscard]] constexpr operation op() const noexcept { return op_; }
  /// The path, the command or the host.
  [[nodiscard]] constexpr call_text subject() const noexcept { return subject_; }
  /// Where a rename goes or a command starts; empty for everything else.
  [[nodiscard]] constexpr call_text place() const noexcept { return place_; }
  [[nodiscard]] constexpr std::uint32_t port() const noexcept { return port_; }

  friend constexpr bool operator==(const call&, const call&) noexcept = default;

 private:
  constexpr call(operation op, std::string_view subject, std::string_view place = {},
                 std::uint32_t port = 0) noexcept
      : op_{op}, port_{port}, subject_{subject}, place_{place} {}

  operation op_;
  std::uint32_t port_;
  call_text subject_;
  call_text place_;
};

}  // namespace pinfold
