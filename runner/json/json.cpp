// Records and refusals as JSON: see json.hpp.
#include "json/json.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "json/dumped.hpp"
#include "json/egress.hpp"
#include "json/utf8.hpp"
#include "json/worktree.hpp"

namespace pinfold {

namespace {

/// Null for an empty text: a refusal that has no such place.
void put_bytes_or_null(json& object, std::string_view name, std::string_view bytes) {
  if (bytes.empty()) {
    object[std::string{name}] = nullptr;
  } else {
    put_bytes(object, name, bytes);
  }
}

json number_or_null(const std::optional<int>& number) {
  return number ? json(*number) : json(nullptr);
}

json refusal_or_null(const std::optional<refusal>& refused) {
  return refused ? to_json(*refused) : json(nullptr);
}

std::int64_t whole_milliseconds(std::chrono::microseconds span) {
  return std::chrono::round<std::chrono::milliseconds>(span).count();
}

json blob_or_null(const std::optional<kept_blob>& blob) {
  if (!blob) return nullptr;
  json object;
  put_bytes_or_null(object, "path", blob->path);
  object["bytes"] = blob->bytes;
  object["whole"] = blob->is_whole;
  object["error"] = blob->error.empty() ? json(nullptr) : json(blob->error);
  return object;
}

json blobs_of(const run_record& record) {
  if (!record.out_blob && !record.err_blob) return nullptr;
  json object;
  object["stdout"] = blob_or_null(record.out_blob);
  object["stderr"] = blob_or_null(record.err_blob);
  return object;
}

json commits_or_null(const std::optional<git_commit_report>& report) {
  if (!report) return nullptr;
  json object;
  object["ended"] = name_of(report->ended);
  put_bytes(object, "branch", report->branch);
  object["before"] = report->before;
  object["after"] = report->after.empty() ? json(nullptr) : json(report->after);
  object["count"] = report->commits;
  object["rewritten"] = report->is_rewritten;
  put_bytes_or_null(object, "reason", report->reason);
  put_bytes_or_null(object, "kept", report->kept);
  return object;
}

/// What is long in a record is long by its strings, so only a string is taken apart.
class piecewise_line {
 public:
  explicit piecewise_line(const std::function<void(std::string_view)>& put) : put_{put} {}

  void add(const json& value) {
    if (value.is_object()) return add_object(value);
    if (value.is_string()) return add_string(value.get_ref<const std::string&>());
    append(dumped(value));
  }

  void end() {
    pending_ += '\n';
    put_(pending_);
    pending_.clear();
  }

 private:
  void add_object(const json& object) {
    char before = '{';
    for (const auto& [name, value] : object.items()) {
      append(before + dumped(name) + ':');
      add(value);
      before = ',';
    }
    append(object.empty() ? "{}" : "}");
  }

  /// Cut between characters: half of one at each side of a cut would be replaced twice.
  void add_string(std::string_view text) {
    append("\"");
    while (!text.empty()) {
      auto part = text.substr(0, part_of_a_string);
      if (part.size() < text.size()) part.remove_suffix(unfinished_at_end(part));
      const auto quoted = dumped(json(part));
      append(std::string_view{quoted}.substr(1, quoted.size() - 2));
      text.remove_prefix(part.size());
    }
    append("\"");
  }

  void append(std::string_view text) {
    pending_ += text;
    if (pending_.size() < line_piece) return;
    put_(pending_);
    pending_.clear();
  }

  static constexpr std::size_t part_of_a_string = std::size_t{16} << 10;
  const std::function<void(std::string_view)>& put_;
  std::string pending_;
};

constexpr std::string_view name_of(network_access network) noexcept {
  switch (network) {
    case network_access::off:
      return "off";
    case network_access::on:
      return "on";
  }
  return "off";
}

}  // namespace

std::string base64_of(std::string_view bytes) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto group = bytes.substr(at, 3);
    unsigned bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = (bits << 8) | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= group.size() ? digits[(bits >> (18 - 6 * i)) & 63U] : '=';
    }
  }
  return text;
}

void put_bytes(json& object, std::string_view name, std::string_view bytes) {
  std::string key{name};
  object[key] = with_replacements(bytes);
  if (!is_utf8(bytes)) object[key + "_base64"] = base64_of(bytes);
}

json labels_of(taint set) {
  auto list = json::array();
  for (const auto& one : taint_labels) {
    if (set.includes(one.label)) list.push_back(one.name);
  }
  return list;
}

json to_json(const refusal& refused) {
  json object;
  object["error"] = name_of(refused.error);
  object["message"] = with_replacements(refused.message());
  object["operation"] = name_of(refused.op);
  put_bytes(object, "path", refused.path);
  put_bytes_or_null(object, "resolved", refused.resolved);
  put_bytes_or_null(object, "boundary", refused.boundary);
  object["remedy"] = name_of(remedy_for(refused.error));
  return object;
}

json to_json(const captured_output& output) {
  const std::string_view kept = output.text;
  const auto cut = std::min(output.head, kept.size());
  auto shown = legible(kept.substr(0, cut), kept.substr(cut), output.dropped);
  json object;
  object["text"] = std::move(shown.text);
  object["bytes"] = output.bytes;
  object["dropped"] = shown.dropped;
  object["clipped"] = output.clipped();
  return object;
}

void put_decisions(json& object, const decided_run& decided) {
  object["mode"] = name_of(decided.present);
  object["gate"] = name_of(decided.open);
  object["taint"] = labels_of(decided.before);
  object["network_decision"] = name_of(decided.network);
  object["cache"] = name_of(decided.caches);
  put_bytes_or_null(object, "cache_directory", decided.cache_directory);
}

json to_json(const host_run_report& report) {
  json object;
  object["complete"] = report.ended == walk_end_reason::seen_all;
  object["ended"] = name_of(report.ended);
  object["entries"] = report.entries;
  object["more"] = report.more;
  object["found"] = json::array();
  for (const auto& file : report.found) {
    json one;
    put_bytes(one, "path", file.path);
    one["kind"] = name_of(file.kind);
    put_bytes_or_null(one, "detail", file.detail);
    object["found"].push_back(std::move(one));
  }
  return object;
}

json to_json(const run_record& record, record_role role) {
  json object;
  object["ended"] = name_of(record.ended);
  object["exit_code"] = number_or_null(record.exit_code);
  object["signal"] = number_or_null(record.signal);
  object["limit"] = record.limit ? json(name_of(*record.limit)) : json(nullptr);
  object["duration_ms"] = whole_milliseconds(record.duration);
  object["setup_ms"] = whole_milliseconds(record.setup);
  object["stdout"] = to_json(record.out);
  object["stderr"] = to_json(record.err);
  object["backend"] = name_of(record.backend);
  object["reason"] = record.reason.empty() ? json(nullptr) : json(with_replacements(record.reason));
  object["network"] = record.egress ? "list" : name_of(record.network);
  put_bytes(object, "workspace", record.workspace);
  object["enforced"] = json::object();
  for (const auto& one : record.enforced) {
    object["enforced"][one.name] = {{"held", name_of(one.held)}, {"reason", one.reason}};
  }
  object["killed"] = record.killed;
  object["host_run"] = record.host_run ? to_json(*record.host_run) : json(nullptr);
  object["refusal"] = refusal_or_null(record.error);
  if (role == record_role::gate) {
    object["role"] = "gate";
    return object;
  }
  put_decisions(object, record.decided);
  object["egress"] = egress_or_null(record.egress);
  object["taint_after"] = labels_of(record.decided.after);
  object["blobs"] = blobs_of(record);
  object["worktree"] = record.worktree ? worktree_json(*record.worktree) : json(nullptr);
  object["commits"] = commits_or_null(record.commits);
  return object;
}

json checked_path_json(std::string_view path, operation wanted,
                       const std::optional<std::string>& canonical,
                       const std::optional<refusal>& refused) {
  json object;
  put_bytes(object, "path", path);
  object["operation"] = name_of(wanted);
  put_bytes_or_null(object, "canonical", canonical.value_or(""));
  object["refusal"] = refusal_or_null(refused);
  return object;
}

std::string one_line(const json& object) {
  return dumped(object) + '\n';
}

void put_line(const json& object, const std::function<void(std::string_view)>& put) {
  piecewise_line line{put};
  line.add(object);
  line.end();
}

}  // namespace pinfold
