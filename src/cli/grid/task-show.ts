import { pause, systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { version } from '../../app/process/version.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { casClient } from '../../client/cas/cas-client.ts'
import { executionClient, operationName } from '../../client/execution/execution-client.ts'
import { LiveOutput } from '../../client/execution/live-output.ts'
import { showLive } from '../../client/execution/output-tail.ts'
import { actionEnd } from '../../client/execution/run-action.ts'
import type { TaskView } from '../../model/grid-view.ts'
import { STDIO, type Stdio } from '../output/run-stdio.ts'
import { streamPieces } from '../output/streams.ts'
import { quietText } from '../output/table.ts'
import type { GridOptions } from '../session/grid-flags.ts'
import { type GridSession, jsonLine, withGrid } from '../session/grid-session.ts'
import { taskText } from './task-text.ts'

export interface TaskCommandOptions extends GridOptions {
  readonly logs?: true
  readonly follow?: true
  readonly why?: true
  readonly cancel?: true
}

export interface TaskPlace {
  readonly terminal: Terminal
  readonly stdio?: Stdio
}

export async function runTask(
  id: string,
  options: TaskCommandOptions,
  { terminal, stdio = STDIO }: TaskPlace,
): Promise<void> {
  const { logs, follow, why, cancel, json } = options
  if ([logs, why, cancel].filter(Boolean).length > 1)
    throw invalid('--logs, --why and --cancel cannot be used together')
  if (follow && !logs) throw invalid('--follow needs --logs')
  if (logs && json) throw invalid('--json cannot be used with --logs, which prints the output of the task unchanged')
  await withGrid({ ...options, named: 'tasks' }, terminal, async (session) => {
    const { grid } = session
    if (cancel) return printCancelled(await grid.cancel(id), options, terminal)
    if (logs) return await showLogs(await grid.task(id), { session, options, terminal, stdio })
    const reasons = await grid.why(id)
    if (why) return terminal.out(json ? jsonLine({ reasons }) : reasonsText(reasons))
    const task = await grid.task(id)
    terminal.out(json ? jsonLine({ ...task, reasons }) : taskText(task, reasons, systemClock.now()))
  })
}

const reasonsText = (reasons: readonly string[]): string =>
  reasons.length === 0 ? 'nothing holds it up\n' : reasons.map((reason) => `${quietText(reason)}\n`).join('')

function printCancelled(task: TaskView, { json }: TaskCommandOptions, { out }: Terminal): void {
  const isOver = task.endedAt !== undefined
  if (json) out(jsonLine({ task: task.task, operation: task.operation, cancelled: !isOver, state: task.state }))
  else
    out(isOver ? `${task.task} was over already: ${task.state}\n` : `cancelled ${task.task}, which was ${task.state}\n`)
}

interface Showing {
  readonly session: GridSession
  readonly options: TaskCommandOptions
  readonly terminal: Terminal
  readonly stdio: Stdio
}

async function showLogs(task: TaskView, { session, options, terminal, stdio }: Showing): Promise<void> {
  const output = new LiveOutput({
    write: (stream, bytes) => stdio[stream](bytes),
    differs: (stream) => terminal.err(`windlass: another attempt printed other things; all of ${stream} follows\n`),
  })
  const once = !options.follow
  const { rpcs, signal } = session
  if (task.endedAt === undefined)
    await showLive({ rpcs, operation: task.operation, streams: undefined, output, once, pause, signal })
  if ((once && task.endedAt === undefined) || output.isLeft || signal.aborted) return
  await showResult(task, output, session)
}

/** Output that the live view did not have is in the result. Only actions have a result that is readable here. */
async function showResult(task: TaskView, output: LiveOutput, session: GridSession): Promise<void> {
  if (task.origin !== 'action') return
  const { rpcs, signal, newId } = session
  const { instance } = task
  const about = { toolName: 'windlass', toolVersion: version(), actionId: '', toolInvocationId: '' }
  const client = executionClient({
    rpcs,
    about: { ...about, correlatedInvocationsId: '', actionMnemonic: '', targetId: '', configurationId: '' },
    monotonic: systemClock.monotonic,
    pause,
    signal,
    dropped() {},
  })
  for await (const { response, actionDigest } of client.attach(operationName(instance, task.operation))) {
    if (response === undefined || actionDigest === undefined) continue
    const end = actionEnd(response, actionDigest)
    const result = 'result' in end ? end.result : undefined
    const cas = casClient({ rpcs, instance, fn: actionDigest.fn, newId, signal })
    if (result !== undefined) {
      for (const stream of ['stdout', 'stderr'] as const)
        await output.finish(stream, () => streamPieces(cas, result[stream]))
    } else if (end.kind === 'failed' || end.kind === 'missing')
      throw new FaultError({ kind: 'unavailable', what: `it printed nothing that is kept: ${end.message}` })
  }
}
