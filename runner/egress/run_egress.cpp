#include "egress/run_egress.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "egress/decide.hpp"

namespace pinfold {

std::uint16_t proxy_port_of(const egress_request& request) noexcept {
  std::uint16_t port = 27080;
  while (std::ranges::find(request.loopback, port) != request.loopback.end()) ++port;
  return port;
}

std::vector<std::uint16_t> run_egress::ports() const {
  std::vector<std::uint16_t> all{proxy_port_of(request_)};
  all.insert(all.end(), request_.loopback.begin(), request_.loopback.end());
  return all;
}

std::optional<refusal> run_egress::serve(std::vector<descriptor> listeners) {
  std::vector<egress_listener> served;
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    const auto loopback = i == 0 ? std::uint16_t{0} : request_.loopback[i - 1];
    served.push_back({std::move(listeners[i]), loopback});
  }
  auto made = egress_proxy::start({.list = egress_list_of(request_),
                                   .names = request_.names,
                                   .limits = request_.limits,
                                   .lookup = &ask_the_machine},
                                  std::move(served),
                                  [this](const egress_attempt& one) { ledger_.add(one); });
  if (!made) {
    auto why = refused_connection(code::resource_exhausted, "", 0,
                                  std::string{"the proxy: "} + std::strerror(made.error()));
    why.path = "the proxy";
    return why;
  }
  proxy_.emplace(std::move(*made));
  return std::nullopt;
}

egress_report run_egress::finish(const sinks& events) {
  proxy_.reset();
  tell(events);
  return ledger_.take();
}

}  // namespace pinfold
