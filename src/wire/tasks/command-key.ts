import type { Digest, DigestFunction } from '../../base/digest.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { actionKeyOf, actionOfKey } from './action-key.ts'
import { commandTaskToProto } from './command-task.ts'

/** No digest function has this name, so no key of an action begins like it. */
const PREFIX = 'command:'

/**
 * Two command tasks of one instance are the same task when their keys are equal. The key covers the encoded task and
 * the values that the door adds because they change the result, such as the version of a compiler. The key is never
 * used in the action cache that clients write to, because any client that has the task can compute it.
 */
export function commandKeyOf(spec: Uint8Array, fn: DigestFunction, salt = ''): string {
  const whole = Buffer.concat([Buffer.from(`\0windlass command\0${salt}\0`), spec])
  return PREFIX + actionKeyOf(digestOf(fn, whole))
}

/** Undefined for a key of another kind. */
export const commandOfKey = (key: string): Digest | undefined =>
  key.startsWith(PREFIX) ? actionOfKey(key.slice(PREFIX.length)) : undefined

const NO_OUTPUTS = { paths: [], globs: [], mostFiles: 0, mostBytes: 0, symlinks: 'refuse' } as const

/**
 * Names the result of a task's first stage under the given conditions. The name covers the command, the environment and
 * all inputs of the stage. It leaves out the limits: a stage that succeeded once did not need higher limits.
 */
export function stageNameOf(task: CommandTask, conditions: string): Digest {
  const [first] = task.stages
  const stages = first && [{ ...first, limits: {}, cache: { salt: '', outputs: first.cache?.outputs ?? [] } }]
  const same: CommandTask = { ...task, stages: stages ?? [], outputs: NO_OUTPUTS, platform: [], isolation: 'none' }
  const head = Buffer.from(`\0windlass stage\0${conditions.length}\0${conditions}\0`)
  return digestOf(task.fn, Buffer.concat([head, commandTaskToProto(same)]))
}
