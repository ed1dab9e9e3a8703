// Words to values; the engine decides what comes of them.
#include "cli/decision_options.hpp"

#include <CLI/App.hpp>

#include "cli/options.hpp"
#include "cli/text.hpp"

namespace pinfold {
namespace {

/// The gate that both options agree on; an empty text where neither was given.
std::expected<std::string, std::string> gate_word(const decision_options& given) {
  if (given.network.empty() || given.gate == given.network) return given.gate;
  if (given.gate.empty()) return given.network;
  return std::unexpected{"--network " + given.network + " contradicts --gate " + given.gate +
                         ": give one of them"};
}

}  // namespace

void add_mode_option(CLI::App& app, std::string& to) {
  app.add_option("--mode", to,
                 "plan: nothing may be written; ask: a person is there; autonomous: nobody is "
                 "(default: autonomous)")
      ->check(CLI::IsMember({"plan", "ask", "autonomous"}));
}

void add_decision_options(CLI::App& app, decision_options& to) {
  add_mode_option(app, to.present);
  app.add_option("--gate", to.gate,
                 "The network: off; untainted, while there is no --taint; guarded, until there are "
                 "both; on (default: off)")
      ->check(CLI::IsMember({"off", "untainted", "guarded", "on"}));
  app.add_option("--network", to.network, "off or on: short for --gate off and --gate on")
      ->check(CLI::IsMember({"off", "on"}));
  app.add_option("--taint", to.taint,
                 "What the session has taken in: untrusted_content, private_data; repeatable")
      ->expected(1)
      ->take_all()
      ->check(CLI::IsMember({"untrusted_content", "private_data"}));
  auto* none = app.add_flag("--no-cache", to.has_no_cache,
                            "An empty cache, gone with the run, in place of the workspace's own");
  app.add_flag("--share-caches", to.shares_caches,
               "Your own caches, as far as they are data: a way from one workspace to the next")
      ->excludes(none);
  auto* kept =
      app.add_option("--blob-dir", to.blob_directory,
                     "Keep the whole of an output that is more than --max-output here: a folder of "
                     "yours outside the workspace, read-only for the command")
          ->type_name("DIR");
  app.add_option("--blob-max", to.blob_most, "At most this much of each (default: 64MiB)")
      ->type_name("SIZE")
      ->needs(kept);
  app.add_flag("--no-sandbox", to.no_sandbox, "Run without any boundary, and say so in the record");
}

std::expected<void, std::string> decide_into(run_request& request, const decision_options& given,
                                             const caller_environment& environment) {
  auto word = gate_word(given);
  if (!word) return std::unexpected{std::move(word.error())};
  const bool has_list = request.egress.is_any();
  if (has_list && *word == "off") {
    return std::unexpected{
        "an egress list opens a part of the network, which --gate off or --network off closes"};
  }
  const auto unsaid = given.no_sandbox || has_list ? gate::on : gate::off;
  request.open = word->empty() ? unsaid : parse_gate(*word).value_or(gate::off);
  request.present = parse_mode(given.present).value_or(mode::plan);
  for (const auto& name : given.taint) request.labels |= parse_label(name).value_or(taint::both);
  if (given.shares_caches) request.caches = cache_choice::shared;
  if (given.has_no_cache) request.caches = cache_choice::none;
  request.blob_directory = expand_home(given.blob_directory, environment);
  const auto most = parse_size(given.blob_most);
  if (!most) return std::unexpected{"--blob-max: " + most.error()};
  request.blob_most = *most;
  return {};
}

}  // namespace pinfold
