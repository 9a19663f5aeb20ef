/** A small Bazel workspace: genrules, and a C++ program that one of them runs. */
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

/**
 * Contain a word that no earlier build has used: every output is new to the cache. They include no system headers: the
 * compiler that runs may belong to another system than the Bazel that requests it.
 */
const sources = (word: string) => ({
  'words.txt': `a rope, a drum and a crank: ${word}\n`,
  'greeting.h': '#pragma once\nconst char* greeting();\n',
  'greeting.cc': `#include "greeting.h"\nconst char* greeting() { return "heave ${word}"; }\n`,
  'hello.cc': `#include "greeting.h"\nextern "C" int puts(const char*);\nint main() { puts("${word}"); puts(greeting()); }\n`,
})

export interface Workspace {
  readonly folder: string
  /** Lines of its .bazelrc. */
  readonly options: readonly string[]
}

/** The package itself, by file name. */
export const smallPackage = (word: string): Record<string, string> => ({
  ...sources(word),
  BUILD: GENRULES + CPP,
})

export function writeWorkspace({ folder, options }: Workspace): void {
  mkdirSync(folder, { recursive: true })
  const files: Record<string, string> = {
    ...smallPackage(randomUUID()),
    WORKSPACE: 'workspace(name = "client_test")\n',
    '.bazelrc': `${[...options, 'build --incompatible_strict_action_env'].join('\n')}\n`,
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
}
