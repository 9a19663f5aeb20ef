import { pause, systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { version } from '../../app/process/version.ts'
import type { Digest } from '../../base/digest.ts'
import { executionClient } from '../../client/execution/execution-client.ts'
import { gridClient } from '../../client/execution/grid-client.ts'
import type { LiveOutput } from '../../client/execution/live-output.ts'
import { showLive, type TailOptions } from '../../client/execution/output-tail.ts'
import { callEnd, type PreparedAction, type RunEnd, runEnd } from '../../client/execution/run-action.ts'
import type { StatusLine } from '../output/progress.ts'
import { quietText } from '../output/table.ts'
import type { Session } from '../session/cas-session.ts'
import { priorityOf, type RunOptions } from './action-request.ts'

/** How long the live view may take to come to its end, once the operation has. */
const TAIL_MS = 500
/** After so long people want to know what it waits for. */
const WAITING_MS = 2_000

export interface Following {
  readonly session: Session
  readonly options: RunOptions
  readonly terminal: Terminal
  readonly line: StatusLine
  /** Undefined when nobody wants to see it live. */
  readonly output: LiveOutput | undefined
}

export interface Followed {
  readonly action: Digest
  readonly end: RunEnd
  /** As the server knows it; undefined when it was refused before it had a name. */
  readonly operation: string | undefined
  readonly worker: string | undefined
}

/** Has an action executed, and shows what it prints. When the person at the terminal leaves, it is cancelled. */
export async function follow({ actionDigest }: PreparedAction, following: Following): Promise<Followed> {
  const { session, options, terminal, output } = following
  const stop = new AbortController()
  const gone = new AbortController()
  const signal = AbortSignal.any([session.signal, stop.signal])
  const client = clientFor(following, AbortSignal.any([session.signal, gone.signal]))
  const at: { operation?: string; worker?: string; isWaiting: boolean } = { isWaiting: false }
  let end: RunEnd | undefined
  let live: Promise<void> | undefined
  try {
    for await (const told of client.execute(requestFor(actionDigest, options))) {
      at.operation = told.name
      at.worker = told.partial?.worker || at.worker || ''
      at.isWaiting = told.stage === 'queued'
      if (told.response !== undefined) end = runEnd(told.response, actionDigest)
      else if (live === undefined) {
        void tellWhyItWaits(told.name, () => at.isWaiting, { ...following, signal })
        live = shown({ ...session, operation: told.name, streams: told.streams, pause: idle, signal }, output, gone)
      }
    }
  } catch (error) {
    end = callEnd(error)
    if (end === undefined) {
      stop.abort()
      if (at.operation !== undefined) await cancel(client, at.operation, terminal)
      throw gone.signal.aborted ? new NobodyReads() : error
    }
  }
  // What the live view still has of it comes in its own order: that is worth a moment.
  await Promise.race([live, idle(TAIL_MS)])
  stop.abort()
  await live
  if (end === undefined) throw new Error('an operation ended without an end')
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

/** Thrown when standard output was closed on us, as by `head`. */
export class NobodyReads extends Error {}

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
      terminal.err(`windlass: ${quietText(operation)} could not be cancelled; it ends by itself when nobody waits\n`),
  )
}

/** Unlike `pause`, it does not keep the process. */
const idle = (ms: number): Promise<void> => new Promise((resolve) => void systemClock.after(ms, resolve))

interface Telling extends Following {
  readonly signal: AbortSignal
}

/**
 * People see it in a line that is written over; elsewhere each reason is said once, for some count down the seconds.
 * Another server than ours cannot be asked, and then nothing is told.
 */
async function tellWhyItWaits(operation: string, isWaiting: () => boolean, telling: Telling): Promise<void> {
  const { session, terminal, line, signal, options } = telling
  const grid = gridClient(session.rpcs, signal)
  const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  let said = ''
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
    else if (kind !== said) terminal.err(`${text}\n`)
    said = kind
  }
}
