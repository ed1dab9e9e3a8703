// The reader, and a parser without a tree: see record_lines.hpp.
#include "cli/record_lines.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/json.hpp"

namespace pinfold {

line_reader::line_reader(int descriptor)
    : descriptor_{descriptor}, block_{std::make_unique<char[]>(block_size)} {}

bool line_reader::fill() {
  ssize_t size = -1;
  do {
    size = ::read(descriptor_, block_.get(), block_size);
  } while (size < 0 && errno == EINTR);
  has_failed_ = size < 0;
  at_ = 0;
  end_ = size > 0 ? static_cast<std::size_t>(size) : 0;
  return size > 0;
}

void line_reader::take(char byte, std::string& line) {
  if (is_too_long_) return;
  const bool is_quote = byte == '"' && !is_escaped_;
  is_escaped_ = is_in_string_ && byte == '\\' && !is_escaped_;
  if (is_string_cut_ && !is_quote) return;
  line += byte;
  if (is_quote) {
    is_in_string_ = !is_in_string_;
    is_string_cut_ = false;
    string_start_ = line.size();
  } else if (is_in_string_ && line.size() - string_start_ > longest_string) {
    line.resize(string_start_);
    is_string_cut_ = true;
  }
  if (line.size() > longest_line) {
    is_too_long_ = true;
    line.clear();
  }
}

line_reader::got line_reader::next(std::string& line) {
  line.clear();
  is_in_string_ = is_escaped_ = is_string_cut_ = is_too_long_ = false;
  bool has_any = false;
  while (true) {
    if (at_ == end_ && !fill()) {
      if (has_failed_) return got::error;
      if (!has_any) return got::end;
      break;
    }
    const char byte = block_[at_++];
    has_any = true;
    if (byte == '\n') break;
    take(byte, line);
  }
  return is_too_long_ ? got::too_long : got::line;
}

namespace {

constexpr std::array endings{ending::exited,  ending::signaled,  ending::timed_out,
                             ending::limited, ending::cancelled, ending::refused,
                             ending::failed};
constexpr std::array run_limits{run_limit::time,     run_limit::memory,    run_limit::processes,
                                run_limit::cpu_time, run_limit::file_size, run_limit::tmp_size};

template <class Values>
std::optional<typename Values::value_type> named(const Values& values, std::string_view name) {
  for (const auto value : values) {
    if (name_of(value) == name) return value;
  }
  return std::nullopt;
}

enum class field : std::uint8_t {
  other,
  ended,
  exit_code,
  limit,
  duration,
  workspace,
  refusal,
  out,
  err,
  refusal_error,
  out_bytes,
  err_bytes,
};

struct field_name {
  field inside;  ///< `other`: of the record itself
  std::string_view name;
  field value;
  bool is_needed;
};

constexpr std::array fields{
    field_name{field::other, "ended", field::ended, true},
    field_name{field::other, "exit_code", field::exit_code, true},
    field_name{field::other, "limit", field::limit, true},
    field_name{field::other, "duration_ms", field::duration, true},
    field_name{field::other, "workspace", field::workspace, true},
    field_name{field::other, "refusal", field::refusal, true},
    field_name{field::other, "stdout", field::out, true},
    field_name{field::other, "stderr", field::err, true},
    field_name{field::refusal, "error", field::refusal_error, false},
    field_name{field::out, "bytes", field::out_bytes, true},
    field_name{field::err, "bytes", field::err_bytes, true},
};

/// Takes what is counted out of the events of a parser; all else passes by. Every member answers
/// whether to go on. The names and arguments are those of nlohmann::json_sax.
class fact_taker : public nlohmann::json_sax<json> {
 public:
  std::expected<record_facts, std::string> finish() && {
    if (!why_.empty()) return std::unexpected{std::move(why_)};
    for (const auto& one : fields) {
      if (one.is_needed && !has(one.value)) {
        return std::unexpected{"no field \"" + std::string{one.name} + "\""};
      }
    }
    if (is_refusal_open_ && !has(field::refusal_error)) {
      return std::unexpected<std::string>{"no field \"error\""};
    }
    facts_.output_bytes = saturating_sum(out_bytes_, err_bytes_);
    return std::move(facts_);
  }

  bool null() override {
    const bool may_be_null =
        at_ == field::exit_code || at_ == field::limit || at_ == field::refusal;
    return is_uncounted() || (may_be_null ? seen(at_) : no());
  }
  bool boolean(bool /*value*/) override { return is_uncounted() || no(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override {
    return is_uncounted() || no();
  }
  bool binary(binary_t& /*value*/) override { return no(); }
  bool number_integer(number_integer_t /*value*/) override { return is_uncounted() || no(); }

  bool number_unsigned(number_unsigned_t value) override {
    if (is_uncounted()) return true;
    if (at_ == field::exit_code && value <= 255) {
      facts_.exit_code = static_cast<int>(value);
    } else if (at_ == field::duration) {
      facts_.duration_ms = value;
    } else if (at_ == field::out_bytes) {
      out_bytes_ = value;
    } else if (at_ == field::err_bytes) {
      err_bytes_ = value;
    } else {
      return no();
    }
    return seen(at_);
  }

  bool string(string_t& value) override {
    if (is_uncounted()) return true;
    if (at_ == field::workspace) {
      facts_.workspace = std::move(value);
      return seen(at_);
    }
    if (at_ == field::ended) {
      const auto known = named(endings, value);
      facts_.ended = known.value_or(ending::failed);
      return known ? seen(at_) : no();
    }
    if (at_ == field::limit) {
      facts_.limit = named(run_limits, value);
      return facts_.limit ? seen(at_) : no();
    }
    if (at_ == field::refusal_error) {
      facts_.refused = parse_code(value);
      return facts_.refused ? seen(at_) : no();
    }
    return no();
  }

  bool start_object(std::size_t /*elements*/) override {
    const bool is_lawful = depth_ == 0 || is_uncounted() || at_ == field::out ||
                           at_ == field::err || at_ == field::refusal;
    if (!is_lawful) return no();
    if (depth_ == 1) {
      inside_ = at_;
      is_refusal_open_ = is_refusal_open_ || at_ == field::refusal;
      seen(at_);
    }
    ++depth_;
    at_ = field::other;
    return true;
  }
  bool key(string_t& name) override {
    at_ = depth_ > 2 ? field::other : known(name);
    return true;
  }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t /*elements*/) override {
    if (depth_ == 0 || !is_uncounted()) return no();
    ++depth_;
    return true;
  }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    why_ = "not JSON";
    return false;
  }

 private:
  [[nodiscard]] field known(std::string_view name) const {
    const auto inside = depth_ == 1 ? field::other : inside_;
    if (depth_ == 2 && inside == field::other) return field::other;
    for (const auto& one : fields) {
      if (one.inside == inside && one.name == name) return one.value;
    }
    return field::other;
  }
  [[nodiscard]] bool is_uncounted() const { return depth_ > 0 && at_ == field::other; }
  [[nodiscard]] bool has(field one) const {
    return (seen_ & (1U << static_cast<unsigned>(one))) != 0;
  }
  bool seen(field one) {
    seen_ |= 1U << static_cast<unsigned>(one);
    return true;
  }
  bool leave() {
    --depth_;
    at_ = field::other;
    return true;
  }
  bool no() {
    why_ = depth_ == 0 ? "not an object" : "a field holds what no record holds";
    for (const auto& one : fields) {
      if (depth_ > 0 && one.value == at_) {
        why_ = "field \"" + std::string{one.name} + "\" holds what no record holds";
      }
    }
    return false;
  }

  record_facts facts_;
  std::uint64_t out_bytes_{0};
  std::uint64_t err_bytes_{0};
  std::size_t depth_{0};
  field at_{field::other};      ///< whose value comes next
  field inside_{field::other};  ///< of the object at depth 2
  unsigned seen_{0};
  bool is_refusal_open_{false};
  std::string why_;
};

}  // namespace

std::expected<record_facts, std::string> read_record(std::string_view line) {
  fact_taker taker;
  (void)json::sax_parse(line, &taker);
  return std::move(taker).finish();
}

}  // namespace pinfold
