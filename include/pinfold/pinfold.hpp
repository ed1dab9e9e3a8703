// The engine in one include: decisions and plans (policy.hpp), and the floor that asks the disk. It
// holds no code of its own.
#pragma once

#include <pinfold/disk/open.hpp>
#include <pinfold/disk/resolve.hpp>
#include <pinfold/policy.hpp>
