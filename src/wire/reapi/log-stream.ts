import { invalid } from '../../base/fault.ts'
import { type InstanceName, instanceNameProblem } from '../../model/instance-name.ts'
import * as proto from '../gen/build/bazel/remote/logstream/v1/remote_logstream.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'

/** A log that one client writes and other clients read. */
export interface LogStreamNames {
  readonly name: string
  /** Only the writer has this name. */
  readonly writeName: string
}

/** The instance of the log; some clients append a slash to it. */
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
