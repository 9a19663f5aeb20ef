import { basename } from 'node:path/posix'
import { FaultError } from '../../../base/fault.ts'
import type { TaskLease } from '../../../engine/workers/worker-session.ts'
import type { EnvVariable, InlineFile, Limits } from '../../../model/command.ts'
import { COMMAND_ORIGINS, type CommandTask } from '../../../model/command-task.ts'
import type { InstanceName } from '../../../model/instance-name.ts'
import { commandTaskFromProto } from '../../../wire/tasks/command-task.ts'
import type { ContainerRuntime } from '../../../wire/workers/json/registration.ts'

/** The data of a task that the door needs to build the result of a worker that reads no specs. */
export interface GivenPlainTask {
  readonly instance: InstanceName
  readonly fn: CommandTask['fn']
  readonly stage: string
  readonly outputs: CommandTask['outputs']
  /** Milliseconds since 1970: when the task was sent, and when its worker started it. */
  readonly givenAt: number
  startedAt: number | undefined
}

export interface PlainTask {
  readonly json: object
  readonly given: GivenPlainTask
}

interface Receiver {
  readonly worker: string
  readonly runtime: ContainerRuntime
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Encodes a task for a worker that implements only the published description of the protocol. */
export function plainTask(lease: TaskLease, { worker, runtime, now }: Receiver): PlainTask {
  const { attemptId, operation, origin, instance, attempt, queuedAt } = lease
  const task = plainOf(lease)
  const [stage, ...more] = task.stages
  if (stage === undefined || more.length > 0 || stage.stdin !== undefined) throw unreadable('it is not a plain command')
  if (task.image !== undefined && runtime === 'none') throw unreadable('it needs a container')
  if (task.inputs.root !== undefined || task.inputs.placed.length > 0) throw unreadable('it reads from the store')
  const json = {
    id: attemptId,
    submission_id: operation,
    step_id: origin,
    state: 'RUNNING',
    executor_type: 'worker',
    external_id: worker,
    inputs: {
      // Generated names: a client's file named _base_command must not become the command.
      ...Object.fromEntries(task.inputs.files.map((file, index) => [`file_${index + 1}`, fileLiteral(file)])),
      _base_command: stage.argv,
      _output_globs: [...task.outputs.paths.map(literally), ...task.outputs.globs],
      ...(task.image !== undefined && { _docker_image: task.image }),
      ...(stage.env.length > 0 && { _env: tableOf(stage.env) }),
      ...(task.workingDirectory !== '' && { _working_directory: task.workingDirectory }),
      ...(lease.timeoutMs !== undefined && { _timeout_seconds: lease.timeoutMs / 1000 }),
      ...(Object.keys(stage.limits).length > 0 && { _limits: limitsJson(stage.limits) }),
      _network: stage.network,
    },
    retry_count: attempt - 1,
    created_at: new Date(queuedAt).toISOString(),
    started_at: new Date(now).toISOString(),
    lease_expires_at: new Date(lease.expiresAt).toISOString(),
  }
  const { fn, outputs } = task
  return { json, given: { instance, fn, stage: stage.name, outputs, givenAt: now, startedAt: undefined } }
}

function plainOf({ origin, spec }: TaskLease): CommandTask {
  if (!COMMAND_ORIGINS.some((one) => one === origin)) throw unreadable(`it comes from ${origin.slice(0, 100)}`)
  return commandTaskFromProto(spec)
}

/** The scheduler does not assign such tasks to the worker. If it happens, another worker is tried. */
const unreadable = (why: string): FaultError =>
  new FaultError({ kind: 'unavailable', what: `a worker that was given it over HTTP cannot run it: ${why}` })

function fileLiteral({ path, contents, executable }: InlineFile): object {
  const bytes = Buffer.from(contents.buffer, contents.byteOffset, contents.length)
  const text = bytes.toString()
  const isText = Buffer.from(text).equals(bytes)
  return {
    class: 'File',
    basename: basename(path),
    path,
    ...(isText ? { contents: text } : { contents: bytes.toString('base64'), encoding: 'base64' }),
    ...(executable && { executable }),
  }
}

/** Escapes a path, so that the pattern matches only this path. */
const literally = (path: string): string => path.replace(/[*?[]/g, (sign) => `[${sign}]`)

const tableOf = (env: readonly EnvVariable[]): object => Object.fromEntries(env.map(({ name, value }) => [name, value]))

/** Converts names to snake case: `wallMs` becomes `wall_ms`. */
const limitsJson = (limits: Limits): object =>
  Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  )
