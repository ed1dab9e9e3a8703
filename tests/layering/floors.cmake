# The floors: a file includes files of lower floors only, and files of its own room.
# A row is PATH=FLOOR. A path that ends in '/' stands for a whole directory, which is one room; any
# other path is a room of its own. A file without a row fails the test: give it one.
set(floors
  include/pinfold/error.hpp=00
  include/pinfold/path.hpp=10
  include/pinfold/grant.hpp=20
  include/pinfold/host.hpp=20
  include/pinfold/refusal.hpp=20
  include/pinfold/settings.hpp=20
  include/pinfold/taint.hpp=20
  include/pinfold/call.hpp=30
  include/pinfold/egress.hpp=30
  include/pinfold/intake.hpp=30
  include/pinfold/network.hpp=30
  include/pinfold/rules.hpp=30
  include/pinfold/verdict.hpp=31
  include/pinfold/describe.hpp=40
  include/pinfold/guard.hpp=40
  include/pinfold/one_call.hpp=40
  include/pinfold/sandbox/confinement.hpp=50
  include/pinfold/sandbox/launch_plan.hpp=51
  include/pinfold/sandbox/bubblewrap.hpp=52
  include/pinfold/sandbox/none.hpp=52
  include/pinfold/sandbox/seatbelt.hpp=52
  include/pinfold/sandbox/backend.hpp=53
  include/pinfold/disk/location.hpp=60
  include/pinfold/disk/beneath.hpp=61
  include/pinfold/disk/portable.hpp=61
  include/pinfold/disk/resolve.hpp=62
  include/pinfold/disk/open.hpp=63
  include/pinfold/pinfold.hpp=69
  runner/launch/=70
  runner/egress/=80
  runner/mcp/=80
  runner/sandbox/=80
  runner/worktree/=80
  runner/cli/=90)
