import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

export const ROOT = resolve(import.meta.dirname, '../..')
const WINDLASS = join(ROOT, 'bin/windlass')

export interface Place {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly input?: string | Uint8Array
}

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The environment of this test run, without variables that configure Windlass or its Node. */
export const plainEnv = (): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(WINDLASS_|NODE_(?!EXTRA_CA_CERTS)|npm_|VITEST)/.test(name)),
  )

/** Runs a command to its end. */
export async function ran(argv: readonly string[], { cwd, env = {}, input }: Place): Promise<Ended> {
  const [program = '', ...words] = argv
  const stdin = input === undefined ? 'ignore' : 'pipe'
  const child = spawn(program, words, { cwd, env: { ...plainEnv(), ...env }, stdio: [stdin, 'pipe', 'pipe'] })
  child.stdin?.on('error', () => {}).end(input)
  const seen = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    seen.out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    seen.err += text
  })
  const code = await new Promise<number | null>((done) => {
    child.once('close', done)
    child.once('error', () => done(null))
  })
  return { code, ...seen }
}

export const windlass = (argv: readonly string[], place: Place): Promise<Ended> => ran([WINDLASS, ...argv], place)

export interface Service {
  /** The line of JSON that it printed when it was ready. */
  readonly ready: Readonly<Record<string, string>>
  err(): string
  stop(): Promise<number | null>
}

/** Starts a command that runs until it is stopped, on free ports; throws with its log when it does not become ready. */
export async function serving(argv: readonly string[], { cwd, env = {} }: Place): Promise<Service> {
  const child = spawn(WINDLASS, [...argv, '--json'], {
    cwd,
    env: { ...plainEnv(), WINDLASS_WORKER_LANGUAGES: ',', WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const gone = new Promise<number | null>((done) => child.once('close', done))
  const line = await Promise.race([
    new Promise<string>((done) => createInterface({ input: child.stdout }).once('line', done)),
    gone.then(() => undefined),
  ])
  if (line === undefined) throw new Error(`windlass ${argv.join(' ')} did not get ready: ${err}`)
  return {
    ready: JSON.parse(line) as Record<string, string>,
    err: () => err,
    stop() {
      child.kill('SIGTERM')
      return gone
    },
  }
}

export const FREE_PORTS = ['--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0']

/** A folder that other users can reach; `remove` deletes it. */
export function openFolder(name: string): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), `windlass-${name}-`))
  chmodSync(path, 0o755)
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) }
}
