import type { Clock } from '../base/clock.ts'
import type { ActionResult } from '../model/action-result.ts'
import type { Runtime } from '../runtimes/run/runtime.ts'
import type { AttemptOutcome, AttemptTools } from './attempt.ts'

/** Holds an attempt that was sent ahead of its slot where its inputs are staged and its command has not started. */
export interface Gate {
  readonly tools: AttemptTools
  /** Waiting at the gate is no part of running. */
  timed(outcome: AttemptOutcome): AttemptOutcome
}

export function gate(tools: AttemptTools, begun: Promise<void>): Gate {
  const { clock, runtime } = tools
  let passedAt: number | undefined
  const gated: Runtime = {
    ...runtime,
    async run(run, signal) {
      await passing(begun, signal)
      passedAt = clock.now()
      return await runtime.run(run, signal)
    },
  }
  return {
    tools: { ...tools, runtime: gated },
    timed: ({ end, result }) => ({ end, result: startedAt(result, passedAt) }),
  }
}

/** Resolves when the gate is open; rejects when there is no more use in waiting. */
export async function passing(begun: Promise<void>, signal: AbortSignal): Promise<void> {
  await Promise.race([begun, aborted(signal)])
  signal.throwIfAborted()
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

function startedAt(result: ActionResult, at: ReturnType<Clock['now']> | undefined): ActionResult {
  const { metadata } = result
  if (at === undefined || metadata === undefined) return result
  const seconds = Math.floor(at / 1000)
  const executionStart = { seconds, nanos: Math.round((at - seconds * 1000) * 1e6) }
  return { ...result, metadata: { ...metadata, times: { ...metadata.times, executionStart } } }
}
