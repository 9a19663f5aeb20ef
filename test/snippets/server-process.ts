import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { snippetsClient } from '../../src/client/snippets/snippets.ts'
import type { CodeServer } from './code-grid.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

/** A server in a separate process, which can be killed and restarted on the same data. */
export interface ServerProcess extends CodeServer {
  /** Sends SIGKILL; resolves when it has exited. */
  kill(): Promise<void>
  /** Restarts it with the same data and addresses. */
  again(): Promise<ServerProcess>
}

interface Addresses {
  readonly grpc: string
  readonly http: string
}

const ANYWHERE: Addresses = { grpc: '127.0.0.1:0', http: '127.0.0.1:0' }

export async function serverProcess(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  addresses: Addresses = ANYWHERE,
): Promise<ServerProcess> {
  const flags = ['server', '--json', '--grpc', addresses.grpc, '--http', addresses.http, '--data', dataDir]
  const child = spawn(WINDLASS, flags, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { grpc, http } = JSON.parse(await firstLine(child)) as Addresses
  const gone = new Promise<void>((done) => child.once('close', () => done()))
  return {
    grpc,
    http,
    httpUrl: `http://${http}`,
    client: snippetsClient({ url: `http://${http}`, clock: systemClock }),
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
    again: () => serverProcess(dataDir, env, { grpc, http }),
  }
}

const firstLine = ({ stdout }: ChildProcess): Promise<string> =>
  new Promise((done, fail) => {
    if (stdout === null) return fail(new Error('the server has no output'))
    createInterface({ input: stdout })
      .once('line', done)
      .once('close', () => fail(new Error('the server ended before it said a word')))
  })
