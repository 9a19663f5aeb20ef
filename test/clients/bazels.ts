/** Three versions of Bazel: the oldest on npm, Debian's stable one, and the one of Debian's unstable branch. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bringIntoSid, inSid, sidHas } from '../../bench/cache/peers/sid-root.ts'
import { executeLarge } from './bazel-executes.ts'
import { assertAllHits, type Bazel, buildTwice } from './bazel-twice.ts'
import { type Client, Skip } from './client.ts'
import { coverageTools, debianBazel } from './debian-bazel.ts'
import { runCommand } from './run-command.ts'

type Obtain = (folder: string) => Bazel | Promise<Bazel>

const caching = (name: string, obtain: Obtain): Client => ({
  name: `${name}, cache only`,
  async check(server, folder) {
    return assertAllHits(await buildTwice(await obtain(folder), server, folder))
  },
})

const executing = (name: string, obtain: Obtain): Client => ({
  name: `${name}, remote execution`,
  check: async (server, folder) => executeLarge({ bazel: await obtain(folder), server, folder, word: randomUUID() }),
})

const NPM_PACKAGE = '@bazel/bazel-linux_x64'
const NPM_VERSION = '2.1.0'

async function npmBazel(folder: string): Promise<Bazel> {
  const args = ['install', '--ignore-scripts', '--no-save', '--prefix', folder, `${NPM_PACKAGE}@${NPM_VERSION}`]
  // The environment configures the registry and the proxy.
  await runCommand({ program: 'npm', args, env: process.env }).catch((error: Error) => {
    throw new Skip(error.message)
  })
  const place = join(folder, 'node_modules', NPM_PACKAGE)
  const binary = readdirSync(place).find((name) => /^bazel-[\d.]+-linux/.test(name))
  if (binary === undefined) throw new Skip(`no program in ${NPM_PACKAGE}`)
  return {
    start: (given) => ({ program: join(place, binary), args: given }),
    workspace: { options: [coverageTools(folder), ...nativeRules(folder)] },
  }
}

/** By language: the names of its rules. */
const NATIVE = {
  cc: ['binary', 'import', 'library', 'proto_library', 'test', 'toolchain', 'toolchain_suite'],
  java: ['binary', 'import', 'library', 'package_configuration', 'plugin', 'runtime', 'test', 'toolchain'],
}

/** This Bazel has built-in rules, and would fetch repositories that only refer to them. */
function nativeRules(parent: string): string[] {
  return Object.entries(NATIVE).map(([language, kinds]) => {
    const folder = join(parent, `native_${language}`)
    mkdirSync(join(folder, language), { recursive: true })
    writeFileSync(join(folder, 'WORKSPACE'), `workspace(name = "rules_${language}")\n`)
    writeFileSync(join(folder, language, 'BUILD'), '')
    const names = kinds.map((kind) => `${language}_${kind}`)
    writeFileSync(join(folder, language, 'defs.bzl'), names.map((name) => `${name} = native.${name}\n`).join(''))
    return `common --override_repository=rules_${language}=${folder}`
  })
}

function stableBazel(folder: string): Bazel {
  const program = '/usr/bin/bazel'
  if (!existsSync(program)) throw new Skip('bazel-bootstrap is not installed')
  return debianBazel(program, folder)
}

const RULES = ['cc', 'java', 'proto', 'python', 'license'].map((name) => [`rules_${name}`, `rules/${name}`])
const TOOLS = [
  ['platforms', 'tools/platforms'],
  ['bazel_skylib', 'tools/skylib'],
  ['bazel_features', 'tools/features'],
]

function unstableBazel(folder: string): Bazel {
  if (!sidHas('bazel') || !sidHas('g++')) {
    const why = bringIntoSid(['bazel-bootstrap', 'g++'])
    if (why !== undefined) throw new Skip(why)
  }
  const overrides = [...RULES, ...TOOLS].map(
    ([name, path]) => `common --override_repository=${name}=/usr/share/bazel/${path}`,
  )
  return {
    // The workspace is the working directory of the command, which chroot does not keep.
    start: (args) => inSid(folder, ['sh', '-c', 'cd "$0" && exec bazel "$@"', join(folder, 'workspace'), ...args]),
    workspace: { options: ['common --noenable_bzlmod', ...overrides] },
  }
}

const OBTAINED: readonly (readonly [string, Obtain])[] = [
  ['Bazel 2.1.0 (npm)', npmBazel],
  ['Bazel 4.2.3 (Debian 12)', stableBazel],
  ['Bazel 7.7.1 (Debian sid)', unstableBazel],
]

export const BAZELS: readonly Client[] = OBTAINED.flatMap(([name, obtain]) => [
  caching(name, obtain),
  executing(name, obtain),
])
