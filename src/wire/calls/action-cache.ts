import { DIGEST_FUNCTIONS, type Digest } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import { digestLength, putDigest } from '../hot/digest-writer.ts'
import { fieldLength, putField, putHead } from '../messages/message-writer.ts'

/** Requests of the action cache, on the client's side; `wire/hot/action-cache.ts` is the server's side. */
const INSTANCE = 0x0a
const ACTION = 0x12
const RESULT = 0x1a
const GET_FUNCTION = 0x30
const UPDATE_FUNCTION = 0x28

export const getActionResultRequest = (instance: string, action: Digest): Uint8Array =>
  actionRequest(instance, action, { functionTag: GET_FUNCTION, result: undefined })

export const updateActionResultRequest = (instance: string, action: Digest, result: Uint8Array): Uint8Array =>
  actionRequest(instance, action, { functionTag: UPDATE_FUNCTION, result })

interface Rest {
  readonly functionTag: number
  readonly result: Uint8Array | undefined
}

function actionRequest(instance: string, action: Digest, { functionTag, result }: Rest): Uint8Array {
  const name = Buffer.from(instance)
  const list = digestListOf(action.fn, [action])
  const length = digestLength(list, 0)
  const resultLength = result === undefined ? 0 : fieldLength(result.length)
  const nameLength = name.length === 0 ? 0 : fieldLength(name.length)
  const out = Buffer.allocUnsafe(nameLength + fieldLength(length) + resultLength + 2)
  let at = name.length === 0 ? 0 : putField(out, 0, INSTANCE, name)
  at = putHead(out, at, ACTION, length)
  at = putDigest(out, at, list, 0)
  if (result !== undefined) at = putField(out, at, RESULT, result)
  out[at] = functionTag
  out[at + 1] = DIGEST_FUNCTIONS[action.fn].number
  return out
}
