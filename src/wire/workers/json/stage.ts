import { z } from 'zod'
import { mustBeConditions } from '../stage.ts'
import { base64, readJson, shortText } from './read-json.ts'

interface KeptStageJson {
  readonly conditions: string
  /** A serialised ActionResult. */
  readonly result: Uint8Array
}

const KEPT = z.object({ conditions: shortText(), result: base64() })
const FOUND = z.object({ data: z.object({ result: base64() }) })

export const keptStageToJson = ({ conditions, result }: KeptStageJson): object => ({
  conditions,
  result: Buffer.from(result).toString('base64'),
})

export function keptStageFromJson(json: unknown): KeptStageJson {
  const { conditions, result } = readJson(KEPT, json)
  return { conditions: mustBeConditions(conditions), result }
}

export const foundStageToJson = (result: Uint8Array): object => ({ result: Buffer.from(result).toString('base64') })

/** Decodes the response: the result inside the `data` envelope. */
export const foundStageFromJson = (json: unknown): Uint8Array => readJson(FOUND, json).data.result
