import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { network } from '../../src/app/config/network.ts'
import { worker } from '../../src/app/config/worker.ts'
import { systemClock } from '../../src/app/process/clock.ts'
import { openWorkerTools } from '../../src/app/worker/tools.ts'
import { commandUser } from '../../src/app/worker/user.ts'
import type { Digest } from '../../src/base/digest.ts'
import { commandTaskOf } from '../../src/model/command-task.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { attemptCommand } from '../../src/worker/attempt/executor.fixture.ts'

interface Told {
  readonly placed?: readonly { readonly path: string; readonly digest: Digest }[]
  readonly root?: Digest
}

/** One worker, as root or not, that runs tasks of several instances. */
export async function sharedWorker(backend: 'sandbox' | 'unshare') {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-two-'))
  chmodSync(folder, 0o711)
  const store = memoryStore()
  const tools = await openWorkerTools({
    ...{ worker: 'w1', backend, folder, cacheBytes: 1 << 24, env: [] },
    ...{ containers: worker.parse({}).docker, network: network.parse({}), defaults: worker.parse({}) },
    surroundings: process.env,
    ...{ user: commandUser(undefined, process.getuid?.() ?? 0), cas: () => store, clock: systemClock },
  })
  let rooms = 0
  const start = (instance: string, argv: readonly string[], { placed = [], root }: Told = {}) => {
    const end = new AbortController()
    const printed = { text: '', heard: () => {} }
    const task = commandTaskOf({
      stages: [{ name: 'run', argv, env: [], network: false, limits: { wallMs: 60_000, pids: 64 } }],
      inputs: { root, files: [], placed: placed.map((file) => ({ ...file, executable: false, writable: false })) },
    })
    const stdout = (bytes: Uint8Array): void => {
      printed.text += Buffer.from(bytes).toString()
      printed.heard()
    }
    const order = { name: `two-${process.pid}-${++rooms}`, task, queuedAt: undefined, timeoutMs: undefined }
    const run = attemptCommand({ ...order, hooks: { stdout }, begun: undefined }, tools.of(instance).tools, end.signal)
    const over = run.then(({ stages }) => Buffer.from(stages[0]?.stdout.inline ?? []).toString())
    over.catch(() => {}) // it may end before its end is awaited
    return {
      over,
      /** Resolves when it has printed these words. */
      says: (words: string) =>
        new Promise<void>((resolve, reject) => {
          const look = (): void => void (printed.text.includes(words) && resolve())
          printed.heard = look
          look()
          over.then(() => reject(new Error(`it ended with: ${printed.text}`)), reject)
        }),
      async stop() {
        end.abort()
        await over.catch(() => {})
      },
    }
  }
  return {
    store,
    start,
    /** The output of a program that ends by itself. */
    run: (instance: string, argv: readonly string[], reported?: Told) => start(instance, argv, reported).over,
    async close() {
      await tools.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
