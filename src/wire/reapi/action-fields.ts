import type { Digest } from '../../base/digest.ts'
import type { EnvVariable, PlatformProperty } from '../../model/command.ts'
import { digestToProto } from '../digests/digest.ts'
import { Action, Command } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { durationToProto } from '../google/time.ts'

/**
 * The fields of a Command that our clients set. They are sorted as REAPI demands, so that equal commands are equal
 * bytes.
 */
export interface CommandFields {
  readonly argv: readonly string[]
  readonly env: readonly EnvVariable[]
  /** Relative to the working directory, which is the root of the inputs. */
  readonly outputPaths: readonly string[]
  readonly platform: readonly PlatformProperty[]
}

export interface ActionFields {
  readonly commandDigest: Digest
  readonly inputRootDigest: Digest
  readonly timeoutMs: number | undefined
  readonly doNotCache: boolean
  readonly platform: readonly PlatformProperty[]
}

export const commandFieldsToProto = ({ argv, env, outputPaths, platform }: CommandFields): Uint8Array =>
  Command.encode({
    arguments: argv,
    environmentVariables: env.toSorted((one, other) => inOrder(one.name, other.name)),
    outputFiles: [],
    outputDirectories: [],
    outputPaths: outputPaths.toSorted(inOrder),
    platform: platformOf(platform),
    workingDirectory: '',
    outputNodeProperties: [],
    outputDirectoryFormat: 0,
  }).finish()

export const actionFieldsToProto = (fields: ActionFields): Uint8Array =>
  Action.encode({
    commandDigest: digestToProto(fields.commandDigest),
    inputRootDigest: digestToProto(fields.inputRootDigest),
    timeout: fields.timeoutMs === undefined ? undefined : durationToProto(fields.timeoutMs),
    doNotCache: fields.doNotCache,
    salt: new Uint8Array(),
    platform: platformOf(fields.platform),
  }).finish()

/** The platform is set in the command as well as in the action: servers before REAPI 2.2 read it from the command. */
const platformOf = (platform: readonly PlatformProperty[]) =>
  platform.length === 0
    ? undefined
    : {
        properties: platform.toSorted((one, other) => inOrder(one.name, other.name) || inOrder(one.value, other.value)),
      }

/** Sorts by UTF-16 code unit. For characters up to U+FFFF this is the order that REAPI requires. */
const inOrder = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
