import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Terminal } from '../../app/process/terminal.ts'
import { seededRandom } from '../../check/random.ts'
import { type RunningTestServer, runningServer } from '../../testing/running-server.ts'
import { run } from '../program.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-cas-'))
export const random = seededRandom('cas', 'cli')
export const windlass = resolve(import.meta.dirname, '../../../bin/windlass')

let server: RunningTestServer
beforeAll(async () => {
  server = await runningServer(join(folder, 'data'))
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

/** The address of the server of these tests. */
export const target = (): string => server.target

export interface Seat {
  readonly isTerminal?: boolean
  /** Another server, or '' for none. */
  readonly at?: string
  /** Receives everything that goes to standard error. */
  readonly onErr?: (signals: EventEmitter) => void
}

/** Runs `windlass cas …` in this process. */
export async function cas(argv: readonly string[], seat: Seat = {}) {
  const { isTerminal = false, at = server.target, onErr = () => {} } = seat
  const out: string[] = []
  const err: string[] = []
  const signals = new EventEmitter()
  const terminal: Terminal = {
    env: {},
    home: folder,
    self: ['windlass'],
    platform: 'test',
    outIsTerminal: isTerminal,
    errIsTerminal: isTerminal,
    signals: Object.assign(signals, { exit: () => {} }),
    out: (text) => void out.push(text),
    err(text) {
      err.push(text)
      onErr(signals)
    },
  }
  const code = await run(['cas', ...argv, ...(at === '' ? [] : ['--server', at])], terminal)
  return { code, out: out.join(''), err: err.join('') }
}

let names = 0
/** A path that does not exist yet. */
export const fresh = (): string => join(folder, `f${names++}`)

export function made(bytes: Uint8Array): string {
  const path = fresh()
  writeFileSync(path, bytes)
  return path
}

export const digestOf = (bytes: Uint8Array): string =>
  `${createHash('sha256').update(bytes).digest('hex')}/${bytes.length}`

/** The digest on the last line. */
export const lastDigest = (out: string): string => out.trimEnd().split('\n').at(-1)?.split(' ')[0] ?? ''
