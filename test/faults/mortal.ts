/** A process of ours that may be killed at any moment and is restarted in the same place, as by a supervisor. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { tethered } from '../../bench/child.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')
const LONGEST_START_MS = 300_000
const PAUSE_MS = 200

export interface Mortal {
  readonly name: string
  /**
   * Resolves with its first line when it is ready; a process that exits before is started again. Undefined when it was
   * killed meanwhile.
   */
  start(): Promise<string | undefined>
  /** Sends SIGKILL; resolves when it has exited. */
  kill(): Promise<void>
  /** Stops it gracefully; resolves with its exit code. */
  stop(): Promise<number | null>
}

export interface MortalOptions {
  readonly name: string
  readonly args: () => readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The file that receives the log of all its processes. */
  readonly log: string
}

export function mortal({ name, args, env, log }: MortalOptions): Mortal {
  let child: ChildProcess | undefined
  let lives = 0
  const begin = (): ChildProcess => {
    const output = openSync(log, 'a')
    const begun = tethered(
      spawn(WINDLASS, args(), { stdio: ['ignore', 'pipe', output], env: { ...process.env, ...env } }),
    )
    closeSync(output)
    return begun
  }
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    lives++
    const ending = child
    if (ending !== undefined && ending.exitCode === null && ending.signalCode === null) {
      const gone = once(ending, 'exit')
      ending.kill(signal)
      await gone
    }
    return ending?.exitCode ?? null
  }
  return {
    name,
    async start() {
      const life = ++lives
      const latest = performance.now() + LONGEST_START_MS
      while (life === lives) {
        child = begin()
        const line = await firstLineOf(child)
        if (line !== undefined) return line
        if (performance.now() > latest) throw new Error(`${name} does not start: see ${log}`)
        await sleep(PAUSE_MS)
      }
      return undefined
    },
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  }
}

/** Undefined when the process exited without printing a line. */
function firstLineOf({ stdout }: ChildProcess): Promise<string | undefined> {
  return new Promise((done) => {
    if (stdout === null) return done(undefined)
    createInterface({ input: stdout })
      .once('line', done)
      .once('close', () => done(undefined))
  })
}
