import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serverProcess } from '../snippets/server-process.ts'
import { until } from './grid.ts'
import { ownFolder } from './worker-here.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

/** A port that is free now, and that nothing else on this machine is likely to take in the next seconds. */
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
  const logged = (message: string): number => texts.err.split(`"msg":"${message}`).length - 1
  return { out: () => texts.out, logged, gone, signal: (name: NodeJS.Signals) => void child.kill(name) }
}

/** The worker waits for the store of its server at first, and for the server itself after a restart. */
const WAITING = 'waiting for the '

test.each(['grpc', 'http'] as const)('a worker over %s may be started before its server', async (protocol) => {
  const [grpc, http] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${protocol === 'grpc' ? grpc : http}`
  const worker = startWorker(['--protocol', protocol, '--server-url', url])
  // The languages are tested while it waits.
  await until(() => worker.logged(WAITING) > 0 && worker.logged('languages offered') > 0)
  expect(worker.out()).toBe('')

  const addresses = { grpc: `127.0.0.1:${grpc}`, http: `127.0.0.1:${http}` }
  const server = await serverProcess(ownFolder(), { WINDLASS_SNIPPETS_ALLOW_BARE: 'true' }, addresses)
  await until(() => worker.out().includes('"ready":true'))
  await until(async () => (await server.client.languages()).some(({ name }) => name === 'bash'))
  expect(worker.logged(WAITING)).toBe(1)

  // A restart of the server is one more wait, and logged once more.
  await server.kill()
  await until(() => worker.logged(WAITING) === 2)
  const again = await server.again()
  await until(async () => (await again.client.languages()).some(({ name }) => name === 'bash'))
  expect(worker.logged(WAITING)).toBe(2)
})

test('a worker that waits for its server ends at once when it is told to', async () => {
  const worker = startWorker(['--server-url', `http://127.0.0.1:${await freePort()}`])
  await until(() => worker.logged(WAITING) > 0)
  worker.signal('SIGTERM')
  expect(await worker.gone).toBe(0)
})
