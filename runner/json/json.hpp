// What the program answers as JSON. The names are part of the interface. Whatever bytes a path or
// an output holds, the JSON is valid and the counts of bytes stay true; writing it never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <pinfold/runner/record.hpp>
#include <pinfold/taint.hpp>

namespace pinfold {

/// Fields stay in the order in which they are put in.
using json = nlohmann::ordered_json;

/// Puts `name: bytes`. Where the bytes are not UTF-8 the field holds replacement characters and a
/// twin `name_base64` holds the bytes themselves (RFC 4648, with padding).
void put_bytes(json& object, std::string_view name, std::string_view bytes);

/// `error`, `message`, `operation`, `path`, `resolved`, `boundary`, `remedy`. `resolved` and
/// `boundary` are null when the refusal has none. Path fields may have twins, see `put_bytes`.
[[nodiscard]] json to_json(const refusal& refused);

/// The labels of a set, by name.
[[nodiscard]] json labels_of(taint set);

/// Who asked for the run: `gate` adds the field `role: "gate"`.
enum class record_role : std::uint8_t { run, gate };

/// `mode`, `gate`, `taint` (a list of labels), `network_decision` ("deny", "ask" or "allow"; `ask`
/// counts as no), `cache` ("own", "shared" or "none"), `cache_directory` (of the workspace's own,
/// or null).
void put_decisions(json& object, const decided_run& decided);

/// `ended`, `exit_code` and `signal` (a number or null), `limit` (a name or null), `duration_ms` and
/// `setup_ms` (whole numbers, rounded), `stdout` and `stderr`, `backend`, `reason` (null when the
/// backend is the one asked for), `network` ("off", "list" or "on"), `workspace`, `enforced` (an object: for
/// each property `held` and `reason`; empty when no boundary came up), `killed`, `host_run` (null, or
/// `complete`, `ended`, `entries`, `more` and `found` with `path`, `kind` and `detail` each),
/// `refusal` (null or an object); then, for a gate, `role`; for a run, what `put_decisions` says,
/// `egress` (see egress.hpp), `taint_after` (the labels with what this run took in; as before it when it never started) and
/// `blobs` (null, or an object with `stdout` and `stderr`, each null or `path`, `bytes`, `whole`,
/// `error`).
[[nodiscard]] json to_json(const run_record& record, record_role role = record_role::run);

/// One stream: `text`, `bytes`, `dropped`, `clipped`. Head and tail of a clipped text are parted by
/// one marker line; `dropped` also counts the bytes of characters that the cut would split.
[[nodiscard]] json to_json(const captured_output& output);

/// One answer of `check`: `path`, `operation`, `canonical` (null when refused), `refusal` (null
/// when not).
[[nodiscard]] json checked_path_json(std::string_view path, operation wanted,
                                     const std::optional<std::string>& canonical,
                                     const std::optional<refusal>& refused);

/// The object as one line that ends in a newline. Strings that are not UTF-8 get replacement
/// characters here at the latest.
[[nodiscard]] std::string one_line(const json& object);

/// The same line in pieces of at least `line_piece` bytes (the last one: fewer) and at most four times
/// as many: with its escapes a record's line can be six times as long as the outputs in it.
void put_line(const json& object, const std::function<void(std::string_view)>& put);
inline constexpr std::size_t line_piece = std::size_t{64} << 10;

[[nodiscard]] std::string base64_of(std::string_view bytes);

}  // namespace pinfold
