import type { AddressRules } from '../../../base/address-rules.ts'
import type { Clock } from '../../../base/clock.ts'
import { isOver, type SnippetStatus } from '../../../model/snippet.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import { callbackProblem } from '../../../services/snippets/callbacks/callback-url.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { JUDGE0_FORM } from './callback.ts'
import { findRun, otherRunsOf } from './other-runs.ts'
import { Judge0Problem } from './problem.ts'
import type { Judge0Submission } from './request.ts'
import type { Judge0Runs } from './response.ts'
import { taskIdOf } from './token.ts'

export interface Judge0RunsOptions {
  readonly service: Pick<SnippetService, 'submit' | 'find' | 'wait' | 'cancel'>
  readonly clock: Clock
  readonly callbacks: { readonly addresses: AddressRules } | undefined
}

/** Submissions of one or several runs, on top of the service for single runs. */
export interface Judge0Service {
  submit(scope: CallScope, submission: Judge0Submission): Promise<Judge0Runs>
  /** Undefined when the instance has no submission with this token. */
  find(scope: CallScope, token: string): Promise<Judge0Runs | undefined>
  /** Resolves when all runs have ended or the time is up, with the state at that moment. */
  wait(
    scope: CallScope,
    runs: Judge0Runs,
    limit: { readonly ms: number; readonly signal: AbortSignal },
  ): Promise<Judge0Runs>
  cancel(scope: CallScope, runs: Judge0Runs): Promise<void>
}

export function judge0Service({ service, clock, callbacks }: Judge0RunsOptions): Judge0Service {
  const cancelAll = async (scope: CallScope, runs: readonly SnippetStatus[]): Promise<void> => {
    await Promise.allSettled(runs.filter((run) => !isOver(run)).map(({ id }) => service.cancel(scope, id)))
  }
  const mustBeCallable = (url: string | undefined): void => {
    const problem = url === undefined || callbacks === undefined ? undefined : callbackProblem(url, callbacks.addresses)
    if (problem !== undefined) throw new Judge0Problem(422, { callback_url: [problem] })
  }
  return {
    async wait(scope, { first, others }, { ms, signal }) {
      const end = clock.monotonic() + ms
      const waited: SnippetStatus[] = []
      for (const run of [first, ...others]) {
        const left = Math.max(0, end - clock.monotonic())
        waited.push(isOver(run) ? run : await service.wait(scope, run.id, { ms: left, signal }))
      }
      const [now = first, ...rest] = waited
      return { first: now, others: rest }
    },
    async submit(scope, { kept, runs, request }) {
      const { callback_url: url } = kept
      mustBeCallable(url)
      const callback = url === undefined ? undefined : { url, secret: undefined, form: JUDGE0_FORM }
      const others: SnippetStatus[] = []
      try {
        // The first run is submitted last: its options list the ids of the others, and it has the callback.
        while (others.length < runs - 1) others.push(await service.submit(scope, request(kept)))
        const other_runs = others.map(({ id }) => id)
        const first = await service.submit(scope, {
          ...request({ ...kept, ...(runs > 1 && { other_runs }) }),
          callback,
        })
        return { first, others }
      } catch (error) {
        await cancelAll(scope, others)
        throw error
      }
    },
    async find(scope, token) {
      const first = await findRun(scope, taskIdOf(token), service)
      return first && { first, others: await otherRunsOf(scope, first, service) }
    },
    cancel: (scope, { first, others }) => cancelAll(scope, [first, ...others]),
  }
}
