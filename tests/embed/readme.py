"""Writes each C++ block of the README into a file of the name that its first line gives.
    readme.py README DIRECTORY NAME..."""
import re
import sys

readme, directory, *expected = sys.argv[1:]
with open(readme, encoding="utf-8") as file:
    blocks = re.findall(r"(?ms)^```cpp\n(.*?)^```$", file.read())
found = []
for block in blocks:
    name = re.match(r"// (\w+\.cpp)\n", block)
    if not name:
        sys.exit(f"a C++ block of the README does not begin with the name of its file:\n{block}")
    found.append(name[1])
    with open(f"{directory}/{name[1]}", "w", encoding="utf-8") as file:
        file.write(block)
if sorted(found) != sorted(expected):
    sys.exit(f"the README has {found}; the test knows {expected}")
