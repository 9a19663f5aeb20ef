import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { TwoHosts } from './two-hosts.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

/** Both ports of the grid on its host's loopback; a new network namespace has no other users of them. */
export const CONTROL_PLANE = { grpc: 8980, http: 8080 } as const

export interface Answer {
  readonly status: number
  readonly json: unknown
}

export interface GridOnHost {
  ask(method: string, path: string, body?: object): Promise<Answer>
  /** Runs a windlass command on the grid's host. */
  windlass(...argv: readonly string[]): Promise<{ readonly code: number | null; readonly all: string }>
  log(): string
}

/** Runs `windlass up` on a host with these settings; ready when its worker has registered. */
export async function gridOn({ grid }: TwoHosts, settings: string): Promise<GridOnHost> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-network-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const file = join(folder, 'windlass.toml')
  writeFileSync(file, settings)
  const [program = '', ...words] = grid
  const env = { ...process.env, WINDLASS_WORKER_LANGUAGES: 'bash', WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1' }
  const argv = ['up', '--json', '--slots', '2', '--data', join(folder, 'data'), '--config', file]
  const child = spawn(program, [...words, WINDLASS, ...argv], { stdio: ['ignore', 'pipe', 'pipe'], env })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const gone = new Promise<void>((done) => void child.once('close', () => done()))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await gone
  })
  await Promise.race([
    new Promise((done) => void createInterface({ input: child.stdout }).once('line', done)),
    gone.then(() => Promise.reject(new Error(`the grid did not start: ${log}`))),
  ])
  const ask: GridOnHost['ask'] = (method, path, body) => askThrough(grid, { method, path, body })
  const asked: GridOnHost = {
    ask,
    log: () => log,
    windlass: (...given) => output([...grid, WINDLASS, ...given], env),
  }
  await offering(asked)
  return asked
}

interface Question {
  readonly method: string
  readonly path: string
  readonly body: object | undefined
}

/** Runs Node in the host's network namespace: the test itself is outside of it. */
async function askThrough(host: readonly string[], { method, path, body }: Question): Promise<Answer> {
  const script = `(${sendOne.toString()})(require('node:http').request, ${JSON.stringify({ method, path, body, port: CONTROL_PLANE.http })})`
  const { code, all } = await output([...host, process.execPath, '-e', script], process.env)
  if (code !== 0) throw new Error(`no answer from the grid: ${all}`)
  return JSON.parse(all) as Answer
}

/** Runs in the other process, as text: it may use nothing from its surroundings. */
function sendOne(send: typeof request, { method, path, body, port }: Question & { readonly port: number }): void {
  const asked = send(
    { host: '127.0.0.1', port, method, path, headers: { 'content-type': 'application/json' } },
    (got) => {
      let text = ''
      got.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      got.on('end', () => {
        let json: unknown = text
        try {
          json = JSON.parse(text)
        } catch {}
        console.log(JSON.stringify({ status: got.statusCode, json }))
      })
    },
  )
  asked.end(body === undefined ? undefined : JSON.stringify(body))
}

function output(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number | null; all: string }> {
  const [program = '', ...words] = argv
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let all = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      all += text
    })
  return new Promise((done) => void child.once('close', (code) => done({ code, all })))
}

const ROUNDS = 600
const PAUSE_MS = 100

async function offering(grid: GridOnHost): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const { json } = await grid.ask('GET', '/api/v1/languages')
    if (JSON.stringify(json).includes('"bash"')) return
    await new Promise((done) => setTimeout(done, PAUSE_MS))
  }
  throw new Error(`the worker offers nothing: ${grid.log()}`)
}
