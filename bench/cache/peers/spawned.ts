/** A server in a process of its own, in whatever language; gone with this process, or when it is no longer needed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { tethered } from '../../child.ts'

export interface Spawned extends AsyncDisposable {
  readonly pid: number
  /** The first line that it printed, once there is one; fails when it ends without. */
  firstLine(): Promise<string>
  /** Lets it end by itself; resolves when it has. */
  stop(): Promise<void>
}

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  /** For what it has to say. */
  readonly folder: string
}

/** `up` is ready when its worker is, after up to 20 seconds of work on an idle machine. */
const LONGEST_START_MS = 300_000
const LONGEST_STOP_MS = 20_000

export function spawnServer({ program, args, folder }: Command): Spawned {
  const log = join(folder, 'server.log')
  const output = openSync(log, 'a')
  const child = tethered(spawn(program, args, { stdio: ['ignore', 'pipe', output] }))
  closeSync(output)
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}:\n${tail(log)}`)))
  })
  failed.catch(() => {})
  const line = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })
  const first = once(line, 'line').then(([text]) => String(text))
  first.catch(() => {})
  return {
    pid: child.pid ?? 0,
    firstLine: () => Promise.race([first, failed, late(`${program} said nothing`)]),
    stop: () => end(child, 'SIGTERM'),
    [Symbol.asyncDispose]: () => end(child, 'SIGKILL'),
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

/** One that nobody holds at this moment, for servers that cannot choose one by themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}

/** Resolves as soon as something accepts connections there. */
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
