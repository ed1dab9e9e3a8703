// The caller's name and address for git: read from a configuration's text, written into another.
#include <string>

#include "sandbox/caller.hpp"
#include "support/catch.hpp"

using pinfold::git_configuration_for;
using pinfold::git_identity;
using pinfold::parse_git_identity;

TEST_CASE("the user section gives name and address, however it is spelled") {
  struct row {
    const char* text;
    const char* name;
    const char* email;
    const char* reason;
  };
  const row rows[] = {
      {"[user]\n\tname = Ada\n\temail = a@b\n", "Ada", "a@b", "the usual form"},
      {"[USER]\nNAME=Ada\nEmail=a@b", "Ada", "a@b", "names fold case; no blanks; no last line end"},
      {"[ user ]\r\nname = Ada\r\n", "Ada", "", "blanks in the header, carriage returns"},
      {"[user] name = Ada\n", "Ada", "", "a key on the header's line"},
      {"[user]\nname = Ada Lovelace  # who\n", "Ada Lovelace", "", "a comment ends a value"},
      {"[user]\nname = Ada ; who\n", "Ada", "", "so does a semicolon"},
      {"[user]\nname = \"Ada # L\"\n", "Ada # L", "", "not inside quotes"},
      {"[user]\nname = \"Ada \"\n", "Ada ", "", "quoted blanks stay"},
      {"[user]\nname = Ada \\\"L\\\"\n", "Ada \"L\"", "", "escaped quotes"},
      {"[user]\nname = a\\\\b\\tc\\nd\n", "a\\b\tc\nd", "", "the other escapes"},
      {"[user]\n# name = No\n; name = No\n", "", "", "comments are no keys"},
      {"[user]\nname = One\nname = Two\n", "Two", "", "the last one counts"},
      {"[user]\nname = One\n[core]\nname = Two\n[user]\nemail = a@b\n", "One", "a@b",
       "other sections do not count, a second one of the same name does"},
      {"[user \"sub\"]\nname = No\n", "", "", "a subsection is another section"},
      {"[users]\nname = No\n[user", "", "", "a longer name; a header that never ends"},
      {"name = No\n", "", "", "a key without a section"},
      {"[user]\nname\n=\n", "", "", "a key without a value; a value without a key"},
      {"", "", "", "nothing at all"},
  };
  for (const auto& [text, name, email, reason] : rows) {
    INFO(reason);
    const auto who = parse_git_identity(text);
    CHECK(who.name == name);
    CHECK(who.email == email);
  }
}

TEST_CASE("what is written is read back, whatever it holds") {
  for (const std::string name : {"Ada", "Ada \"L\" Lovelace", "a\\b", "two\nlines", "# no comment",
                                 " blanks ", "]\n[core]\n\tfsmonitor = evil", "tab\there"}) {
    INFO(name);
    const auto text = git_configuration_for({name, "a@b"}, "/w");
    const auto who = parse_git_identity(text);
    CHECK(who.name == name);
    CHECK(who.email == "a@b");
  }
}

TEST_CASE("the written configuration holds the identity, one safe directory and nothing else") {
  CHECK(git_configuration_for({"Ada", "a@b"}, "/w x") ==
        "[user]\n\tname = \"Ada\"\n\temail = \"a@b\"\n[safe]\n\tdirectory = \"/w x\"\n");
  CHECK(git_configuration_for({"", "a@b"}, "/w") ==
        "[user]\n\temail = \"a@b\"\n[safe]\n\tdirectory = \"/w\"\n");
  CHECK(git_configuration_for({}, "/w") == "[safe]\n\tdirectory = \"/w\"\n");
}

TEST_CASE("no value can open a section of its own") {
  const auto text = git_configuration_for({"x\n[core]\n\tfsmonitor = evil", ""},
                                          "/w\n[alias]\n\tx = !evil");
  CHECK(text.find("\n[core]") == std::string::npos);
  CHECK(text.find("\n[alias]") == std::string::npos);
}
