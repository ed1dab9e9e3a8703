"""The host's side: which switches make the host's own git safe in a checkout that an agent changed.
Each is shown with a repository that runs something without it."""
import os
import unittest

import escape
import repository_test
from escape import support

# What SECURITY.md tells people to use.
SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
        "-c", "diff.ignoreSubmodules=all", "-c", "core.pager=cat", "-c", "diff.external=",
        "--no-pager")


@support.as_each_user
class HostGit(repository_test.Repository):
    def setUp(self):
        super().setUp()
        self.trap = self.path("trap")
        self.write("trap-script", f"#!/bin/sh\ntouch {self.trap}\ncat\n", mode=0o755)
        self.own()

    def assert_trapped(self, *words, safe, then=SAFE):
        """`words` runs the trap; with the switches it does not."""
        self.host(*words, check=False)
        self.assertEqual(os.path.exists(self.trap), not safe, words)
        if os.path.exists(self.trap):
            os.unlink(self.trap)
        self.host(*then, *words, check=False)
        self.assertFalse(os.path.exists(self.trap), words)

    def test_a_nested_repository_with_a_monitor_behind_a_gitlink(self):
        self.inside("git init -q x && cd x && git -c user.name=n -c user.email=e@x commit -q "
                    "--allow-empty -m x && git config core.fsmonitor "
                    f"{self.path('trap-script')} && cd .. && git add x 2>/dev/null")
        self.assert_trapped("status", safe=False)

    def test_a_hooks_directory_made_later(self):
        self.host("config", "core.hooksPath", ".githooks")
        self.inside("mkdir .githooks; printf '#!/bin/sh\\ntouch %s\\n' "
                    f"{self.trap} > .githooks/post-checkout; chmod +x .githooks/post-checkout")
        self.assert_trapped("checkout", "-q", "-B", "other", safe=False)

    def test_an_attribute_cannot_name_a_program_by_itself(self):
        """A filter runs only when a configuration that git trusts defines it."""
        self.inside("echo '* filter=evil diff=evil' > .gitattributes; echo x > f; git add -A")
        self.assert_trapped("diff", "--cached", safe=True)

    def test_a_program_of_the_checkout_in_path(self):
        self.inside("mkdir -p .local/bin; printf '#!/bin/sh\\ntouch %s\\n' "
                    f"{self.trap} > .local/bin/git-evil; chmod +x .local/bin/git-evil")
        self.assert_trapped("evil", safe=True)

    def test_the_carve_outs_keep_the_repository_itself_from_running_anything(self):
        self.attempt(f"git config core.fsmonitor {self.path('trap-script')}; "
                     f"echo 'touch {self.trap}' > .git/hooks/post-checkout; "
                     f"git config alias.st '!touch {self.trap}'")
        for words in (("status",), ("st",), ("checkout", "-q", "-B", "other")):
            self.assert_trapped(*words, safe=True)


if __name__ == "__main__":
    unittest.main()
