/**
 * A worker that finishes every task at once: the rest of the time is the server's. It uses the protocol of our own
 * workers: leases arrive on a stream, and each result is one call.
 */
import type { Channel } from '../../../src/grpc/client/channel.ts'
import { actionResultToProto } from '../../../src/wire/reapi/action-result.ts'
import { serverMessageFromProto, workerMessageToProto } from '../../../src/wire/workers/lease-stream.ts'
import { taskUpdateToProto } from '../../../src/wire/workers/report.ts'

const STREAM = '/windlass.worker.v1.WorkerLink/StreamLeases'
const REPORT = '/expbuild.worker.v1.WorkerScheduler/UpdateTaskStatus'
const STREAM_OUTPUT = { raw: undefined, digest: undefined }

const RESULT = actionResultToProto({
  exitCode: 0,
  outputFiles: [],
  outputDirectories: [],
  outputSymlinks: [],
  legacyFileSymlinks: [],
  legacyDirectorySymlinks: [],
  stdout: STREAM_OUTPUT,
  stderr: STREAM_OUTPUT,
  metadata: undefined,
})

/**
 * Registers the worker, and resolves when it is registered. Calls `got` with the action of each task when it arrives.
 */
export async function hireHollow(channel: Channel, got: (actionDigest: string) => void): Promise<() => void> {
  const worker = `hollow-${process.pid}`
  const registration = {
    ...{ worker, slots: 256, resources: {}, platform: [], running: undefined, prefetch: 0, preemptible: false },
    ...{ version: '', labels: [], group: '', wantsSpec: true },
  }
  const call = channel.open(STREAM)
  call.trailers.catch(() => {})
  call.write(workerMessageToProto({ kind: 'register', registration }))
  const registered = Promise.withResolvers<void>()
  void (async () => {
    for await (const message of call) {
      const word = serverMessageFromProto(message)
      if (word.kind === 'registered') registered.resolve()
      if (word.kind !== 'leases') continue
      for (const { actionDigest, attemptId } of word.leases) {
        got(actionDigest)
        call.write(workerMessageToProto({ kind: 'started', attemptId }))
        const what = { kind: 'result', result: RESULT, fn: 'sha256' } as const
        void channel.unary(REPORT, taskUpdateToProto({ worker, attemptId, what })).catch(() => {})
      }
    }
  })().catch(registered.reject)
  await registered.promise
  return () => call.cancel()
}
