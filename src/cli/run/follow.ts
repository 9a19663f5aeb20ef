import { pause, systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { version } from '../../app/process/version.ts'
import type { Digest } from '../../base/digest.ts'
import { executionClient } from '../../client/execution/execution-client.ts'
import { gridClient } from '../../client/execution/grid-client.ts'
import type { LiveOutput } from '../../client/execution/live-output.ts'
import { showLive, type TailOptions } from '../../client/execution/output-tail.ts'
import { type ActionEnd, actionEnd, callEnd, type PreparedAction } from '../../client/execution/run-action.ts'
import type { StatusLine } from '../output/progress.ts'
import { quietText } from '../output/table.ts'
import type { Session } from '../session/cas-session.ts'
import { priorityOf, type RunOptions } from './action-request.ts'

/** How long the live view may take to end after the operation has ended. */
const TAIL_MS = 500
/** After this time the reason for waiting is shown. */
const WAITING_MS = 2_000

export interface Following {
  readonly session: Session
  readonly options: RunOptions
  readonly terminal: Terminal
  readonly line: StatusLine
  /** Undefined without a live view. */
  readonly output: LiveOutput | undefined
}

export interface Followed {
  readonly action: Digest
  readonly end: ActionEnd
  /** The operation's name; undefined when it was refused before it had one. */
  readonly operation: string | undefined
  readonly worker: string | undefined
}

/** Executes an action and shows its output. Cancels it when the user interrupts. */
export async function follow({ actionDigest }: PreparedAction, following: Following): Promise<Followed> {
  const { session, options, terminal, output } = following
  const stop = new AbortController()
  const gone = new AbortController()
  const signal = AbortSignal.any([session.signal, stop.signal])
  const client = clientFor(following, AbortSignal.any([session.signal, gone.signal]))
  const at: { operation?: string; worker?: string; isWaiting: boolean } = { isWaiting: false }
  let end: ActionEnd | undefined
  let live: Promise<void> | undefined
  try {
    for await (const update of client.execute(requestFor(actionDigest, options))) {
      at.operation = update.name
      at.worker = update.partial?.worker || at.worker || ''
      at.isWaiting = update.stage === 'queued'
      if (update.response !== undefined) end = actionEnd(update.response, actionDigest)
      else if (live === undefined) {
        void reportWaiting(update.name, () => at.isWaiting, { ...following, signal })
        live = shown({ ...session, operation: update.name, streams: update.streams, pause: idle, signal }, output, gone)
      }
    }
  } catch (error) {
    end = callEnd(error)
    if (end === undefined) {
      stop.abort()
      if (at.operation !== undefined) await cancel(client, at.operation, terminal)
      throw gone.signal.aborted ? new OutputClosed() : error
    }
  }
  // The live view has the output of both streams in order, so it gets a moment to finish.
  await Promise.race([live, idle(TAIL_MS)])
  stop.abort()
  await live
  if (end === undefined) throw new Error('the operation ended without a result')
  return { action: actionDigest, end, operation: at.operation, worker: at.worker || undefined }
}

const requestFor = (actionDigest: PreparedAction['actionDigest'], options: RunOptions) => ({
  instance: options.instance,
  actionDigest,
  skipCacheLookup: !options.cache,
  priority: priorityOf(options),
  cachePriority: 0,
  inline: { inlineStdout: true, inlineStderr: true, inlineOutputFiles: [] },
})

async function shown(
  tail: Omit<TailOptions, 'output'>,
  output: LiveOutput | undefined,
  gone: AbortController,
): Promise<void> {
  if (output === undefined) return
  await showLive({ ...tail, output })
  if (output.isLeft) gone.abort()
}

/** Thrown when standard output was closed, as by `head`. */
export class OutputClosed extends Error {}

const clientFor = ({ session, terminal, line }: Following, signal: AbortSignal) =>
  executionClient({
    rpcs: session.rpcs,
    about: {
      toolName: 'windlass',
      toolVersion: version(),
      actionId: '',
      toolInvocationId: session.newId(),
      correlatedInvocationsId: '',
      actionMnemonic: 'run',
      targetId: '',
      configurationId: '',
    },
    monotonic: systemClock.monotonic,
    pause,
    signal,
    dropped({ message }) {
      line.clear()
      terminal.err(`windlass: ${quietText(message)}; trying again\n`)
    },
  })

async function cancel(client: ReturnType<typeof clientFor>, operation: string, terminal: Terminal): Promise<void> {
  await client.cancel(operation).then(
    () => terminal.err(`windlass: cancelled ${quietText(operation)}\n`),
    () =>
      terminal.err(
        `windlass: ${quietText(operation)} could not be cancelled; it ends by itself when no client waits\n`,
      ),
  )
}

/** Unlike `pause`, it does not keep the process alive. */
const idle = (ms: number): Promise<void> => new Promise((resolve) => void systemClock.after(ms, resolve))

interface WaitReporting extends Following {
  readonly signal: AbortSignal
}

/**
 * On a terminal it is a status line; elsewhere each reason is printed once, because some count down seconds. Other
 * servers do not report it, and then nothing is printed.
 */
async function reportWaiting(operation: string, isWaiting: () => boolean, reporting: WaitReporting): Promise<void> {
  const { session, terminal, line, signal, options } = reporting
  const grid = gridClient(session.rpcs, signal)
  const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  let printed = ''
  while (!signal.aborted && !options.json) {
    await Promise.race([idle(WAITING_MS), left])
    if (!isWaiting()) continue
    const reasons = await grid.why(operation).catch(() => undefined)
    if (reasons === undefined) return
    const text = `windlass: waiting: ${reasons
      .map(quietText)
      .join('; ')
      .replace(/^waiting: /, '')}`
    const kind = text.replace(/\d+/g, '')
    if (!isWaiting()) continue
    if (terminal.errIsTerminal) line.show(() => text)
    else if (kind !== printed) terminal.err(`${text}\n`)
    printed = kind
  }
}
