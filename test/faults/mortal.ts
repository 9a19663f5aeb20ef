/** A process of ours that may be killed at any moment, and is then started again in the same place, as a supervisor would. */
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
   * Resolves with its first line, when it is ready; one that ends before it is ready is started again. Undefined when
   * it was killed meanwhile.
   */
  start(): Promise<string | undefined>
  /** Without a word to it; resolves when it is gone. */
  kill(): Promise<void>
  /** Lets it end well; resolves with how it did. */
  stop(): Promise<number | null>
}

export interface MortalOptions {
  readonly name: string
  readonly args: () => readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** What all its lives have to say. */
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

/** Undefined when it ended without one. */
function firstLineOf({ stdout }: ChildProcess): Promise<string | undefined> {
  return new Promise((done) => {
    if (stdout === null) return done(undefined)
    createInterface({ input: stdout })
      .once('line', done)
      .once('close', () => done(undefined))
  })
}
