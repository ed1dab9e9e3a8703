// Everything of the engine that needs no disk, in one include: floors 0 to 5. All of it is
// constexpr.
#pragma once

#include <pinfold/caches.hpp>
#include <pinfold/call.hpp>
#include <pinfold/describe.hpp>
#include <pinfold/egress.hpp>
#include <pinfold/error.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/guard.hpp>
#include <pinfold/host.hpp>
#include <pinfold/intake.hpp>
#include <pinfold/network.hpp>
#include <pinfold/one_call.hpp>
#include <pinfold/path.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/rules.hpp>
#include <pinfold/sandbox/backend.hpp>
#include <pinfold/sandbox/bubblewrap.hpp>
#include <pinfold/sandbox/confine.hpp>
#include <pinfold/sandbox/confinement.hpp>
#include <pinfold/sandbox/launch_plan.hpp>
#include <pinfold/sandbox/none.hpp>
#include <pinfold/sandbox/seatbelt.hpp>
#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>
#include <pinfold/verdict.hpp>
