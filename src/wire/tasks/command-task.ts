import type { Digest, DigestFunction } from '../../base/digest.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { Limits } from '../../model/command.ts'
import { type CommandStage, type CommandTask, type StageInput, SYMLINK_RULES } from '../../model/command-task.ts'
import { ISOLATION_LEVELS } from '../../model/isolation.ts'
import {
  DIGEST_SHAPE,
  digestFromProto,
  digestFunctionNumber,
  digestFunctionOf,
  digestToProto,
  optionalDigestFromProto,
} from '../digests/digest.ts'
import * as proto from '../gen/windlass/task/v1/command.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'
import { MOST_TASK_BYTES, mustBeCommandTask, tooLarge } from './command-task-rules.ts'

/** Equal tasks are equal bytes. Throws `invalid` for a task that no worker can run. */
export function commandTaskToProto(task: CommandTask): Uint8Array {
  mustBeCommandTask(task)
  const { inputs, outputs } = task
  const bytes = proto.CommandTask.encode({
    digestFunction: digestFunctionNumber(task.fn),
    stages: task.stages.map(stageProto),
    inputRoot: inputs.root && digestToProto(inputs.root),
    files: inputs.files,
    placed: inputs.placed.map((file) => ({ ...file, digest: digestToProto(file.digest) })),
    workingDirectory: task.workingDirectory,
    outputs: { ...outputs, symlinks: SYMLINK_RULES.indexOf(outputs.symlinks) as proto.CommandTask_SymlinkRule },
    platform: task.platform,
    image: task.image ?? '',
    isolation: ISOLATION_LEVELS.indexOf(task.isolation) as proto.CommandTask_Isolation,
    cacheable: task.cacheable,
    places: [...(task.places ?? [])],
  }).finish()
  if (bytes.length > MOST_TASK_BYTES) throw tooLarge(bytes.length)
  return bytes
}

export function commandTaskFromProto(bytes: Uint8Array): CommandTask {
  if (bytes.length > MOST_TASK_BYTES) throw tooLarge(bytes.length)
  const from = decodeWellFormed(proto.CommandTask, bytes, { name: 'CommandTask', shape: TASK_SHAPE })
  const { outputs } = from
  const fn = digestFunctionOf(from.digestFunction, 0, 'sha256')
  if (outputs === undefined) throw invalid('a task has no field outputs')
  const task: CommandTask = {
    fn,
    stages: from.stages.map((stage) => stageOf(stage, fn)),
    inputs: {
      root: optionalDigestFromProto(from.inputRoot, fn),
      files: from.files,
      placed: from.placed.map((file) => ({ ...file, digest: digestFromProto(file.digest, fn, 'an input') })),
    },
    workingDirectory: from.workingDirectory,
    outputs: { ...outputs, symlinks: valueAt(SYMLINK_RULES, outputs.symlinks, 'rule for symlinks') },
    platform: from.platform,
    image: from.image === '' ? undefined : from.image,
    isolation: valueAt(ISOLATION_LEVELS, from.isolation, 'isolation'),
    cacheable: from.cacheable,
    ...(from.places.length > 0 && { places: from.places }),
  }
  mustBeCommandTask(task)
  return task
}

const stageProto = ({ stdin, limits, cache, ...stage }: CommandStage): proto.CommandTask_Stage => ({
  ...stage,
  stdin: stdin?.kind === 'inline' ? stdin.bytes : undefined,
  stdinDigest: stdin?.kind === 'blob' ? digestToProto(stdin.digest) : undefined,
  live: stdin?.kind === 'live' ? { terminal: stdin.terminal } : undefined,
  limits: limitsProto(limits),
  cache: cache && { salt: cache.salt, outputs: [...cache.outputs] },
})

function stageOf(from: proto.CommandTask_Stage, fn: DigestFunction): CommandStage {
  const { name, argv, env, network, limits, cache } = from
  const digest = optionalDigestFromProto(from.stdinDigest, fn)
  const common = { name, argv, env, network, stdin: stdinOf(from, digest), limits: limitsOf(limits ?? {}) }
  const { entrypointAt } = from
  return { ...common, ...(cache !== undefined && { cache }), ...(entrypointAt !== undefined && { entrypointAt }) }
}

function stdinOf(
  { stdin: bytes, live }: Pick<proto.CommandTask_Stage, 'stdin' | 'live'>,
  digest: Digest | undefined,
): StageInput | undefined {
  if ([bytes, digest, live].filter((one) => one !== undefined).length > 1)
    throw invalid('a stage has more than one standard input')
  if (bytes !== undefined) return { kind: 'inline', bytes }
  if (live !== undefined) return { kind: 'live', terminal: live.terminal }
  return digest && { kind: 'blob', digest }
}

function limitsProto({ cpus, ...limits }: Limits): proto.CommandTask_Limits {
  return { ...limits, ...(cpus !== undefined && { cpuMillis: Math.round(cpus * 1000) }) }
}

function limitsOf({ cpuMillis, ...from }: proto.CommandTask_Limits): Limits {
  const set = Object.entries(from).filter(([, amount]) => amount !== undefined)
  return { ...Object.fromEntries(set), ...(cpuMillis !== undefined && { cpus: cpuMillis / 1000 }) }
}

/** Throws for an unknown enum value: it may require an isolation that this version cannot provide. */
function valueAt<T>(values: readonly T[], number: number, what: string): T {
  const value = values[number]
  if (value === undefined)
    throw new FaultError({
      kind: 'invalid',
      what: `number ${number} is not a known ${what}`,
      why: 'unsupported',
    })
  return value
}

const VARIABLE_SHAPE: Shape = { 1: 'text', 2: 'text' }
const NUMBERS: Shape = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [i + 1, 'number' as const]))
const LIVE_SHAPE: Shape = { 1: { 1: 'number', 2: 'number' } }
const CACHE_SHAPE: Shape = { 1: 'text', 2: 'text' }
const TASK_SHAPE: Shape = {
  1: 'number',
  2: {
    1: 'text',
    2: 'text',
    3: VARIABLE_SHAPE,
    4: 'bytes',
    5: DIGEST_SHAPE,
    6: NUMBERS,
    7: 'number',
    8: LIVE_SHAPE,
    9: CACHE_SHAPE,
    10: 'number',
  },
  3: DIGEST_SHAPE,
  4: { 1: 'text', 2: 'bytes', 3: 'number' },
  5: { 1: 'text', 2: DIGEST_SHAPE, 3: 'number', 4: 'number' },
  6: 'text',
  7: { 1: 'text', 2: 'text', 3: 'number', 4: 'number', 5: 'number' },
  8: VARIABLE_SHAPE,
  9: 'text',
  10: 'number',
  11: 'number',
  12: { 1: 'text', 2: 'text', 3: 'number' },
}
