// The drain: first and last part kept, the rest counted, memory bounded, nothing lost at the seams.
#include "launch/drain.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace {

using pinfold::captured_output;
using pinfold::drain;

struct test_pipe {
  test_pipe() { REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0); }
  test_pipe(const test_pipe&) = delete;
  test_pipe& operator=(const test_pipe&) = delete;
  ~test_pipe() {
    ::close(ends[0]);
    close_writer();
  }
  void close_writer() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  std::array<int, 2> ends{};
};

/// Byte number i of an endless text in which no part looks like another one nearby.
char byte_at(std::uint64_t i) {
  return static_cast<char>('!' + (i * 7 + i / 251) % 90);
}

std::string text_between(std::uint64_t from, std::uint64_t to) {
  std::string text;
  for (auto i = from; i < to; ++i) text.push_back(byte_at(i));
  return text;
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

/// What a drain of this cap keeps of `size` bytes that come in pieces through a pipe.
captured_output drained(std::size_t cap, std::uint64_t size, std::size_t piece, std::string* live) {
  test_pipe pipe;
  ::fcntl(pipe.ends[0], F_SETFL, O_NONBLOCK);
  std::thread writer{[&] {
    for (std::uint64_t at = 0; at < size; at += piece) {
      write_all(pipe.ends[1], text_between(at, std::min<std::uint64_t>(size, at + piece)));
    }
    pipe.close_writer();
  }};
  drain kept{cap};
  while (kept.read_from(pipe.ends[0], [&](std::string_view part) {
    if (live != nullptr) *live += part;
  }) == drain::state::open) {
    std::this_thread::yield();
  }
  writer.join();
  return kept.take();
}

}  // namespace

TEST_CASE("head and tail are kept to the byte, and what lies between is counted") {
  for (const std::size_t cap : {1UL, 2UL, 3UL, 4095UL, 4096UL, 4097UL, 1UL << 20}) {
    const std::vector<std::uint64_t> sizes{0,       1,       2,           cap - 1, cap,
                                           cap + 1, 2 * cap, 2 * cap + 1, 300'000};
    for (const auto size : sizes) {
      INFO("cap " << cap << ", size " << size);
      std::string live;
      const auto kept = drained(cap, size, 5000, &live);
      const std::uint64_t head = std::min<std::uint64_t>(size, cap - cap / 2);
      const std::uint64_t tail = std::min<std::uint64_t>(size - head, cap / 2);
      CHECK(kept.bytes == size);
      CHECK(kept.dropped == size - head - tail);
      CHECK(kept.clipped() == (size > cap));
      CHECK(kept.head == head);
      CHECK((kept.text == text_between(0, head) + text_between(size - tail, size)));
      CHECK((live == text_between(0, head)));
    }
  }
}

TEST_CASE("pieces of any size give the same") {
  for (const std::size_t piece : {1UL, 7UL, 4096UL, 65'536UL, 200'000UL}) {
    INFO(piece);
    const auto kept = drained(1000, 20'000, piece, nullptr);
    CHECK((kept.text == text_between(0, 500) + text_between(19'500, 20'000)));
    CHECK(kept.dropped == 19'000);
  }
}

TEST_CASE("a flood is drained to its end in bounded memory, and its last bytes are kept") {
  constexpr std::uint64_t flood = 64ULL << 20;
  test_pipe pipe;
  ::fcntl(pipe.ends[0], F_SETFL, O_NONBLOCK);
  std::thread writer{[&] {
    const std::string block(1 << 16, 'x');
    for (std::uint64_t sent = 0; sent < flood; sent += block.size()) {
      write_all(pipe.ends[1], block);
    }
    write_all(pipe.ends[1], "the end");
    pipe.close_writer();
  }};
  drain kept{4096};
  unsigned turns = 1;
  while (kept.read_from(pipe.ends[0], {}) == drain::state::open) ++turns;
  writer.join();
  const auto output = kept.take();
  CHECK(output.bytes == flood + 7);
  CHECK(output.text.size() == 4096);
  CHECK(output.text.ends_with("xxthe end"));
  CHECK(turns > 16);  // a turn reads some MiB at most, so that nothing else waits for long
}

TEST_CASE("only a pipe that was found full is made to hold more") {
  test_pipe pipe;
  ::fcntl(pipe.ends[0], F_SETFL, O_NONBLOCK);
  const int usual = ::fcntl(pipe.ends[0], F_GETPIPE_SZ);
  drain kept{1 << 20};
  write_all(pipe.ends[1], text_between(0, 1000));
  CHECK(kept.read_from(pipe.ends[0], {}) == drain::state::open);
  CHECK(::fcntl(pipe.ends[0], F_GETPIPE_SZ) == usual);
  write_all(pipe.ends[1], text_between(1000, 1000 + 65'536));
  CHECK(kept.read_from(pipe.ends[0], {}) == drain::state::open);
  CHECK(::fcntl(pipe.ends[0], F_GETPIPE_SZ) > usual);
  CHECK(kept.bytes() == 66'536);
}

TEST_CASE("an open pipe without data is open, a closed one has ended") {
  test_pipe pipe;
  ::fcntl(pipe.ends[0], F_SETFL, O_NONBLOCK);
  drain kept{16};
  CHECK(kept.read_from(pipe.ends[0], {}) == drain::state::open);
  write_all(pipe.ends[1], "abc");
  CHECK(kept.read_from(pipe.ends[0], {}) == drain::state::open);
  pipe.close_writer();
  CHECK(kept.read_from(pipe.ends[0], {}) == drain::state::ended);
  CHECK(kept.take().text == "abc");
  CHECK(kept.read_from(-1, {}) == drain::state::ended);
}
