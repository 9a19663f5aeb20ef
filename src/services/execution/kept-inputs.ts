import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import { type Log, silentLog } from '../../base/log.ts'
import type { Engine } from '../../engine/engine.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { actionFromProto } from '../../wire/reapi/action.ts'
import { ACTION_ORIGIN, actionSpecFromProto } from '../../wire/tasks/task-spec.ts'
import type { Instances } from '../instances/instances.ts'
import { readAction } from './execute-action.ts'
import { DEFAULT_EXECUTION_LIMITS } from './execution-tools.ts'
import type { RecentTrees } from './missing-inputs.ts'
import { type InputTreeLimits, missingInputs } from './missing-inputs.ts'

export interface KeptInputsOptions {
  readonly engine: Engine
  readonly instances: Instances
  readonly clock: Clock
  readonly limits?: InputTreeLimits
  readonly everyMs?: number
  readonly log?: Log
}

const EVERY_MS = 60_000
/** The maximum share of wall time that the check uses. */
const PART = 1 / 20
/** The check yields to the event loop after this many operations. */
const AT_A_TIME = 256

/**
 * Touches the inputs of queued actions every `everyMs`: the store evicts the least recently touched blobs first.
 * Pinning would be safer, but a pin per file of each tree would take more memory than the queue itself. A directory
 * that several trees share is checked once per round.
 */
export function keepInputs(options: KeptInputsOptions): { stop(): void } {
  const { clock, everyMs = EVERY_MS, log = silentLog } = options
  let isStopped = false
  let forget = (): void => {}
  const after = (ms: number): void => {
    if (!isStopped) forget = clock.after(ms, () => void round())
  }
  const round = async (): Promise<void> => {
    const from = clock.monotonic()
    try {
      await touchAll(options, clock.now() - everyMs, () => isStopped)
    } catch (error) {
      log.error({ err: error }, 'cannot renew the inputs of queued actions')
    }
    after(Math.max(everyMs, (clock.monotonic() - from) / PART))
  }
  after(everyMs)
  return {
    stop() {
      isStopped = true
      forget()
    },
  }
}

async function touchAll(options: KeptInputsOptions, before: number, isStopped: () => boolean): Promise<void> {
  const seen = new Map<BlobStore, RecentTrees>()
  let count = 0
  for await (const status of options.engine.operations()) {
    if (isStopped()) return
    if (++count % AT_A_TIME === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    if (status.origin !== ACTION_ORIGIN || status.acceptedAt > before) continue
    try {
      await touchInputs(status, seen, options)
    } catch (error) {
      // For an invalid tree or a failing store, the worker reports the error when the task runs. The other inputs are
      // still touched.
      if (!(error instanceof FaultError)) throw error
    }
  }
}

async function touchInputs(
  { instance, spec }: OperationStatus,
  seen: Map<BlobStore, RecentTrees>,
  { instances, limits = DEFAULT_EXECUTION_LIMITS }: KeptInputsOptions,
): Promise<void> {
  const { blobs } = instances(instance)
  const recent = seen.get(blobs) ?? seenTrees()
  seen.set(blobs, recent)
  const { actionDigest, inline } = actionSpecFromProto(spec)
  const action = inline ? actionFromProto(inline.action, actionDigest.fn) : await readAction(actionDigest, blobs)
  await missingInputs([actionDigest, action.commandDigest], action.inputRootDigest, { blobs, limits, recent })
}

/** The directories of one round. */
function seenTrees(): RecentTrees {
  const seen = new Set<string>()
  return {
    has: (directory) => seen.has(directory),
    add(directories) {
      for (const directory of directories) seen.add(directory)
    },
    clear: () => seen.clear(),
  }
}
