// The one place that includes Boost.Asio: it compiles slowly, and no other header of the project may
// need it.
#pragma once

// Boost 1.74 knows the coroutines of g++ only.
#if defined(__clang__)
#define BOOST_ASIO_HAS_CO_AWAIT 1
#define BOOST_ASIO_HAS_STD_COROUTINE 1
#endif

#include <utility>  // boost/asio/awaitable.hpp of 1.74 needs it and does not say so

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace pinfold::egress_net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

template <class T = void>
using task = asio::awaitable<T>;

/// What an operation is given so that it ends in `to` and never in an exception.
[[nodiscard]] inline auto into(error_code& to) {
  return asio::redirect_error(asio::use_awaitable, to);
}

}  // namespace pinfold::egress_net
