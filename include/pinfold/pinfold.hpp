// The engine in one header: decisions, plans and, last, the floor that asks the disk. It holds no
// code of its own.
#pragma once

#include <pinfold/describe.hpp>
#include <pinfold/disk/open.hpp>
#include <pinfold/disk/resolve.hpp>
#include <pinfold/egress.hpp>
#include <pinfold/error.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/guard.hpp>
#include <pinfold/intake.hpp>
#include <pinfold/network.hpp>
#include <pinfold/one_call.hpp>
#include <pinfold/path.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/backend.hpp>
#include <pinfold/taint.hpp>
