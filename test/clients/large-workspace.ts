/**
 * A Bazel workspace of more than 200 actions, deterministic for a given word: C++ libraries in layers that depend on
 * each other, programs on top, chains of genrules, the small workspace as one of its packages, and tests that know the
 * expected output. One test fails, one fails on its first run, and one genrule, which is built only when it is
 * requested, cannot be built.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openFolder } from '../faults/open-folder.ts'
import { smallPackage, type Workspace } from './workspace.ts'

const LAYERS = 7
const ACROSS = 10
const PROGRAMS = 4
const CHAINS = 10
const TESTED_CHAINS = 6
const CHAIN_LINKS = 6

export interface LargeWorkspace extends Workspace {
  /** A word that no earlier build has used: every output that depends on it is new to the cache. */
  readonly word: string
  /** A directory outside of any room, where the flaky test records that it has failed once. */
  readonly memory: string
}

/** Targets that fail, by the reason why they exist. */
export const TROUBLE = { failing: '//tests:fails', flaky: '//tests:flaky', broken: '//broken:broken' } as const

export const SAID_BY_BROKEN = 'the rope is torn'
const SAID_BY_FAILING = 'the drum is stuck'

export function writeLargeWorkspace(workspace: LargeWorkspace): void {
  const { folder, options, memory } = workspace
  openFolder(memory)
  const files: Record<string, string> = {
    WORKSPACE: 'workspace(name = "large_client_test")\n',
    '.bazelrc': `${[...options, 'build --incompatible_strict_action_env'].join('\n')}\n`,
    ...libraries(workspace),
    ...programs(),
    ...chains(workspace),
    ...tests(workspace),
    ...within('small', smallPackage(workspace.word)),
    'broken/BUILD': genrule('broken', { cmd: `echo ${SAID_BY_BROKEN} >&2; exit 3`, manual: true }),
  }
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { mode: name.endsWith('.sh') ? 0o755 : 0o644 })
  }
}

const within = (folder: string, files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [`${folder}/${name}`, content]))

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

/** Two parts of the layer below. */
const below = (i: number): number[] => [i, (i * 3 + 1) % ACROSS]

function libraries({ word }: LargeWorkspace): Record<string, string> {
  const files: Record<string, string> = {}
  for (const layer of numbers(LAYERS)) {
    files[`layer${layer}/BUILD`] = numbers(ACROSS)
      .map((i) => {
        const deps = layer === 0 ? [] : below(i).map((j) => `"//layer${layer - 1}:part${j}"`)
        return `cc_library(name = "part${i}", srcs = ["part${i}.cc"], hdrs = ["part${i}.h"], linkstatic = True,
    deps = [${deps.join(', ')}], visibility = ["//visibility:public"])\n`
      })
      .join('\n')
    for (const i of numbers(ACROSS)) Object.assign(files, librarySources(layer, i, word))
  }
  return files
}

function librarySources(layer: number, i: number, word: string): Record<string, string> {
  const lower = layer === 0 ? [] : below(i).map((j) => ({ call: `turn_${layer - 1}_${j}()`, j }))
  const includes = lower.map(({ j }) => `#include "layer${layer - 1}/part${j}.h"\n`).join('')
  const sum = [`${i + 1}`, ...lower.map(({ call }) => call)].join(' + ')
  return {
    [`layer${layer}/part${i}.h`]: `#pragma once\nlong turn_${layer}_${i}();\n`,
    [`layer${layer}/part${i}.cc`]: `#include "layer${layer}/part${i}.h"\n${includes}
// ${word}
long turn_${layer}_${i}() { return ${sum}; }\n`,
  }
}

/** The sum that a part of a layer returns. */
const turns = (layer: number, i: number): number =>
  i + 1 + (layer === 0 ? 0 : below(i).reduce((sum, j) => sum + turns(layer - 1, j), 0))

function programs(): Record<string, string> {
  const top = LAYERS - 1
  const rule = (i: number): string =>
    `cc_binary(name = "program${i}", srcs = ["program${i}.cc"], deps = ["//layer${top}:part${i}"],
    visibility = ["//visibility:public"])\n`
  const source = (i: number): string => `#include "layer${top}/part${i}.h"
extern "C" int printf(const char*, ...);
int main() { printf("%ld\\n", turn_${top}_${i}()); }\n`
  return {
    'programs/BUILD': numbers(PROGRAMS).map(rule).join('\n'),
    ...Object.fromEntries(numbers(PROGRAMS).map((i) => [`programs/program${i}.cc`, source(i)])),
  }
}

interface Genrule {
  readonly cmd: string
  readonly srcs?: readonly string[]
  readonly manual?: boolean
}

const genrule = (name: string, { cmd, srcs = [], manual = false }: Genrule): string =>
  `genrule(name = "${name}", srcs = [${srcs.map((src) => `"${src}"`).join(', ')}], outs = ["${name}.txt"],
    cmd = "${cmd}", tags = [${manual ? '"manual"' : ''}], visibility = ["//visibility:public"])\n`

/** Each link prints the output of the previous one, and one line more. */
function chains({ word }: LargeWorkspace): Record<string, string> {
  const link = (chain: number, i: number): string => {
    const before = i === 0 ? 'word.txt' : `:link${chain}_${i - 1}`
    return genrule(`link${chain}_${i}`, { srcs: [before], cmd: `(cat $<; echo ${chain}.${i}) > $@` })
  }
  const rules = numbers(CHAINS).flatMap((chain) => numbers(CHAIN_LINKS).map((i) => link(chain, i)))
  return { 'chains/BUILD': rules.join('\n'), 'chains/word.txt': `${word}\n` }
}

function tests({ word, memory }: LargeWorkspace): Record<string, string> {
  const last = CHAIN_LINKS - 1
  const lines = numbers(CHAINS).map((chain) => `link${chain}_${last}`)
  const rules = [
    ...lines
      .slice(0, TESTED_CHAINS)
      .map((link) => test(link, 'counts', [`//chains:${link}`, { words: `${last + 2}` }])),
    ...numbers(PROGRAMS).map((i) =>
      test(`program${i}`, 'says', [`//programs:program${i}`, { words: `${turns(LAYERS - 1, i)}` }]),
    ),
    test('fails', 'fails'),
    test('flaky', 'flaky'),
  ]
  return {
    'tests/BUILD': rules.join('\n'),
    'tests/counts.sh': '#!/bin/sh\ntest "$(wc -l < "$1")" -eq "$2"\n',
    'tests/says.sh': '#!/bin/sh\ntest "$("$1")" = "$2"\n',
    'tests/fails.sh': `#!/bin/sh\n# ${word}\necho ${SAID_BY_FAILING}\nexit 1\n`,
    // Only the first run can create the directory, and that run fails.
    'tests/flaky.sh': `#!/bin/sh\n! mkdir '${memory}/${word}'\n`,
  }
}

type TestedBy = readonly [label: string, { readonly words: string }]

function test(name: string, script: string, tested?: TestedBy): string {
  const args = tested && `args = ["$(location ${tested[0]})", "${tested[1].words}"], data = ["${tested[0]}"],`
  return `sh_test(name = "${name}", srcs = ["${script}.sh"], size = "small", ${args ?? ''})\n`
}
