import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { snippetsClient } from '../../src/client/snippets/snippets.ts'
import type { CodeServer } from './code-grid.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

/** A server in a process of its own, which can be killed as machines do it, and come back where it was. */
export interface ServerProcess extends CodeServer {
  /** Without a warning; resolves when it is gone. */
  kill(): Promise<void>
  /** The same once more, over the same data and at the same addresses. */
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
