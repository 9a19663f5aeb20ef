import { pause } from '../../app/process/clock.ts'
import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { EventListening, RemoteStep, RemoteSubmission, SubmissionsClient } from '../../client/workflows/client.ts'
import type { RunWatch } from '../../cwl-runner/machine.ts'

export interface RunFollowing {
  readonly client: SubmissionsClient
  readonly watch: RunWatch
  /** Which steps to report. */
  readonly steps: 'all' | 'failed'
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** A server that restarts is expected back within this time. */
const PATIENCE_MS = 120_000
const PAUSE_MS = 500

/** Watches a workflow run to its end. Reconnects when the server is temporarily unreachable. */
export async function followSubmission(id: string, following: RunFollowing): Promise<RemoteSubmission> {
  const { client, clock, signal } = following
  const reportStep = stepReporter(id, following)
  const listening: EventListening = { last: undefined, steps: following.steps }
  let lastEventAt = clock.monotonic()
  for (;;) {
    try {
      for await (const event of client.events(id, listening)) {
        lastEventAt = clock.monotonic()
        if (event.kind === 'step') await reportStep(event.step)
        else if (isOver(event.submission)) return event.submission
      }
    } catch (error) {
      signal.throwIfAborted()
      const isPassing = error instanceof FaultError && error.fault.kind === 'unavailable'
      const isCut = error instanceof Error && /^ECONN|aborted/.test(`${(error as NodeJS.ErrnoException).code}`)
      if (!(isPassing || isCut) || clock.monotonic() - lastEventAt > PATIENCE_MS) throw error
    }
    await pause(PAUSE_MS)
    signal.throwIfAborted()
  }
}

const isOver = ({ state }: RemoteSubmission): boolean => state !== 'PENDING' && state !== 'RUNNING'

/** Reports steps as a local run does, and fetches the output of a failed one. */
function stepReporter(id: string, { client, watch }: RunFollowing): (step: RemoteStep) => Promise<void> {
  const seen = new Map<string, RemoteStep['state']>()
  const lastWords = async (path: string): Promise<void> => {
    const { stdout, stderr } = await client.logs(id, path).catch(() => ({ stdout: '', stderr: '' }))
    watch.printed(path, Buffer.from(stdout + stderr))
  }
  return async ({ path, state, cached, task }) => {
    const before = seen.get(path)
    if (before === state) return
    seen.set(path, state)
    if (before === undefined) watch.queued(path)
    if (state === 'RUNNING') watch.started(path)
    if (state === 'FAILED' && task !== null) await lastWords(path)
    const isEnd = state === 'SUCCESS' || state === 'FAILED' || state === 'CANCELLED'
    if (isEnd) watch.ended(path, state === 'SUCCESS', cached)
  }
}
