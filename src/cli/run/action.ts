import { systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { FaultError } from '../../base/fault.ts'
import { type CasClient, casClient } from '../../client/cas/cas-client.ts'
import { ServerFault } from '../../client/connection/server-fault.ts'
import { LiveOutput, type Stream } from '../../client/execution/live-output.ts'
import {
  type ActionEnd,
  type ActionRunOptions,
  type PreparedAction,
  prepareAction,
} from '../../client/execution/run-action.ts'
import { changedOnly } from '../../client/trees/changed-only.ts'
import { downloadOutputs } from '../../client/trees/result-outputs.ts'
import type { ActionResult } from '../../model/action-result.ts'
import { type StatusLine, statusLine, type TransferTally, transferTally } from '../output/progress.ts'
import { STDIO, type Stdio } from '../output/run-stdio.ts'
import { Spool } from '../output/spool.ts'
import { standardInput } from '../output/stdio.ts'
import { streamPieces } from '../output/streams.ts'
import { quietText } from '../output/table.ts'
import { treeLimits } from '../output/text.ts'
import { type Session, withServer } from '../session/cas-session.ts'
import { ExitRequest } from '../session/verdict.ts'
import { actionRequest, priorityOf, type RunOptions } from './action-request.ts'
import { runEndText } from './end-text.ts'
import { type Followed, follow, OutputClosed } from './follow.ts'
import { runJson } from './json.ts'

const EXIT = { timeout: 124, notRun: 125, closedPipe: 141 } as const

/** A parent process may leave a pipe open and never write to it. */
const PATIENCE_MS = 5_000
const WAITS_FOR_INPUT = 'windlass: reading standard input until it ends; --no-stdin runs the command without it\n'

export interface CommandStdio {
  readonly terminal: Terminal
  readonly stdio?: Stdio
}

export async function runOnGrid(
  argv: readonly string[],
  options: RunOptions,
  { terminal, stdio = STDIO }: CommandStdio,
): Promise<void> {
  const order = actionRequest(argv, options)
  // Errors in these are reported before anything is sent.
  priorityOf(options)
  treeLimits(options)
  const spool = new Spool()
  const code = await withServer(options, terminal, async (session) => {
    const stdin = await standardInputOf(options, terminal, spool)
    return await runAction({ ...order, stdin }, { options, terminal, stdio, session })
  })
    .catch((error: unknown) => notRun(error, options, terminal))
    .finally(() => spool.remove())
  if (code !== 0) throw new ExitRequest(code)
}

/** Undefined when empty: a command with an empty input has none. */
async function standardInputOf(options: RunOptions, { inIsPiped, err }: Terminal, spool: Spool) {
  if (!options.stdin || inIsPiped !== true) return undefined
  const cancel = systemClock.after(PATIENCE_MS, () => err(WAITS_FOR_INPUT))
  const blob = await spool.take(standardInput(), options.digestFunction).finally(cancel)
  return blob.digest.size === 0 ? undefined : blob
}

interface Running {
  readonly options: RunOptions
  readonly terminal: Terminal
  readonly stdio: Stdio
  readonly session: Session
}

async function runAction(order: ActionRunOptions, running: Running): Promise<number> {
  const { options, terminal, session } = running
  const line = statusLine(terminal, systemClock)
  const meter = transferTally(line)
  const client = casClient({ ...session, instance: options.instance, fn: options.digestFunction })
  const output = options.json ? undefined : new LiveOutput(screenOf(running, line))
  const parts: Parts = { ...running, order, client, line, meter, output }
  try {
    const { prepared, followed } = await execute(parts)
    line.clear()
    return await settle(followed, prepared, parts)
  } finally {
    line.clear()
  }
}

interface Parts extends Running {
  readonly order: ActionRunOptions
  readonly client: CasClient
  readonly line: StatusLine
  readonly meter: TransferTally
  readonly output: LiveOutput | undefined
}

const screenOf = ({ stdio, terminal }: Running, line: StatusLine) => ({
  write(stream: Stream, bytes: Uint8Array) {
    line.clear()
    return stdio[stream](bytes)
  },
  differs: (stream: Stream) =>
    terminal.err(
      `windlass: what was shown of ${stream} is not the result's, as of an attempt that was lost; all follows\n`,
    ),
})

/** A cache may evict uploaded blobs before they are needed: then everything is uploaded once more. */
async function execute(parts: Parts): Promise<{ prepared: PreparedAction; followed: Followed }> {
  for (let isLast = false; ; isLast = true) {
    const prepared = await prepareAction(parts.order, parts)
    parts.line.clear()
    const followed = await follow(prepared, parts)
    if (followed.end.kind !== 'missing' || isLast) return { prepared, followed }
  }
}

/** Shows and fetches the results, and returns the exit code. */
async function settle(followed: Followed, prepared: PreparedAction, parts: Parts): Promise<number> {
  const { end } = followed
  const { options, terminal, client, output, meter } = parts
  const result = 'result' in end ? end.result : undefined
  if (result !== undefined && output !== undefined)
    for (const stream of ['stdout', 'stderr'] as const)
      await output.finish(stream, () => streamPieces(client, result[stream]))
  if (output?.isLeft) throw new OutputClosed()
  if (end.kind === 'result') await fetchOutputs(end.result, prepared, parts)
  if (options.json) terminal.out(await runJson(followed, client, meter))
  else terminal.err(runEndText(followed, { forPeople: terminal.errIsTerminal }))
  return exitCode(end)
}

async function fetchOutputs(result: ActionResult, { inputs }: PreparedAction, parts: Parts): Promise<void> {
  const { order, options, client, session, meter, terminal, line } = parts
  if (options.output === undefined) return
  const requested = new Set(order.outputPaths)
  const came = await downloadOutputs(client, {
    result,
    requested,
    into: options.output,
    trim: changedOnly(inputs.directories),
    unsafeLinks: options.unsafeLinks === true,
    limits: treeLimits(options),
    newId: session.newId,
    meter,
  })
  line.clear()
  for (const path of requested)
    if (!came.has(path)) terminal.err(`windlass: the command did not make ${quietText(path || 'anything')}\n`)
}

function exitCode(end: ActionEnd): number {
  if (end.kind === 'timeout') return EXIT.timeout
  if (end.kind !== 'result') return EXIT.notRun
  const { exitCode: code } = end.result
  // Some servers report -9 for a command that a signal ended, where a shell reports 137.
  if (code < 0) return 128 + (-code % 128)
  return code > 255 ? 1 : code
}

/** A failure of the grid must not look like one of the command. */
function notRun(error: unknown, options: RunOptions, { err }: Terminal): number {
  if (error instanceof OutputClosed) return EXIT.closedPipe
  if (!(error instanceof FaultError) || error.fault.kind === 'invalid' || options.verbose) throw error
  for (const text of error.message.split('\n')) err(`windlass: ${quietText(text)}\n`)
  if (error instanceof ServerFault && error.server === 'unreached')
    err('windlass: "windlass up" starts one with a worker\n')
  return EXIT.notRun
}
