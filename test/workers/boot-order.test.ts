import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serverProcess } from '../snippets/server-process.ts'
import { until } from './grid.ts'
import { ownFolder } from './worker-here.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

/** A port that is free now, and that no other program of this machine is likely to take in the next seconds. */
const freePort = (): Promise<number> =>
  new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => found(port))
    })
  })

function startWorker(flags: readonly string[]) {
  const env = { ...process.env, WINDLASS_LOG_FORMAT: 'json', WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1' }
  const args = ['worker', 'daemon', '--json', '--data', ownFolder(), '--backend', 'host', '--allow-bare-snippets']
  const child = spawn(WINDLASS, [...args, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, WINDLASS_WORKER_LANGUAGES: 'bash' },
  })
  const texts = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.err += text
  })
  const gone = new Promise<number | null>((done) => child.once('close', (code) => done(code)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await gone
  })
  const err = (): string => texts.err
  const logged = (message: string): number => texts.err.split(`"msg":"${message}`).length - 1
  return { out: () => texts.out, err, logged, gone, signal: (name: NodeJS.Signals) => void child.kill(name) }
}

/** The worker first waits for the store of its server, and after a restart retries the server itself. */
const WAITING = 'waiting for the store of the server'
const RETRYING = 'server cannot be reached, retrying'

test.each(['grpc', 'http'] as const)('a worker over %s may be started before its server', async (protocol) => {
  const [grpc, http] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${protocol === 'grpc' ? grpc : http}`
  const worker = startWorker(['--protocol', protocol, '--server-url', url])
  // The worker tests its languages while it waits.
  await until(() => worker.logged(WAITING) > 0 && worker.logged('languages offered') > 0)
  expect(worker.out()).toBe('')

  const addresses = { grpc: `127.0.0.1:${grpc}`, http: `127.0.0.1:${http}` }
  const server = await serverProcess(ownFolder(), { WINDLASS_SNIPPETS_ALLOW_BARE: 'true' }, addresses)
  await until(() => worker.out().includes('"ready":true'))
  await until(async () => (await server.client.languages()).some(({ name }) => name === 'bash'))
  expect(worker.logged(WAITING)).toBe(1)
  expect(worker.logged(RETRYING)).toBe(0)

  // A restart of the server causes one more wait, which is logged once.
  await server.kill()
  await until(() => worker.logged(RETRYING) > 0)
  const again = await server.again()
  await until(async () => (await again.client.languages()).some(({ name }) => name === 'bash'))
  expect(worker.logged(RETRYING)).toBe(1)
  expect(worker.logged(WAITING)).toBe(1)
})

test.each(['grpc', 'http'])('a worker over %s that waits for its server exits with 0 on SIGTERM', async (protocol) => {
  const flags = ['--protocol', protocol, '--server-url', `http://127.0.0.1:${await freePort()}`]
  const worker = startWorker(flags)
  await until(() => worker.logged('languages offered') > 0)
  // An HTTP store retries requests of tasks for 30 seconds, but not the first contact: a wait is logged at once.
  const startedAt = Date.now()
  await until(() => worker.logged(WAITING) > 0)
  worker.signal('SIGTERM')
  expect(await worker.gone).toBe(0)
  expect(Date.now() - startedAt).toBeLessThan(25_000)
})

test('a worker over HTTP whose address is the gRPC port logs that', async () => {
  const server = await serverProcess(ownFolder())
  const worker = startWorker(['--protocol', 'http', '--server-url', `http://${server.grpc}`])
  await until(() => worker.logged(WAITING) > 0)
  expect(worker.err()).toContain('the store answered 421: this is the gRPC port')
})
