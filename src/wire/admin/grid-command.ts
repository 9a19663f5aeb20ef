import { Command } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'

/** The program and its arguments of a serialised Command, for lists of tasks. */
export const argvFromProto = (bytes: Uint8Array): readonly string[] =>
  decodeWellFormed(Command, bytes, { name: 'Command', shape: { 1: 'text' } }).arguments
