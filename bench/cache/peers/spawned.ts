/** A server process in any language. It is killed when this process ends or disposes of it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { tethered } from '../../child.ts'
import { cpuGroup } from '../../cpu-group.ts'
import { type Usage, usageOf } from '../process-usage.ts'

export interface Spawned extends AsyncDisposable {
  readonly pid: number
  /** The usage of the server and all its descendants. */
  usage(): Usage
  /** Resolves with the first line that the server printed; rejects when it exits without one. */
  firstLine(): Promise<string>
  /** Resolves when the port accepts connections; rejects when the server exits before that. */
  listening(port: number): Promise<void>
  /** Asks the server to exit, and resolves when it has exited. */
  stop(): Promise<void>
}

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  /** The folder of its log. */
  readonly folder: string
  /**
   * Further arguments for a server that creates control groups: below this group, so that its processes are counted.
   */
  groupArgs?(name: string): readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** `up` is ready when its worker is ready, after up to 20 seconds of work on an idle machine. */
const LONGEST_START_MS = 300_000
const LONGEST_STOP_MS = 20_000

export function spawnServer({ program, args, folder, env, groupArgs }: Command): Spawned {
  const log = join(folder, 'server.log')
  const output = openSync(log, 'a')
  const group = cpuGroup()
  const more = group?.name === undefined ? [] : (groupArgs?.(group.name) ?? [])
  const argv = [program, ...args, ...more]
  const [first = program, ...rest] = group?.inside(argv) ?? argv
  const child = tethered(spawn(first, rest, { stdio: ['ignore', 'pipe', output], env: { ...process.env, ...env } }))
  closeSync(output)
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}:\n${tail(log)}`)))
  })
  failed.catch(() => {})
  const line = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })
  const firstLine = once(line, 'line').then(([text]) => String(text))
  firstLine.catch(() => {})
  const pid = child.pid ?? 0
  return {
    pid,
    usage: () => ({ ...usageOf(pid), ...(group && { cpuUs: group.cpuUs() }) }),
    firstLine: () => Promise.race([firstLine, failed, late(`${program} said nothing`)]),
    listening: (port) => Promise.race([listening(port), failed]),
    stop: () => end(child, 'SIGTERM'),
    async [Symbol.asyncDispose]() {
      await end(child, 'SIGKILL')
      group?.remove()
    },
  }
}

async function late(why: string): Promise<never> {
  await sleep(LONGEST_START_MS, undefined, { ref: false })
  throw new Error(`${why} within ${LONGEST_START_MS / 1000} s`)
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_STOP_MS)
  child.kill(signal)
  await gone
  clearTimeout(timer)
}

const tail = (log: string): string => readFileSync(log, 'utf8').split('\n').slice(-20).join('\n')

/** Returns a port that is free now, for servers that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}

/** Resolves when the port accepts connections. */
export async function listening(port: number): Promise<void> {
  for (const end = Date.now() + LONGEST_START_MS; Date.now() < end; await sleep(50)) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
  }
  throw new Error(`nothing listens on port ${port}`)
}
