import { FaultError } from '../../base/fault.ts'
import type { StageResults } from '../command-task/stage-cache.ts'
import type { HttpAnswer, HttpCaller } from '../links/http-caller.ts'

/** A stage can be run sooner than that: who does not answer has nothing. */
const CALL_MS = 5000

/** Results of stages behind the routes of an HTTP cache, beside the blobs that they name. */
export function httpResults(caller: HttpCaller, instance: string): StageResults {
  const folder = instance === '' ? '' : `/${instance.split('/').map(encodeURIComponent).join('/')}`
  const pathOf = (hash: string): string => `${folder}/ac/${hash}`
  return {
    async get({ hash }) {
      const answer = await caller.call({ method: 'GET', path: pathOf(hash), timeoutMs: CALL_MS })
      if (answer.status === 404) return undefined
      mustBe(200, answer)
      return answer.body
    },
    async put({ hash }, body) {
      mustBe(200, await caller.call({ method: 'PUT', path: pathOf(hash), timeoutMs: CALL_MS, body }))
    },
  }
}

function mustBe(wanted: number, { status }: HttpAnswer): void {
  if (status !== wanted) throw new FaultError({ kind: 'unavailable', what: `the cache of results answered ${status}` })
}
