import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface SpawnerProgram {
  /** The path of Node, and of the file that calls `serveSpawner`. */
  readonly node: string
  readonly entry: URL
}

/** Few threads and a small heap: it handles a few kilobytes at a time, and each fork copies its page tables. */
const NODE_FLAGS = [
  '--max-semi-space-size=1',
  '--max-old-space-size=128',
  '--v8-pool-size=0',
  '--single-threaded-gc',
  '--no-warnings',
]

const PRLIMIT = '/usr/bin/prlimit'

/** Disables core dumps for every process that a spawner starts: their size and contents are not bounded. */
const withoutCores = (): readonly string[] => (existsSync(PRLIMIT) ? [PRLIMIT, '--core=0', '--'] : [])

/** Starts the process of a spawner. Its fourth descriptor is the socket to the worker. */
export function startSpawner({ node, entry }: SpawnerProgram): ChildProcess {
  const [program, ...args] = [...withoutCores(), node, ...NODE_FLAGS, fileURLToPath(entry)]
  return spawn(program as string, args, {
    cwd: '/',
    env: {},
    detached: true, // Ctrl-C in a terminal ends the worker, which then shuts down in order
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
}
