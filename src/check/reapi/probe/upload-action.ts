import {
  Action,
  Command,
  type DeepPartial,
  type Digest,
  Directory,
  type Platform,
  type Platform_Property,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Random } from '../../random.ts'
import type { Blob } from './blob.ts'
import type { TestAction } from './executions.ts'

export interface UploadTools {
  readonly random: Random
  readonly blobOf: (bytes: Uint8Array) => Blob
  readonly put: (blob: Blob) => Promise<Blob>
  /** Platform properties of all commands, so that the server's workers accept them. */
  readonly platform: readonly Platform_Property[]
}

/** Enough for a shell and its tools, wherever they are. */
export const PATH = { name: 'PATH', value: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' }

/** Servers ask for properties in order. */
const ordered = (properties: readonly Platform_Property[]): Platform => ({
  properties: properties.toSorted(
    (one, other) => compare(one.name, other.name) || compare(one.value, other.value),
  ) as Platform_Property[],
})

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other)

/** Uploads a command, its inputs and the action; the random salt makes the action new. */
export const uploadAction =
  ({ random, blobOf, put, platform }: UploadTools) =>
  async ({ script = ':', args = [], command, action, root }: TestAction): Promise<Digest> => {
    const where = ordered(platform)
    const commandParts: DeepPartial<Command> = {
      arguments: ['/bin/sh', '-c', script, 'sh', ...args],
      environmentVariables: [PATH],
      platform: where,
      ...command,
    }
    const commandBlob = blobOf(Command.encode(Command.fromPartial(commandParts)).finish())
    const rootBlob = blobOf(Directory.encode(Directory.fromPartial(root ?? {})).finish())
    const actionParts: DeepPartial<Action> = {
      commandDigest: commandBlob.digest,
      inputRootDigest: rootBlob.digest,
      salt: random.bytes(8),
      platform: where,
      ...action,
    }
    const actionBlob = blobOf(Action.encode(Action.fromPartial(actionParts)).finish())
    await Promise.all([commandBlob, rootBlob, actionBlob].map(put))
    return actionBlob.digest
  }
