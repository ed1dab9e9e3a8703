// What is set here was found in git-config(1), git(1) and gitattributes(5): each entry is a way by
// which git starts a program, waits for a person, or goes on with work in the background.
#include "git/run_git.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <pinfold/disk/descriptor.hpp>

#include "host/program.hpp"
#include "launch/memory_file.hpp"
#include "launch/process.hpp"
#include "launch/run.hpp"

namespace pinfold {
namespace {

constexpr std::array<std::string_view, 17> settings{
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false",
    "core.editor=false", "core.askPass=false", "core.sshCommand=false", "core.gitProxy=",
    "core.alternateRefsCommand=false", "credential.helper=", "diff.external=",
    "protocol.allow=never", "submodule.recurse=false", "log.showSignature=false", "gc.auto=0",
    "maintenance.auto=false", "core.filesRefLockTimeout=30000", "core.packedRefsTimeout=30000"};

// GIT_ALLOW_PROTOCOL counts before every protocol.* of a configuration. /dev/null is no directory, so
// a HOME of that name holds no attributes and no list of ignored files either.
constexpr std::array<std::string_view, 18> variables{
    "PATH=/usr/bin:/bin", "HOME=/dev/null", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
    "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_ATTR_NOSYSTEM=1",
    "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "GIT_EDITOR=false", "GIT_SSH_COMMAND=false",
    "GIT_PAGER=cat", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_COMMITTER_NAME=pinfold", "GIT_COMMITTER_EMAIL=pinfold@localhost", "GIT_LITERAL_PATHSPECS=1"};

/// Whether the call has a value of its own for the variable of this NAME=VALUE.
bool is_set(const git_call& call, std::string_view variable) {
  const auto name = variable.substr(0, variable.find('=') + 1);
  return std::ranges::any_of(call.environment,
                             [name](const auto& one) { return one.starts_with(name); });
}

launch_plan plan_of(const std::string& program, const git_call& call) {
  launch_plan plan;
  plan.network = network_access::on;
  plan.directory = call.directory;
  plan.command = {program, "--no-pager"};
  for (auto setting : settings) plan.command.insert(plan.command.end(), {"-c", std::string{setting}});
  if (!call.git_dir.empty()) plan.command.push_back("--git-dir=" + call.git_dir);
  if (!call.work_tree.empty()) plan.command.push_back("--work-tree=" + call.work_tree);
  plan.command.insert(plan.command.end(), call.words.begin(), call.words.end());
  for (const auto variable : variables) {
    if (!is_set(call, variable)) plan.environment.emplace_back(variable);
  }
  if (call.access == git_access::reads) plan.environment.emplace_back("GIT_OPTIONAL_LOCKS=0");
  plan.environment.insert(plan.environment.end(), call.environment.begin(), call.environment.end());
  return plan;
}

refusal failed(std::string place, std::string why) {
  return {.error = code::git_failed,
          .op = operation::execute,
          .path = std::move(place),
          .resolved = {},
          .boundary = {},
          .detail = std::move(why)};
}

std::string subcommand_of(const git_call& call) {
  return "git " + (call.words.empty() ? std::string{} : call.words.front());
}

std::string why_it_did_not_end(const git_call& call, const run_record& record) {
  if (record.error) return record.error->message();
  if (record.ended == ending::timed_out) {
    return subcommand_of(call) + " took longer than " +
           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(call.time).count()) + " s";
  }
  return subcommand_of(call) + ": " + std::string{name_of(record.ended)} +
         (record.signal ? " by signal " + std::to_string(*record.signal) : "");
}

/// What a person reads first: git's own "fatal:" line where there is one.
std::string_view first_complaint(std::string_view text) {
  for (const std::string_view word : {"fatal: ", "error: "}) {
    const auto at = text.find(word);
    if (at == text.npos) continue;
    text.remove_prefix(at + word.size());
    break;
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string_view git_answer::line() const noexcept {
  std::string_view text{out.text};
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::expected<std::string, refusal> usable_git(std::span<const std::string_view> places) {
  for (const auto place : places) {
    const auto facts = look_at_program(std::string{place});
    if (facts.kind == program_kind::missing) continue;
    const auto why = why_distrusted(facts);
    if (why.empty()) return facts.file.path;
    return std::unexpected{failed(std::string{place}, "this git is not started: " + why)};
  }
  return std::unexpected{failed(places.empty() ? "git" : std::string{places.front()},
                                "there is no git (Debian and Ubuntu: sudo apt-get install git)")};
}

std::expected<git_answer, refusal> run_git(const std::string& program, const git_call& call) {
  sinks events;
  events.input_descriptor = call.input;
  if (call.on_output) {
    events.on_piece = [&call](stream which, std::string_view piece) {
      if (which == stream::out) call.on_output(piece);
    };
  }
  const limits bounds{.time = call.time, .output = call.output};
  events.cancel_descriptor = call.cancelled[0];
  launch_extras extras;
  extras.cancelled = call.cancelled[1];
  auto record = run(plan_of(program, call), bounds, events, extras);
  if (record.ended != ending::exited || !record.exit_code) {
    return std::unexpected{failed(call.git_dir.empty() ? call.directory : call.git_dir,
                                  why_it_did_not_end(call, record))};
  }
  return git_answer{*record.exit_code, std::move(record.out), std::move(record.err.text)};
}

namespace {

std::string text_in(const descriptor& mailbox, std::size_t most) {
  std::string text(most, '\0');
  const auto got = ::pread(mailbox.get(), text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

/// Where the embedding program takes no part in how its children end, that is unknown; git then says so
/// itself, on stderr.
int exit_code_of(const process& child, std::string_view said) {
  constexpr int as_git_fails = 128;
  siginfo_t about{};
  while (::waitid(P_PIDFD, static_cast<id_t>(child.ended.get()), &about, WEXITED) < 0) {
    if (errno != EINTR) return said.empty() ? 0 : as_git_fails;
  }
  return about.si_code == CLD_EXITED ? about.si_status : as_git_fails;
}

bool ends_in_time(const process& child, std::chrono::milliseconds most) {
  const auto last = std::chrono::steady_clock::now() + most;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        last - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd ended{child.ended.get(), POLLIN, 0};
    if (::poll(&ended, 1, static_cast<int>(left.count())) > 0) return true;
  }
}

}  // namespace

std::expected<git_answer, refusal> run_git_to_its_end(const std::string& program,
                                                      const git_call& call, int held) {
  const auto lost = [&call](int error) {
    return std::unexpected{failed(call.git_dir, subcommand_of(call) + ": " + std::strerror(error))};
  };
  const descriptor nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const auto out = make_mailbox("pinfold-git-out");
  const auto err = make_mailbox("pinfold-git-err");
  if (!nothing) return lost(errno);
  if (!out) return lost(out.error());
  if (!err) return lost(err.error());
  auto plan = plan_of(program, call);
  const process_image image{program, std::move(plan.command), std::move(plan.environment)};
  std::vector<passed_descriptor> passed{{nothing.get(), 0}, {out->get(), 1}, {err->get(), 2}};
  if (held >= 0) passed.push_back({held, 3});
  const auto child = spawn(image, passed);
  if (!child) return lost(child.error());
  const bool has_ended = ends_in_time(*child, call.time);
  if (!has_ended) kill_now(child->ended);
  git_answer answer;
  answer.err = text_in(*err, call.output);
  answer.exit_code = exit_code_of(*child, answer.err);
  if (!has_ended) return lost(ETIMEDOUT);
  answer.err = text_in(*err, call.output);
  answer.out.text = text_in(*out, call.output);
  return answer;
}

refusal git_refusal(std::string place, std::string_view wanted, const git_answer& answer) {
  auto why = std::string{wanted} + ": ";
  const auto said = first_complaint(answer.err);
  why += said.empty() ? "git exited with " + std::to_string(answer.exit_code) : std::string{said};
  return failed(std::move(place), std::move(why));
}

std::expected<git_answer, refusal> run_git_or_refuse(const std::string& program,
                                                     const git_call& call, std::string place,
                                                     std::string_view wanted) {
  auto answer = run_git(program, call);
  if (!answer || answer->has_succeeded()) return answer;
  return std::unexpected{git_refusal(std::move(place), wanted, *answer)};
}

}  // namespace pinfold
