import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { isOver } from '../../model/snippet.ts'
import { postCallback } from '../snippets/callbacks/post-callback.ts'
import { callbackProblem } from '../snippets/callbacks/public-address.ts'
import { Judge0Problem } from './judge0-problem.ts'
import type { SubmissionRuns } from './submission-answer.ts'

export interface SubmissionCallbacksOptions {
  readonly clock: Clock
  readonly ending: AbortSignal
  readonly log: Log
  readonly mayBePrivate: boolean
  readonly wait: (runs: SubmissionRuns) => Promise<SubmissionRuns>
  /** What is put at the address. */
  readonly describe: (runs: SubmissionRuns) => Promise<string>
}

/** As Judge0 has them: put a few times, and not remembered beyond the end of this process. */
export interface SubmissionCallbacks {
  mustBeCallable(url: string | undefined): void
  /** Says so at the address when all of it is over. */
  announce(runs: SubmissionRuns, url: string | undefined): void
}

const MOST_TRIES = 3
const BETWEEN_TRIES_MS = 1000
const TIMEOUT_MS = 5000

export function submissionCallbacks(options: SubmissionCallbacksOptions): SubmissionCallbacks {
  const { clock, ending, log, mayBePrivate } = options
  const send = async (runs: SubmissionRuns, url: string): Promise<void> => {
    const ended = await options.wait(runs)
    if (![ended.first, ...ended.others].every(isOver)) return
    const body = await options.describe(ended)
    const letter = { method: 'PUT', url, body, secret: undefined, delivery: runs.first.id } as const
    for (let attempt = 1; attempt <= MOST_TRIES && !ending.aborted; attempt++) {
      const { problem } = await postCallback({ ...letter, attempt }, { clock, mayBePrivate, timeoutMs: TIMEOUT_MS })
      if (problem === undefined) return
      await new Promise<void>((resolve) => clock.after(BETWEEN_TRIES_MS * attempt, resolve))
    }
    log.warn({ task: runs.first.id }, 'a callback in the words of Judge0 was given up')
  }
  return {
    mustBeCallable(url) {
      const problem = url === undefined ? undefined : callbackProblem(url, mayBePrivate)
      if (problem !== undefined) throw new Judge0Problem(422, { callback_url: [problem] })
    },
    announce(runs, url) {
      if (url === undefined) return
      send(runs, url).catch((error: unknown) =>
        log.error({ err: error, task: runs.first.id }, 'a callback in the words of Judge0 failed'),
      )
    },
  }
}
