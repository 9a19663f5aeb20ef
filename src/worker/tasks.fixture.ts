import { type CommandTask, type CommandTaskSpec, commandTaskOf, type TaskAction } from '../model/command-task.ts'

const digest = { fn: 'sha256', hash: 'a'.repeat(64), size: 1 } as const
const NOTHING = new Uint8Array()

/** The fields of an action that its digest covers, without output lists of older clients. */
const ACTION: TaskAction = {
  digest,
  commandDigest: digest,
  messages: { action: NOTHING, command: NOTHING },
  outputFiles: [],
  outputDirectories: [],
  directoryFormat: 'tree',
  properties: [],
}

export interface ActionOptions extends Partial<Omit<CommandTaskSpec, 'stages' | 'action'>> {
  readonly argv?: readonly string[]
  readonly env?: CommandTask['stages'][number]['env']
  readonly limits?: CommandTask['stages'][number]['limits']
  readonly action?: Partial<TaskAction>
}

/** A task as in the Remote Execution API: one stage, and outputs that only the worker limits. */
export const actionTask = ({
  argv = ['true'],
  env = [],
  limits = {},
  action,
  ...more
}: ActionOptions = {}): CommandTask =>
  commandTaskOf({
    ...more,
    stages: [{ name: 'run', argv, env, limits }],
    outputs: { mostFiles: Number.MAX_SAFE_INTEGER, mostBytes: Number.MAX_SAFE_INTEGER, ...more.outputs },
    action: { ...ACTION, ...action },
  })

/** Outputs by path, or by type as older clients send them. */
export type Wanted =
  | { readonly kind: 'any'; readonly paths: readonly string[] }
  | { readonly kind: 'typed'; readonly files: readonly string[]; readonly directories: readonly string[] }

export const wanting = (wanted: Wanted): ActionOptions =>
  wanted.kind === 'any'
    ? { outputs: { paths: wanted.paths } }
    : { action: { outputFiles: wanted.files, outputDirectories: wanted.directories } }
