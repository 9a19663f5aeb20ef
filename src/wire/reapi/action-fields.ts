import type { Digest } from '../../base/digest.ts'
import type { EnvVariable, PlatformProperty } from '../../model/command.ts'
import { digestToProto } from '../digests/digest.ts'
import { Action, Command } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { durationToProto } from '../google/duration.ts'

/** What a client of ours wants to have run. The same order is the same bytes: everything is sorted as the API asks. */
export interface CommandFields {
  readonly argv: readonly string[]
  readonly env: readonly EnvVariable[]
  /** From the working directory, which is the root of the inputs. */
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

export const actionFieldsToProto = (order: ActionFields): Uint8Array =>
  Action.encode({
    commandDigest: digestToProto(order.commandDigest),
    inputRootDigest: digestToProto(order.inputRootDigest),
    timeout: order.timeoutMs === undefined ? undefined : durationToProto(order.timeoutMs),
    doNotCache: order.doNotCache,
    salt: new Uint8Array(),
    platform: platformOf(order.platform),
  }).finish()

/** In the command as well as in the action: servers before 2.2 look there. */
const platformOf = (platform: readonly PlatformProperty[]) =>
  platform.length === 0
    ? undefined
    : {
        properties: platform.toSorted((one, other) => inOrder(one.name, other.name) || inOrder(one.value, other.value)),
      }

/** By code unit, which is what the API means by order for all but the rarest characters, and not by language. */
const inOrder = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
