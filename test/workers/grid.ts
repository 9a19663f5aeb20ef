import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { Digest } from '../../src/base/digest.ts'
import { formatDigest } from '../../src/base/digest-text.ts'
import { byteStreamRead } from '../../src/doors/grpc/cache/byte-stream-read.ts'
import { encoded } from '../../src/doors/grpc/cache/door.fixture.ts'
import { reapiDoor } from '../../src/doors/grpc/cache/door.ts'
import { logStreams } from '../../src/doors/grpc/logs/door.ts'
import { reportingFaults } from '../../src/doors/grpc/report-faults.ts'
import { workersDoor } from '../../src/doors/grpc/workers/door.ts'
import { createEngine, type LocalEngine } from '../../src/engine/engine.ts'
import type { EngineOptions } from '../../src/engine/engine-options.ts'
import type { OperationStatus } from '../../src/engine/tasks/status.ts'
import type { TaskRequest } from '../../src/engine/tasks/task-request.ts'
import { createServer, type ServerTls } from '../../src/grpc/server/server.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { reportCheck } from '../../src/services/workers/report-check.ts'
import type { BlobStore } from '../../src/storage/blob-store.ts'
import { threadPool } from '../../src/storage/bulk/thread-pool.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'
import { memoryJournal } from '../../src/storage/journal/memory-journal.ts'
import { memoryActionCache } from '../../src/storage/memory-action-cache.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { verifying } from '../../src/storage/verification/verifying.ts'
import { actionSpecToProto } from '../../src/wire/tasks/task-spec.ts'
import { putBlob, putTree, type TreeSpec } from '../../src/worker/trees.fixture.ts'

export interface TestGrid {
  readonly engine: LocalEngine
  readonly blobs: BlobStore
  /** `127.0.0.1:12345` */
  readonly address: string
  readonly port: number
  /** Stores the action and submits it, as Execute does for a client. */
  submit(order: ActionWish, rest?: Partial<TaskRequest>): Promise<OperationStatus>
  /** Resolves with its final status. */
  end(operation: string): Promise<OperationStatus>
  /** Resolves when its worker has reported that it runs. */
  running(operation: string): Promise<void>
  /** Ends it without notifying any peer: only the journal is left. */
  kill(): void
}

export interface ActionWish {
  readonly script: string
  readonly outputs?: readonly string[]
  readonly inputs?: TreeSpec
  readonly timeoutMs?: number
  /** Omits action and command from the lease, so that the worker reads them from the store. */
  readonly byDigest?: boolean
}

export interface GridOptions {
  readonly journal?: Journal
  readonly blobs?: BlobStore
  readonly port?: number
  readonly clock?: Clock
  readonly scheduler?: EngineOptions['scheduler']
  readonly ending?: AbortSignal
  readonly tls?: ServerTls
}

const bulk = threadPool(1)

/** Store, engine and the worker API in this process; closed at the end of the test. */
export async function startGrid(options: GridOptions = {}): Promise<TestGrid> {
  const { journal = memoryJournal(), blobs = memoryStore(), port = 0, clock = systemClock } = options
  let isDead = false
  const mortal: Journal = {
    ...journal,
    record: (facts, word) => (isDead ? new Promise<never>(() => {}) : journal.record(facts, word)),
  }
  const engine = await createEngine({
    journal: mortal,
    clock,
    newId: randomUUID,
    random: Math.random,
    ...(options.scheduler && { scheduler: options.scheduler }),
  })
  const uploads = verifying(bulk)(blobs)
  const instance = { blobs, uploads, actions: memoryActionCache(), unnamedFunction: 'sha256' } as const
  const instances = () => instance
  const logs = logStreams({ engine, instances, clock, newId: randomUUID })
  const reapi = reapiDoor({ instances, clock: systemClock }).map((service) =>
    service.name === 'google.bytestream.ByteStream'
      ? reportingFaults({ ...service, methods: { ...service.methods, Read: byteStreamRead(instances, logs) } })
      : service,
  )
  const server = createServer({
    services: [
      ...reapi,
      ...workersDoor({
        service: engine.workers,
        clock,
        checkReport: reportCheck({ service: engine.workers, instances }),
        ...(options.ending && { ending: options.ending }),
      }),
    ],
    timing: { now: systemClock.monotonic, after: systemClock.after },
    ...(options.tls && { tls: options.tls }),
  })
  const bound = await server.listen({ host: '127.0.0.1', port })
  if (!('port' in bound)) throw new Error('no port')
  onTestFinished(async () => {
    if (!isDead) await engine.close()
    server.close()
  })
  return {
    engine,
    blobs,
    address: `127.0.0.1:${bound.port}`,
    port: bound.port,
    submit: async (request, rest) => engine.submit(LOCAL_CALLER, { ...(await submissionFor(blobs, request)), ...rest }),
    end: (operation) => endOf(engine, operation),
    running: (operation) => until(async () => (await engine.find(LOCAL_CALLER, operation))?.state === 'running'),
    kill() {
      isDead = true
      server.close()
    },
  }
}

function endOf(engine: LocalEngine, operation: string): Promise<OperationStatus> {
  return new Promise((resolve, reject) => {
    engine.watch(LOCAL_CALLER, operation, {
      notify: (status) => {
        if (status.end !== undefined) resolve(status)
      },
      failed: reject,
    })
  })
}

/** Uses sha256 throughout. */
export async function putAction(blobs: BlobStore, request: ActionWish) {
  const { script, outputs = [], inputs = {}, timeoutMs } = request
  const command = encoded('Command', {
    arguments: ['/bin/sh', '-c', script],
    environmentVariables: [{ name: 'PATH', value: '/usr/bin:/bin' }],
    outputPaths: [...outputs],
  })
  const inJson = ({ hash, size }: Digest) => ({ hash, sizeBytes: `${size}` })
  const action = encoded('Action', {
    commandDigest: inJson(await putBlob(blobs, command)),
    inputRootDigest: inJson(await putTree(blobs, inputs)),
    ...(timeoutMs !== undefined && { timeout: `${timeoutMs / 1000}s` }),
  })
  const digest = await putBlob(blobs, action)
  return { digest, action, command, text: formatDigest(digest) }
}

export async function submissionFor(blobs: BlobStore, request: ActionWish): Promise<TaskRequest> {
  const { digest, action, command } = await putAction(blobs, request)
  const inline = request.byDigest ? undefined : { action, command }
  return {
    instance: '',
    origin: 'action',
    spec: actionSpecToProto({ actionDigest: digest, inline }),
    mayStartEarly: true,
    ...(request.timeoutMs !== undefined && { timeoutMs: request.timeoutMs }),
  }
}

/** Polls until the condition holds; the time limit only ends a failing test. */
export async function until(isSo: () => boolean | Promise<boolean>, mostMs = 120_000): Promise<void> {
  const end = performance.now() + mostMs
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('it did not come about')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
