import type { ActionResult } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { malformedResultChecks } from '../cache/action-cache-malformed.ts'
import type { Break } from './break.ts'
import { resultProblems } from './honest-results.ts'

type MalformedId = keyof typeof malformedResultChecks

/** Stores and serves results with this one problem. */
const overlooking =
  (problem: string): Break =>
  (honest) => {
    const stored = new Map<string, ActionResult>()
    return {
      updateActionResult(request) {
        const { actionResult, actionDigest } = request
        if (actionResult === undefined || !resultProblems(actionResult, honest.store).includes(problem))
          return honest.methods.updateActionResult(request)
        stored.set(actionDigest?.hash ?? '', actionResult)
        return actionResult
      },
      getActionResult: (request) =>
        stored.get(request.actionDigest?.hash ?? '') ?? honest.methods.getActionResult(request),
    }
  }

const ids = Object.keys(malformedResultChecks) as MalformedId[]

export const malformedResultBreaks = Object.fromEntries(
  ids.map((id) => [id, overlooking(id.slice(id.lastIndexOf('.') + 1))]),
) as Record<MalformedId, Break>
