/** Bazel in three dialects: the oldest that npm has, Debian's stable one, and the one of Debian's unstable branch. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bringIntoSid, inSid, sidHas } from '../../bench/cache/peers/sid-root.ts'
import { assertAllHits, type Bazel, buildTwice } from './bazel-twice.ts'
import { type Client, Skip } from './client.ts'
import { debianBazel } from './debian-bazel.ts'
import { runCommand } from './run-command.ts'

const client = (name: string, obtain: (folder: string) => Bazel | Promise<Bazel>): Client => ({
  name,
  async check(server, folder) {
    return assertAllHits(await buildTwice(await obtain(folder), server, folder))
  },
})

const NPM_PACKAGE = '@bazel/bazel-linux_x64'
const NPM_VERSION = '2.1.0'

async function npmBazel(folder: string): Promise<Bazel> {
  const args = ['install', '--ignore-scripts', '--no-save', '--prefix', folder, `${NPM_PACKAGE}@${NPM_VERSION}`]
  // Which registry to ask, and through what, is in the environment.
  await runCommand({ program: 'npm', args, env: process.env }).catch((error: Error) => {
    throw new Skip(error.message)
  })
  const place = join(folder, 'node_modules', NPM_PACKAGE)
  const binary = readdirSync(place).find((name) => /^bazel-[\d.]+-linux/.test(name))
  if (binary === undefined) throw new Skip(`no program in ${NPM_PACKAGE}`)
  return {
    start: (given) => ({ program: join(place, binary), args: given }),
    workspace: { hasCpp: false, options: [] },
  }
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
    // The workspace is the current folder of the command, which does not survive the change of roots.
    start: (args) => inSid(folder, ['sh', '-c', 'cd "$0" && exec bazel "$@"', join(folder, 'workspace'), ...args]),
    workspace: { hasCpp: true, options: ['common --noenable_bzlmod', ...overrides] },
  }
}

export const BAZELS: readonly Client[] = [
  client('Bazel 2.1.0 (npm)', npmBazel),
  client('Bazel 4.2.3 (Debian 12)', stableBazel),
  client('Bazel 7.7.1 (Debian sid)', unstableBazel),
]
