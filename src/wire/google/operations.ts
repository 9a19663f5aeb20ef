import { invalid } from '../../base/fault.ts'
import { type InstanceName, instanceNameProblem } from '../../model/instance-name.ts'
import * as proto from '../gen/google/longrunning/operations.ts'
import { fieldLength, putField } from '../messages/message-writer.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'
import { durationFromProto } from './duration.ts'

/** What clients know an operation by: `[instance/]operations/id`. */
export interface OperationName {
  readonly instance: InstanceName
  readonly id: string
}

const COLLECTION = 'operations'

export const formatOperationName = ({ instance, id }: OperationName): string =>
  instance === '' ? `${COLLECTION}/${id}` : `${instance}/${COLLECTION}/${id}`

/** Undefined for what is no such name, and so the name of nothing. */
export function parseOperationName(name: string): OperationName | undefined {
  const segments = name.split('/')
  const id = segments.pop() ?? ''
  if (id === '' || segments.pop() !== COLLECTION) return undefined
  const instance = segments.join('/')
  return instanceNameProblem(instance) === undefined ? { instance, id } : undefined
}

/** Decodes a request that holds only an operation name: Get, Cancel and Delete. */
export const operationRequestFromProto = (bytes: Uint8Array): string =>
  decodeWellFormed(proto.GetOperationRequest, bytes, { name: 'request for an operation', shape: { 1: 'text' } }).name

export interface WaitOperationRequest {
  readonly name: string
  /** Undefined when the client waits for as long as we let it. */
  readonly timeoutMs: number | undefined
}

export function waitOperationRequestFromProto(bytes: Uint8Array): WaitOperationRequest {
  const shape = { 1: 'text', 2: { 1: 'number', 2: 'number' } } as const
  const { name, timeout } = decodeWellFormed(proto.WaitOperationRequest, bytes, { name: 'WaitOperationRequest', shape })
  return { name, timeoutMs: timeout && Math.max(0, durationFromProto(timeout)) }
}

export interface ListOperationsRequest {
  readonly instance: InstanceName
  /** 0 for as many as we like. */
  readonly pageSize: number
  /** Where the last page ended; undefined for the first. */
  readonly pageToken: string | undefined
}

/** The parent is an instance, with or without the name of the collection behind it. */
export function listOperationsRequestFromProto(bytes: Uint8Array): ListOperationsRequest {
  const shape = { 1: 'text', 2: 'number', 3: 'text', 4: 'text', 5: 'number' } as const
  const from = decodeWellFormed(proto.ListOperationsRequest, bytes, { name: 'ListOperationsRequest', shape })
  if (from.filter !== '') throw invalid('operations cannot be filtered but by their instance', 'unsupported')
  if (from.pageSize < 0) throw invalid('page_size is negative')
  const parent = from.name.replace(/\/$/, '')
  const instance = parent === COLLECTION ? '' : parent.replace(/\/operations$/, '')
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
