import { invalid } from '../../base/fault.ts'
import { type InstanceName, instanceNameProblem } from '../../model/instance-name.ts'
import * as proto from '../gen/google/longrunning/operations.ts'
import { durationFromProto } from '../google/time.ts'
import { fieldLength, putField } from '../messages/message-writer.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'
import { OPERATIONS_SEGMENT } from './operation-name.ts'

/** Decodes a request that holds only an operation name: Get, Cancel and Delete. */
export const operationRequestFromProto = (bytes: Uint8Array): string =>
  decodeWellFormed(proto.GetOperationRequest, bytes, { name: 'request for an operation', shape: { 1: 'text' } }).name

export interface WaitOperationRequest {
  readonly name: string
  /** Undefined when the client sets no limit. */
  readonly timeoutMs: number | undefined
}

export function waitOperationRequestFromProto(bytes: Uint8Array): WaitOperationRequest {
  const shape = { 1: 'text', 2: { 1: 'number', 2: 'number' } } as const
  const { name, timeout } = decodeWellFormed(proto.WaitOperationRequest, bytes, { name: 'WaitOperationRequest', shape })
  return { name, timeoutMs: timeout && Math.max(0, durationFromProto(timeout)) }
}

export interface ListOperationsRequest {
  readonly instance: InstanceName
  /** 0 when the client sets no limit. */
  readonly pageSize: number
  /** Undefined for the first page. */
  readonly pageToken: string | undefined
}

/** The parent is an instance name, with or without `/operations`. */
export function listOperationsRequestFromProto(bytes: Uint8Array): ListOperationsRequest {
  const shape = { 1: 'text', 2: 'number', 3: 'text', 4: 'text', 5: 'number' } as const
  const from = decodeWellFormed(proto.ListOperationsRequest, bytes, { name: 'ListOperationsRequest', shape })
  if (from.filter !== '') throw invalid('operations can be filtered by their instance only', 'unsupported')
  if (from.pageSize < 0) throw invalid('page_size is negative')
  const parent = from.name.replace(/\/$/, '')
  const instance = parent === OPERATIONS_SEGMENT ? '' : parent.replace(/\/operations$/, '')
  const problem = instanceNameProblem(instance)
  if (problem !== undefined) throw invalid(`the instance name ${problem}`)
  return { instance, pageSize: from.pageSize, pageToken: from.pageToken === '' ? undefined : from.pageToken }
}

/** Builds the response from serialised operations. */
export function listOperationsResponse(operations: readonly Uint8Array[], nextPageToken: string): Uint8Array {
  const token = Buffer.from(nextPageToken)
  const length = operations.reduce((sum, one) => sum + fieldLength(one.length), 0)
  const out = Buffer.allocUnsafe(length + (token.length === 0 ? 0 : fieldLength(token.length)))
  let at = 0
  for (const one of operations) at = putField(out, at, 0x0a, one)
  if (token.length > 0) putField(out, at, 0x12, token)
  return out
}
