// The proof that there is no way out: with the network off, lo is the one device and no route leads
// anywhere.
#include <errno.h>
#include <string.h>

#include "stage.hpp"

namespace pinfold::stage {
namespace {

/// The text after the first `count` lines, or nullptr when there are fewer.
const char* after_lines(const char* text, int count) {
  for (; count > 0; --count) {
    text = ::strchr(text, '\n');
    if (text == nullptr) return nullptr;
    ++text;
  }
  return text;
}

}  // namespace

/// /proc/net/dev has two lines of headings and one line for each device; /proc/net/route has one of
/// headings and one for each route of the main table (proc(5)).
void prove_no_way_out() {
  char text[4096];
  if (read_file("/proc/self/net/dev", text, sizeof text) <= 0) fail(step::no_network_device, errno);
  const char* device = after_lines(text, 2);
  if (device == nullptr) fail(step::no_network_device, EPROTO);
  for (; *device != '\0'; device = after_lines(device, 1)) {
    const char* name = device + ::strspn(device, " ");
    if (::strncmp(name, "lo:", 3) != 0) fail(step::no_network_device);
    if (::strchr(device, '\n') == nullptr) break;
  }
  const auto size = read_file("/proc/self/net/route", text, sizeof text);
  if (size < 0) fail(step::no_route, errno);
  if (size == 0) return;  // there is no table yet
  const char* route = after_lines(text, 1);
  if (route == nullptr || *route != '\0') fail(step::no_route);
}

}  // namespace pinfold::stage
