import type { OperationStatus } from '../../src/engine/tasks/status.ts'
import type { TaskRequest } from '../../src/engine/tasks/task-request.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import {
  type CommandResult,
  type CommandTaskSpec,
  commandTaskOf,
  type StageResult,
  type StageSpec,
} from '../../src/model/command-task.ts'
import { commandResultOf, commandTaskRequest } from '../../src/services/execution/task-request.ts'
import type { TestGrid } from '../workers/grid.ts'

export const submitCommand = (
  { engine }: TestGrid,
  options: CommandTaskSpec,
  rest: Partial<TaskRequest> = {},
): Promise<OperationStatus> =>
  engine.submit(LOCAL_CALLER, commandTaskRequest(commandTaskOf(options), { instance: '', ...rest, origin: 'snippet' }))

/** Submits a command and waits for its end. */
export async function runCommand(grid: TestGrid, options: CommandTaskSpec, rest: Partial<TaskRequest> = {}) {
  const { operation } = await submitCommand(grid, options, rest)
  return ended(await grid.end(operation))
}

export function ended(status: OperationStatus) {
  const result = commandResultOf(status)
  if (result === undefined) throw new Error(`no result: ${status.state}, ${status.end?.what}`)
  return { status, result }
}

const PATH = { name: 'PATH', value: '/usr/bin:/bin' }

export const sh = (script: string, more: Partial<StageSpec> = {}): StageSpec => ({
  name: 'run',
  argv: ['/bin/sh', '-c', script],
  env: [PATH],
  ...more,
})

export const gcc = (...args: readonly string[]): StageSpec => ({
  name: 'compile',
  argv: ['gcc', '-O1', '-o', 'program', ...args],
  env: [PATH],
})

export const fileOf = (path: string, text: string, executable = false) => ({
  path,
  contents: Buffer.from(text),
  executable,
})

export function stageOf({ stages }: CommandResult, name = 'run'): StageResult {
  const stage = stages.find((one) => one.name === name)
  if (stage === undefined) throw new Error(`the stage ${name} was not run`)
  return stage
}

export const textOf = ({ inline }: StageResult['stdout']): string => Buffer.from(inline ?? []).toString()
