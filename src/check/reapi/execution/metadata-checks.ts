import type { ExecutedActionMetadata } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Timestamp } from '../../../wire/gen/google/protobuf/timestamp.ts'
import { ensure, NotOffered, Unmet } from '../../unmet.ts'
import { STAGE } from '../probe/operation-message.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { patiently } from './patiently.ts'

/** In chronological order. */
const TIMES = [
  'queuedTimestamp',
  'workerStartTimestamp',
  'inputFetchStartTimestamp',
  'inputFetchCompletedTimestamp',
  'executionStartTimestamp',
  'executionCompletedTimestamp',
  'outputUploadStartTimestamp',
  'outputUploadCompletedTimestamp',
  'workerCompletedTimestamp',
] as const satisfies readonly (keyof ExecutedActionMetadata)[]

const secondsOf = ({ seconds, nanos }: Timestamp): number => seconds + nanos / 1e9

/** Tolerance between the clocks of the server and of the worker. */
const SKEW_S = 1

async function metadataOf({ executions }: Probe): Promise<ExecutedActionMetadata> {
  const { executionMetadata } = (await executions.run({})).result
  if (executionMetadata === undefined) throw new Unmet('execution_metadata', 'none')
  return executionMetadata
}

export const metadataChecks = {
  async 'exec-metadata.worker'(probe) {
    ensure((await metadataOf(probe)).worker !== '', 'a worker', 'none')
  },
  async 'exec-metadata.times'(probe) {
    const metadata = await metadataOf(probe)
    const unset = TIMES.filter((name) => (metadata[name]?.seconds ?? 0) === 0)
    ensure(unset.length === 0, 'all times', `without ${unset.join(', ')}`)
  },
  async 'exec-metadata.times-ordered'(probe) {
    const metadata = await metadataOf(probe)
    const set = TIMES.flatMap((name) => {
      const time = metadata[name]
      return time === undefined ? [] : [{ name, at: secondsOf(time) }]
    })
    for (const [index, { name, at }] of set.entries()) {
      const before = set[index - 1]
      if (before === undefined) continue
      const slack = before.name === 'queuedTimestamp' ? SKEW_S : 0
      ensure(at >= before.at - slack, `${name} after ${before.name}`, `${at} after ${before.at}`)
    }
  },
  async 'exec-metadata.virtual-duration'(probe) {
    const { virtualExecutionDuration, executionStartTimestamp, executionCompletedTimestamp } = await metadataOf(probe)
    if (virtualExecutionDuration === undefined) throw new Unmet('virtual_execution_duration', 'none')
    if (executionStartTimestamp === undefined || executionCompletedTimestamp === undefined) return
    const run = secondsOf(executionCompletedTimestamp) - secondsOf(executionStartTimestamp)
    const seconds = virtualExecutionDuration.seconds + virtualExecutionDuration.nanos / 1e9
    // Tolerance between a monotonic clock and a wall clock.
    ensure(seconds > 0 && seconds <= run + 0.1, `between 0 and ${run} s`, `${seconds} s`)
  },
  'exec-metadata.partial': patiently(async ({ executions }, seconds) => {
    const stream = executions.open(await executions.store({ script: `sleep ${seconds}` }))
    const running = (await stream.rest()).find(({ metadata: { stage } }) => stage === STAGE.executing)
    if (running === undefined) throw new NotOffered('the server does not report the stage EXECUTING')
    const queued = running.metadata.partialExecutionMetadata?.queuedTimestamp?.seconds ?? 0
    ensure(queued > 0, 'a queued_timestamp', 'none')
  }),
} satisfies Partial<Record<ExecutionId, Check>>
