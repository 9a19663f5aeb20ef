import type { Digest } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { sha256Unnamed, type UnnamedFunction } from '../digests/digest.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { PendingDigest } from './digest-reader.ts'

/**
 * The requests of the action cache. A build looks up each of its actions once, and most have no result. A result that a
 * client uploads stays the bytes that it sent: action-result.ts reads them and inserts fields.
 */
export interface GetActionResultRequest {
  readonly instance: string
  readonly actionDigest: Digest
  readonly inlineStdout: boolean
  readonly inlineStderr: boolean
  /** Paths, as they are in the result. */
  readonly inlineOutputFiles: readonly string[]
}

export function readGetActionResultRequest(
  bytes: Uint8Array,
  unnamed: UnnamedFunction = sha256Unnamed,
): GetActionResultRequest {
  const reader = new MessageReader(bytes, 'GetActionResultRequest')
  const digest = new PendingDigest()
  const inlineOutputFiles: string[] = []
  let instance = ''
  let inlineStdout = false
  let inlineStderr = false
  let number = 0
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        instance = reader.instance()
        break
      case 2:
        digest.merge(reader)
        break
      case 3:
        inlineStdout = reader.bool()
        break
      case 4:
        inlineStderr = reader.bool()
        break
      case 5:
        inlineOutputFiles.push(reader.text())
        break
      case 6:
        number = reader.int32()
        break
      default:
        reader.skip()
    }
  }
  const actionDigest = digest.digest(reader, number, unnamed(instance))
  return { instance, actionDigest, inlineStdout, inlineStderr, inlineOutputFiles }
}

export interface UpdateActionResultRequest {
  readonly instance: string
  readonly actionDigest: Digest
  /** The ActionResult message, a view into the request. */
  readonly result: Uint8Array
  /** How long the cache should keep the result: a lower number means longer. */
  readonly priority: number
}

export function readUpdateActionResultRequest(
  bytes: Uint8Array,
  unnamed: UnnamedFunction = sha256Unnamed,
): UpdateActionResultRequest {
  const reader = new MessageReader(bytes, 'UpdateActionResultRequest')
  const digest = new PendingDigest()
  const results: Uint8Array[] = []
  let instance = ''
  let priority = 0
  let number = 0
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        instance = reader.instance()
        break
      case 2:
        digest.merge(reader)
        break
      case 3:
        results.push(reader.view())
        break
      case 4:
        priority = readPriority(reader, priority)
        break
      case 5:
        number = reader.int32()
        break
      default:
        reader.skip()
    }
  }
  const actionDigest = digest.digest(reader, number, unnamed(instance))
  const [first] = results
  if (first === undefined) throw invalid('there is no action_result')
  // Protobuf merges a message field that occurs twice; concatenating the bytes does the same.
  return { instance, actionDigest, result: results.length > 1 ? Buffer.concat(results) : first, priority }
}

function readPriority(reader: MessageReader, before: number): number {
  let priority = before
  const outer = reader.enter()
  while (reader.next()) {
    if (reader.field === 1) priority = reader.int32()
    else reader.skip()
  }
  reader.leave(outer)
  return priority
}
