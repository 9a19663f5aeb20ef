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

export function keptStageFromJson(said: unknown): KeptStageJson {
  const { conditions, result } = readJson(KEPT, said)
  return { conditions: mustBeConditions(conditions), result }
}

export const foundStageToJson = (result: Uint8Array): object => ({ result: Buffer.from(result).toString('base64') })

/** The answer comes in the envelope. */
export const foundStageFromJson = (said: unknown): Uint8Array => readJson(FOUND, said).data.result
