import type { Clock } from '../../base/clock.ts'
import { type Log, silentLog } from '../../base/log.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import { isOver, type SnippetStatus } from '../../model/snippet.ts'
import type { SnippetDesk } from '../snippets/snippet-desk.ts'
import { keptIn } from './kept-wish.ts'
import type { SubmissionRuns } from './submission-answer.ts'
import type { SubmissionOrder } from './submission-body.ts'
import { submissionCallbacks } from './submission-callbacks.ts'
import { taskIdOf } from './token.ts'

export interface Judge0DeskOptions {
  readonly desk: Pick<SnippetDesk, 'submit' | 'find' | 'wait' | 'cancel'>
  readonly clock: Clock
  readonly ending: AbortSignal
  readonly log?: Log | undefined
  readonly callbacks: { readonly mayBePrivate: boolean } | undefined
  /** What is put at a callback's address. */
  readonly describe: (runs: SubmissionRuns) => Promise<string>
}

/** Submissions of one run or of several, over the desk for single ones. */
export interface Judge0Desk {
  submit(order: SubmissionOrder): Promise<SubmissionRuns>
  /** Undefined when the instance has none of that name. */
  find(token: string, instance: InstanceName): Promise<SubmissionRuns | undefined>
  /** How it stands when all runs are over, or when the time is up. */
  wait(runs: SubmissionRuns, limit: { readonly ms: number; readonly signal: AbortSignal }): Promise<SubmissionRuns>
  cancel(runs: SubmissionRuns): Promise<void>
}

/** No task lives longer than that. */
const LONGEST_MS = 24 * 3600_000

export function judge0Desk({ desk, clock, ending, log, callbacks, describe }: Judge0DeskOptions): Judge0Desk {
  const cancelAll = async (runs: readonly SnippetStatus[]): Promise<void> => {
    await Promise.allSettled(runs.filter((run) => !isOver(run)).map(({ id }) => desk.cancel(id)))
  }
  const wait: Judge0Desk['wait'] = async ({ first, others }, { ms, signal }) => {
    const end = clock.monotonic() + ms
    const waited: SnippetStatus[] = []
    for (const run of [first, ...others]) {
      const left = Math.max(0, end - clock.monotonic())
      waited.push(isOver(run) ? run : await desk.wait(run.id, { ms: left, signal }))
    }
    const [now = first, ...rest] = waited
    return { first: now, others: rest }
  }
  const { mustBeCallable, announce } = submissionCallbacks({
    clock,
    ending,
    log: log ?? silentLog,
    mayBePrivate: callbacks?.mayBePrivate ?? false,
    wait: (runs) => wait(runs, { ms: LONGEST_MS, signal: ending }),
    describe,
  })
  return {
    wait,
    async submit({ kept, runs, request }) {
      mustBeCallable(kept.callback_url)
      const others: SnippetStatus[] = []
      try {
        // The one that is named for all of them comes last: it says which the others are.
        while (others.length < runs - 1) others.push(await desk.submit(request(kept)))
        const other_runs = others.map(({ id }) => id)
        const first = await desk.submit(request({ ...kept, ...(runs > 1 && { other_runs }) }))
        announce({ first, others }, kept.callback_url)
        return { first, others }
      } catch (error) {
        await cancelAll(others)
        throw error
      }
    },
    async find(token, instance) {
      const first = await ownTask(taskIdOf(token), instance, desk)
      if (first === undefined) return undefined
      const ids = keptIn(first.request.metadata)?.other_runs ?? []
      const others = await Promise.all(ids.map((id) => ownTask(id, instance, desk)))
      return { first, others: others.filter((each) => each !== undefined) }
    },
    cancel: ({ first, others }) => cancelAll([first, ...others]),
  }
}

/** What is another instance's is nobody's here, whoever names it. */
async function ownTask(id: string, instance: InstanceName, { find }: Pick<SnippetDesk, 'find'>) {
  const status = id.length <= 100 ? await find(id) : undefined
  return status?.request.instance === instance ? status : undefined
}
