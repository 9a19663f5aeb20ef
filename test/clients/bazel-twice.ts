/**
 * The basic promise of a cache: a second machine does not repeat the actions of the first. The second build starts from
 * an empty output base, as on another machine, and every action of the first must be a cache hit.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerAddress } from './client.ts'
import { type Command, runCommand } from './run-command.ts'
import { type Workspace, writeWorkspace } from './workspace.ts'

export interface Bazel {
  /** The command that starts the program, followed by its options. */
  start(args: readonly string[]): Pick<Command, 'program' | 'args'>
  readonly workspace: Omit<Workspace, 'folder'>
}

export interface Built {
  /** The number of actions by Bazel's own categories: `internal`, `remote cache hit`, `local`. */
  readonly first: ReadonlyMap<string, number>
  readonly second: ReadonlyMap<string, number>
}

export async function buildTwice(bazel: Bazel, server: ServerAddress, folder: string): Promise<Built> {
  const workspace = join(folder, 'workspace')
  writeWorkspace({ ...bazel.workspace, folder: workspace })
  const first = await build({ bazel, server, folder, outputBase: join(folder, 'first') })
  const second = await build({ bazel, server, folder, outputBase: join(folder, 'second') })
  return { first, second }
}

interface Build {
  readonly bazel: Bazel
  readonly server: ServerAddress
  readonly folder: string
  readonly outputBase: string
}

async function build({ bazel, server, folder, outputBase }: Build): Promise<Map<string, number>> {
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  // In batch mode Bazel leaves no server process behind, however the run ends.
  const startup = ['--batch', `--output_user_root=${join(folder, 'user-root')}`, `--output_base=${outputBase}`]
  const strategy = [
    '--spawn_strategy=local',
    '--genrule_strategy=local',
    '--color=no',
    '--curses=no',
    '--symlink_prefix=/',
  ]
  const args = [...startup, 'build', `--remote_cache=grpc://${server}`, ...strategy, '//:all']
  const output = await runCommand({ ...bazel.start(args), cwd: join(folder, 'workspace'), env: { HOME: home } })
  const [trouble] = /WARNING: .*[Rr]emote [Cc]ache.*/.exec(output) ?? []
  if (trouble !== undefined) throw new Error(`Bazel had trouble with the cache: ${trouble}\n${output}`)
  return summaryOf(output)
}

/** `INFO: 9 processes: 3 remote cache hit, 4 internal, 2 local.` */
export function summaryOf(output: string): Map<string, number> {
  const [, list] = /INFO: \d+ process(?:es)?: (.*)\./.exec(output) ?? []
  if (list === undefined) throw new Error(`Bazel did not say how it built:\n${output}`)
  return new Map(
    list.split(', ').map((part) => {
      const [, count = '0', way = part] = /^(\d+) (.*)$/.exec(part) ?? []
      return [way, Number(count)]
    }),
  )
}

const CACHED = 'remote cache hit'

/** Actions that needed a process; creating symlinks, for example, is internal. */
const ran = (summary: ReadonlyMap<string, number>): number =>
  [...summary].reduce((sum, [way, count]) => (way === 'internal' ? sum : sum + count), 0)

/** Throws unless the second build had only cache hits, one for each action of the first. */
export function assertAllHits({ first, second }: Built): string {
  const actions = ran(first)
  assert.ok(actions > (first.get(CACHED) ?? 0), `the first build had nothing new to do: ${words(first)}`)
  assert.equal(second.get(CACHED), actions, `the second build: ${words(second)}; the first: ${words(first)}`)
  assert.equal(ran(second), actions, `the second build: ${words(second)}; the first: ${words(first)}`)
  return `${actions} actions, then ${actions} remote cache hits`
}

export const words = (summary: ReadonlyMap<string, number>): string =>
  [...summary].map(([way, count]) => `${count} ${way}`).join(', ')
