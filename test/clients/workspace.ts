/** A small Bazel workspace: genrules that every version can build alone, and C++ where its rules are at hand. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const GENRULES = `
genrule(
    name = "upper",
    srcs = ["words.txt"],
    outs = ["upper.txt"],
    cmd = "tr a-z A-Z < $< > $@",
)

genrule(
    name = "many",
    srcs = [":upper"],
    outs = ["one.txt", "two.txt", "empty.txt", "large.bin"],
    cmd = """
        cp $< $(location one.txt)
        echo two > $(location two.txt)
        : > $(location empty.txt)
        for i in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero | tr '\\\\\\\\0' $$i; done > $(location large.bin)
    """,
)
`

const CPP = `
cc_library(
    name = "greeting",
    srcs = ["greeting.cc"],
    hdrs = ["greeting.h"],
)

cc_binary(
    name = "hello",
    srcs = ["hello.cc"],
    deps = [":greeting"],
)

genrule(
    name = "said",
    outs = ["said.txt"],
    cmd = "$(location :hello) > $@",
    tools = [":hello"],
)
`

/** With a word in them that no earlier build has seen: whatever is made of them is new to the cache. */
const sources = (word: string) => ({
  'words.txt': `a rope, a drum and a crank: ${word}\n`,
  'greeting.h': '#pragma once\nconst char* greeting();\n',
  'greeting.cc': `#include "greeting.h"\nconst char* greeting() { return "heave ${word}"; }\n`,
  'hello.cc': `#include <cstdio>\n#include "greeting.h"\nint main() { std::puts("${word}"); std::puts(greeting()); }\n`,
})

export interface Workspace {
  readonly folder: string
  readonly hasCpp: boolean
  /** Lines of its .bazelrc. */
  readonly options: readonly string[]
}

export function writeWorkspace({ folder, hasCpp, options }: Workspace): void {
  mkdirSync(folder, { recursive: true })
  const files: Record<string, string> = {
    ...sources(randomUUID()),
    WORKSPACE: 'workspace(name = "client_test")\n',
    BUILD: hasCpp ? GENRULES + CPP : GENRULES,
    '.bazelrc': `${[...options, 'build --incompatible_strict_action_env'].join('\n')}\n`,
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
}
