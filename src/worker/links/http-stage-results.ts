import { FaultError } from '../../base/fault.ts'
import { foundStageFromJson, keptStageToJson } from '../../wire/workers/json/stage.ts'
import type { HttpAnswer, HttpCaller } from './http-caller.ts'
import type { StageResults } from './worker-link.ts'

export interface HttpStageOptions {
  readonly caller: HttpCaller
  /** The URL path of the attempt's stage. */
  readonly path: string
}

/** Running a stage takes less time than this, so a server that does not answer counts as having no result. */
const CALL_MS = 5000

/** GET and PUT of …/tasks/{tid}/stage. A server without this route is `unavailable`, and the stage runs. */
export const httpStageResults = ({ caller, path }: HttpStageOptions): StageResults => ({
  async get(conditions) {
    const query = `?conditions=${encodeURIComponent(conditions)}`
    const answer = await caller.call({ method: 'GET', path: path + query, timeoutMs: CALL_MS })
    if (answer.status === 204) return undefined
    mustBe(200, answer)
    return foundStageFromJson(JSON.parse(answer.body.toString()))
  },
  async put(conditions, result) {
    const body = Buffer.from(JSON.stringify(keptStageToJson({ conditions, result })))
    const headers = { 'content-type': 'application/json' }
    mustBe(200, await caller.call({ method: 'PUT', path, headers, body, timeoutMs: CALL_MS }))
  },
})

function mustBe(wanted: number, { status }: HttpAnswer): void {
  if (status !== wanted)
    throw new FaultError({
      kind: 'unavailable',
      what: `the server answered ${status} to a question for a stage result`,
    })
}
