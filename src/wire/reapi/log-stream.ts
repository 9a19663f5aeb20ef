import { invalid } from '../../base/fault.ts'
import { type InstanceName, instanceNameProblem } from '../../model/instance-name.ts'
import * as proto from '../gen/build/bazel/remote/logstream/v1/remote_logstream.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'

/** A log that somebody writes and others read. */
export interface LogStreamNames {
  readonly name: string
  /** For its writer alone. */
  readonly writeName: string
}

/** The instance that the log is for; some clients put a slash behind it. */
export function createLogStreamFromProto(bytes: Uint8Array): InstanceName {
  const named = { name: 'CreateLogStreamRequest', shape: { 1: 'text' } } as const
  const parent = decodeWellFormed(proto.CreateLogStreamRequest, bytes, named).parent.replace(/\/$/, '')
  const problem = instanceNameProblem(parent)
  if (problem !== undefined) throw invalid(`the parent of a log ${problem}`)
  return parent
}

export const createLogStreamToProto = (parent: InstanceName): Uint8Array =>
  proto.CreateLogStreamRequest.encode({ parent }).finish()

export const logStreamToProto = ({ name, writeName }: LogStreamNames): Uint8Array =>
  proto.LogStream.encode({ name, writeResourceName: writeName }).finish()

export function logStreamFromProto(bytes: Uint8Array): LogStreamNames {
  const { name, writeResourceName } = proto.LogStream.decode(bytes)
  return { name, writeName: writeResourceName }
}
