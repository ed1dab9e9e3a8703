// The other program in the image of stage two: it enters the sandbox's mount namespace from outside and
// attaches mounts by descriptor, before anything but the waiting stage two runs there.
#pragma once

namespace pinfold::attach {

/// Whether the image was started under this program's name.
[[nodiscard]] bool is_meant(const char* own_name);

/// Everything it does; the exit code. It reports `attached`, or the step that failed.
int attach_all();

}  // namespace pinfold::attach
