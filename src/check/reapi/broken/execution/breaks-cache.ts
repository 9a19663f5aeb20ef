import { STATUS } from '../../../../grpc/status.ts'
import { ActionResult } from '../../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { OperationMessage } from '../../probe/operation-message.ts'
import type { ExecutionId } from '../../table/behaviours.ts'
import {
  allMessages,
  changingAction,
  changingRequest,
  changingResponse,
  type Detour,
  executing,
  fails,
} from './detour.ts'

/** Stores results that must not be stored, or keeps them too long. */
export const cachingEveryResult: Detour = ({ methods }) => {
  const results = new Map<string, NonNullable<OperationMessage['response']>['result']>()
  return {
    async *execute(request, call) {
      for await (const message of methods.execute(request, call)) {
        const hash = request.actionDigest?.hash ?? ''
        const result = message.response?.result ?? results.get(hash)
        if (message.done && !results.has(hash)) results.set(hash, result)
        yield message
      }
    },
    async getActionResult(request) {
      const hash = request.actionDigest?.hash ?? ''
      if (!results.has(hash)) return await methods.getActionResult(request)
      return results.get(hash) ?? ActionResult.fromPartial({})
    },
  }
}

/** Caches the first answer to an action for ever, or only while it runs if `isShared` is set. */
const answeringOnce =
  (isShared: boolean): Detour =>
  ({ methods }) => {
    const answers = new Map<string, Promise<OperationMessage[]>>()
    return {
      async *execute(request, call) {
        const hash = request.actionDigest?.hash ?? ''
        const answer = answers.get(hash) ?? allMessages(methods.execute(request, call))
        answers.set(hash, answer)
        yield* await answer
        if (isShared) answers.delete(hash)
      },
    }
  }

/** Cancelling one operation cancels all operations of the same action. */
const cancellingAll: Detour = ({ methods }) => {
  const names = new Set<string>()
  return {
    async *execute(request, call) {
      for await (const message of methods.execute(request, call)) {
        names.add(message.name)
        yield message
      }
    },
    async cancelOperation() {
      for (const name of names) await methods.cancelOperation({ name })
      return {}
    },
  }
}

export const cacheBreaks = {
  'exec-cache.hit': changingResponse((response) => ({ ...response, cachedResult: false })),
  'exec-cache.hit-same': executing(async function* (request, call, { methods }) {
    for await (const message of methods.execute({ ...request, skipCacheLookup: true }, call)) {
      yield message.response ? { ...message, response: { ...message.response, cachedResult: true } } : message
    }
  }),
  'exec-cache.fresh': changingResponse((response) => ({ ...response, cachedResult: true })),
  'exec-cache.stored': () => ({ getActionResult: async () => fails(STATUS.notFound) }),
  'exec-cache.skip-lookup': changingRequest((request) => ({ ...request, skipCacheLookup: false })),
  'exec-cache.skip-overwrites': cachingEveryResult,
  'exec-cache.do-not-cache': cachingEveryResult,
  'exec-cache.do-not-cache-runs': answeringOnce(false),
  'exec-cache.do-not-cache-unmerged': answeringOnce(true),
  'exec-cache.merged': changingAction(({ action }, count) => ({
    action: { ...action, salt: Buffer.from(`${count}`) },
  })),
  'exec-cache.merged-cancel': cancellingAll,
  'exec-cache.failure': cachingEveryResult,
  'exec-cache.failure-runs': answeringOnce(false),
  'exec-cache.expired': cachingEveryResult,
  'exec-cache.metadata': changingResponse((response) =>
    response.cachedResult && response.result?.executionMetadata
      ? {
          ...response,
          result: {
            ...response.result,
            executionMetadata: { ...response.result.executionMetadata, worker: 'the cache' },
          },
        }
      : response,
  ),
} satisfies Partial<Record<ExecutionId, Detour>>
