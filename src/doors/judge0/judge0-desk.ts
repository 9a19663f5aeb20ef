import type { Clock } from '../../base/clock.ts'
import { type Log, silentLog } from '../../base/log.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import { isOver, type SnippetStatus } from '../../model/snippet.ts'
import { callbackProblem } from '../snippets/callbacks/public-address.ts'
import type { SnippetDesk } from '../snippets/snippet-desk.ts'
import { Judge0Problem } from './judge0-problem.ts'
import { keptIn } from './kept-wish.ts'
import { putCallback } from './put-callback.ts'
import type { SubmissionRuns } from './submission-answer.ts'
import type { SubmissionOrder } from './submission-body.ts'
import { taskIdOf } from './token.ts'

export interface Judge0DeskOptions {
  readonly desk: Pick<SnippetDesk, 'submit' | 'find' | 'wait' | 'cancel'>
  readonly clock: Clock
  readonly ending: AbortSignal
  readonly log?: Log | undefined
  /** Undefined when nobody may ask for any. */
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

const MOST_TRIES = 3
const BETWEEN_TRIES_MS = 1000
const LONGEST_MS = 24 * 3600_000

const allOf = ({ first, others }: SubmissionRuns): SnippetStatus[] => [first, ...others]

export function judge0Desk({
  desk,
  clock,
  ending,
  log = silentLog,
  callbacks,
  describe,
}: Judge0DeskOptions): Judge0Desk {
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
  const announce = async (runs: SubmissionRuns, url: string): Promise<void> => {
    const ended = await wait(runs, { ms: LONGEST_MS, signal: ending })
    if (!allOf(ended).every(isOver)) return
    const body = await describe(ended)
    for (let tries = 1; tries <= MOST_TRIES && !ending.aborted; tries++) {
      if (await putCallback(url, body, { clock, mayBePrivate: callbacks?.mayBePrivate ?? false })) return
      await new Promise<void>((resolve) => clock.after(BETWEEN_TRIES_MS * tries, resolve))
    }
    log.warn({ task: runs.first.id }, 'a callback in the words of Judge0 was given up')
  }

  return {
    wait,
    async submit(order) {
      const { kept, runs } = order
      const url = kept.callback_url
      const problem = url === undefined ? undefined : callbackProblem(url, callbacks?.mayBePrivate ?? false)
      if (problem !== undefined) throw new Judge0Problem(422, { callback_url: [problem] })
      const others: SnippetStatus[] = []
      try {
        // The one that is named for all of them comes last: it says which the others are.
        while (others.length < runs - 1) others.push(await desk.submit(order.request(kept)))
        const other_runs = others.map(({ id }) => id)
        const first = await desk.submit(order.request({ ...kept, ...(runs > 1 && { other_runs }) }))
        const all = { first, others }
        if (url !== undefined)
          void announce(all, url).catch((error: unknown) =>
            log.error({ err: error, task: first.id }, 'callback failed'),
          )
        return all
      } catch (error) {
        await cancelAll(others)
        throw error
      }
    },
    async find(token, instance) {
      const own = async (id: string): Promise<SnippetStatus | undefined> => {
        const status = id.length <= 100 ? await desk.find(id) : undefined
        return status?.request.instance === instance ? status : undefined
      }
      const first = await own(taskIdOf(token))
      if (first === undefined) return undefined
      const others = await Promise.all((keptIn(first.request.metadata)?.other_runs ?? []).map(own))
      return { first, others: others.filter((each) => each !== undefined) }
    },
    cancel: (runs) => cancelAll(allOf(runs)),
  }
}
