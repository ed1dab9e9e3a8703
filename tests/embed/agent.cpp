// A small agent: a script in the place of a model. Each call is asked of the guard before it is
// made; a refusal goes back to the model as text; what a call took in taints the session; commands
// run in the sandbox. It prints one line a call and exits with 0 only when all went as scripted.
//   agent WORKSPACE
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/pinfold.hpp>
#include <pinfold/runner/runner.hpp>

using namespace pinfold;

namespace {

/// What a tool call came to: text for the model, and the code of the refusal ("ok" without one).
struct outcome {
  std::string code;
  std::string text;
};

outcome fine(std::string text = {}) { return {"ok", std::move(text)}; }
outcome refused(const refusal& why) { return {std::string{name_of(why.error)}, why.message()}; }

std::string all_of(const descriptor& file) {
  std::string bytes;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = ::read(file.get(), buffer.data(), buffer.size())) > 0;) {
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

class agent {
 public:
  agent(workspace folder, runner commands)
      : folder_{std::move(folder)}, commands_{std::move(commands)} {}

  outcome read(std::string_view path) {
    const auto place = folder_.resolve_read(path);
    if (!place) return refused(place.error());
    if (const auto v = ask(call::read(place->canonical)); v != verdict::allow) return no(v, path);
    auto file = folder_.open_read(path);
    if (!file) return refused(file.error());
    session_ |= taint_of_read(folder_.grant(), place->canonical, checkout::trusted);
    return fine(all_of(*file));
  }

  outcome write(std::string_view path, std::string_view bytes) {
    const auto place = folder_.resolve_write(path);
    if (!place) return refused(place.error());
    if (const auto v = ask(call::write(place->canonical)); v != verdict::allow) return no(v, path);
    auto done = folder_.replace_file(path, bytes);
    return done ? fine() : refused(done.error());
  }

  outcome list(std::string_view path) {
    const auto place = folder_.resolve(operation::list, path);
    if (!place) return refused(place.error());
    if (const auto v = ask(call::list(place->canonical)); v != verdict::allow) return no(v, path);
    auto names = folder_.list_directory(path);
    if (!names) return refused(names.error());
    std::string text;
    for (const auto& entry : *names) text += entry.name + "\n";
    return fine(std::move(text));
  }

  outcome remove(std::string_view path) {
    const auto place = folder_.resolve(operation::remove, path);
    if (!place) return refused(place.error());
    if (const auto v = ask(call::remove(place->canonical)); v != verdict::allow) return no(v, path);
    auto done = folder_.remove(path);
    return done ? fine() : refused(done.error());
  }

  /// A fetch, of which this agent only asks whether it may; what it would have got taints.
  outcome fetch(std::string_view host, std::uint32_t port) {
    if (const auto v = ask(call::connect(host, port)); v != verdict::allow) return no(v, host);
    session_ |= taint_of_fetch();
    return fine();
  }

  outcome shell(std::string text) {
    if (const auto v = ask(call::execute(text)); v != verdict::allow) return no(v, text);
    run_request request;
    request.workspace = folder_.path();
    request.command = {"bash", "-c", std::move(text)};
    request.caches = cache_choice::none;  // a test leaves nothing in the home
    request.open = gate::untainted;
    request.labels = session_;
    limits bounds;
    bounds.time = std::chrono::seconds{20};
    const auto record = commands_.run(request, bounds);
    session_ |= record.decided.after;
    if (record.error) return refused(*record.error);
    return {record.exit_code == 0 ? "ok" : std::string{name_of(record.ended)},
            record.out.text + record.err.text};
  }

 private:
  [[nodiscard]] guard now() const {
    return {folder_.grant(), mode::autonomous, gate::untainted, session_, enforcement::enforced};
  }
  [[nodiscard]] verdict ask(const call& next) const { return now().check(next); }
  static outcome no(const verdict& v, std::string_view as_asked) {
    return refused(v.to_refusal(as_asked));
  }

  workspace folder_;
  runner commands_;
  session_taint session_;
};

/// One line of the script: what the model wants, and what it must be told.
struct line {
  std::string_view wish;
  std::function<outcome(agent&)> act;
  std::string_view answer;
  std::string_view text{};  ///< must be part of what the model gets
};

const std::vector<line> script{
    {"list .", [](agent& a) { return a.list("."); }, "ok", "README"},
    {"read README", [](agent& a) { return a.read("README"); }, "ok", "a small project"},
    {"read ../secret", [](agent& a) { return a.read("../secret"); }, "OutsideWorkspace"},
    {"read /etc/passwd", [](agent& a) { return a.read("/etc/passwd"); }, "OutsideWorkspace"},
    {"read link", [](agent& a) { return a.read("link"); }, "OutsideWorkspace", "link"},
    {"read absent", [](agent& a) { return a.read("absent"); }, "NotFound"},
    {"read fifo", [](agent& a) { return a.read("fifo"); }, "SpecialFile"},
    {"read /proc/self/root", [](agent& a) { return a.read("/proc/self/root/etc/passwd"); },
     "MagicLink"},
    {"read .efferent/state", [](agent& a) { return a.read(".efferent/state"); }, "HarnessState"},
    {"write new.c", [](agent& a) { return a.write("new.c", "int main(){return 7;}\n"); }, "ok"},
    {"write .git/config", [](agent& a) { return a.write(".git/config", "x"); }, "HostRunFile"},
    {"write ../x", [](agent& a) { return a.write("../x", "x"); }, "OutsideWorkspace"},
    {"fetch example.com", [](agent& a) { return a.fetch("example.com", 443); }, "ok"},
    {"cat new.c", [](agent& a) { return a.shell("cat new.c"); }, "ok", "return 7"},
    {"echo > /etc/x", [](agent& a) { return a.shell("echo x >/etc/x"); }, "exited",
     "Read-only file system"},
    {"remove new.c", [](agent& a) { return a.remove("new.c"); }, "ok"},
    {"remove .git", [](agent& a) { return a.remove(".git"); }, "HostRunFile"},
    {"fetch again", [](agent& a) { return a.fetch("example.com", 443); }, "NetworkDenied"},
    {"the network from a command",
     [](agent& a) { return a.shell("grep -c : /proc/net/dev"); }, "ok", "1"},
    {"pwd", [](agent& a) { return a.shell("pwd && touch made && ls made"); }, "ok", "made"},
};

std::vector<std::string> environment_of_this_process() {
  std::vector<std::string> entries;
  for (char** entry = ::environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto folder = workspace::open(argv[1]);
  if (!folder) return std::fprintf(stderr, "%s\n", folder.error().message().c_str()), 2;
  auto commands = runner::for_caller(environment_of_this_process());
  if (!commands) return std::fprintf(stderr, "%s\n", commands.error().message().c_str()), 2;

  agent it{std::move(*folder), std::move(*commands)};
  std::size_t good = 0;
  for (const auto& [wish, act, answer, text] : script) {
    const auto said = act(it);
    const bool is_good = said.code == answer && said.text.contains(text);
    std::printf("%s %-28s %s\n", is_good ? "  " : "! ", std::string{wish}.c_str(),
                said.code.c_str());
    if (!is_good) std::printf("   %s\n", said.text.c_str());
    good += is_good ? 1 : 0;
  }
  std::printf("%zu of %zu calls as scripted\n", good, script.size());
  return good == script.size() ? 0 : 1;
}
