import type { RawData, WebSocket } from 'ws'
import { FaultError } from '../../base/fault.ts'
import type { OutputListener } from '../../engine/output-ring.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { InputEvent } from '../../model/live-input.ts'
import { isOver, type SnippetRequest, type SnippetState, type SnippetStatus } from '../../model/snippet.ts'
import { ApiProblem, problemBody, problemOf } from '../snippets/rest/api-problem.ts'
import { readTask } from '../snippets/rest/read-task.ts'
import { inputMessage, type StartMessage, startMessage } from './client-message.ts'
import { exitMessage } from './exit-message.ts'
import type { InteractiveTools } from './interactive-door.ts'
import { type OutputFrame, type Printed, printed } from './printed.ts'

/** As WebSockets have it. */
const CLOSE = { normal: 1000, policy: 1008, bug: 1011, later: 1013 } as const

/** Whoever writes nothing but nonsense is not listening. */
const MOST_WRONG = 20
/** Sent and not yet taken off our hands: until then the program's output waits where it is bounded. */
const MOST_UNSENT_BYTES = 256 * 1024
/** Of one who types ahead of the answer that the task is accepted. */
const MOST_EARLY_BYTES = 1024 * 1024

/** One client in front of one program, from its first message to the program's end. */
export class InteractiveSession {
  readonly #socket: WebSocket
  readonly #tools: InteractiveTools
  readonly #instance: InstanceName
  #begun = false
  #id: string | undefined
  #early: InputEvent[] = []
  #earlyBytes = 0
  #wrong = 0
  #told: SnippetState | undefined
  #hasStarted = false
  #end: SnippetStatus | undefined
  #out: Printed = printed('utf8')
  #output: OutputListener | undefined
  #unwatch = (): void => {}
  #forgetStart: () => void
  #forgetStall: (() => void) | undefined
  #isClosed = false

  constructor(socket: WebSocket, tools: InteractiveTools, instance: InstanceName) {
    this.#socket = socket
    this.#tools = tools
    this.#instance = instance
    this.#forgetStart = tools.clock.after(tools.startMs, () =>
      this.#refuse(new ApiProblem('invalid', 'The first message did not come in time')),
    )
    socket.on('message', (data, isBinary) => this.#hear(data, isBinary))
    socket.once('close', () => this.#gone())
  }

  #hear(data: RawData, isBinary: boolean): void {
    if (this.#isClosed || this.#end !== undefined) return
    try {
      const bytes = bytesOf(data)
      if (!this.#begun) return this.#begin(isBinary, bytes)
      this.#give(isBinary ? { kind: 'bytes', bytes } : inputMessage(bytes.toString(), this.#tools.nearest))
    } catch (error) {
      this.#complain(error)
    }
  }

  #begin(isBinary: boolean, bytes: Buffer): void {
    this.#begun = true
    this.#forgetStart()
    try {
      if (isBinary) throw new ApiProblem('invalid', 'The first message must say what to run')
      const start = startMessage(bytes.toString(), this.#tools.nearest)
      this.#out = printed(start.form)
      void this.#submit(this.#requestOf(start)).catch((error: unknown) => this.#refuse(error))
    } catch (error) {
      this.#refuse(error)
    }
  }

  #requestOf({ task, terminal }: StartMessage): SnippetRequest {
    const { nearest, wallMs } = this.#tools
    const request = readTask(task, this.#instance, nearest)
    if (request.idempotencyKey !== undefined)
      throw new ApiProblem('invalid', 'idempotencyKey: whoever types to a program starts it')
    if (request.stdin !== undefined) this.#give({ kind: 'bytes', bytes: request.stdin })
    const runLimits = { wallMs, ...request.runLimits }
    return { ...request, stdin: undefined, runLimits, interactive: { pty: terminal } }
  }

  async #submit(request: SnippetRequest): Promise<void> {
    const { desk } = this.#tools
    const status = await desk.submit(request)
    this.#id = status.id
    if (this.#isClosed) return this.#leave(status.id)
    this.#output = desk.listenOutput(status.id, () => this.#print())
    this.#unwatch = desk.watch(status.id, {
      told: (news) => this.#tell(news),
      failed: (error) => this.#refuse(error),
    })
    for (const event of this.#early.splice(0)) this.#give(event)
  }

  #give(event: InputEvent): void {
    if (this.#id !== undefined) {
      void this.#tools.input(this.#id, event).catch((error: unknown) => {
        const isOverAlready = error instanceof FaultError && error.fault.kind === 'absent' // and about to be told so
        if (!isOverAlready) this.#refuse(error)
      })
      return
    }
    this.#earlyBytes += EVENT_BYTES + (event.kind === 'bytes' ? event.bytes.length : 0)
    if (this.#earlyBytes > MOST_EARLY_BYTES) return this.#refuse(new ApiProblem('tooLarge', 'Too much was typed ahead'))
    this.#early.push(event)
  }

  #tell(status: SnippetStatus): void {
    if (this.#isClosed) return
    if (isOver(status)) {
      this.#end = status
      this.#print()
      return
    }
    const { id: taskId, state, version, worker } = status
    if (state !== this.#told) this.#send(JSON.stringify({ type: 'state', taskId, status: state }))
    this.#told = state
    if (state !== 'executing' || this.#hasStarted) return
    this.#hasStarted = true
    this.#send(JSON.stringify({ type: 'started', taskId, version, worker }))
  }

  /** As much as the client takes. One that takes nothing is cut. */
  #print(): void {
    if (this.#isClosed) return
    while (this.#socket.bufferedAmount < MOST_UNSENT_BYTES) {
      const piece = this.#output?.next()
      if (piece === undefined) return this.#endIfOver()
      for (const frame of this.#out.piece(piece)) this.#socket.send(frame, this.#sent)
    }
    const { clock, stallMs } = this.#tools
    this.#forgetStall ??= clock.after(stallMs, () => this.#socket.terminate())
  }

  /** Nothing of it is on our hands any more. */
  readonly #sent = (): void => {
    if (this.#forgetStall === undefined || this.#socket.bufferedAmount >= MOST_UNSENT_BYTES) return
    this.#forgetStall()
    this.#forgetStall = undefined
    this.#print()
  }

  #endIfOver(): void {
    const status = this.#end
    if (status === undefined) return
    if (status.result !== undefined) for (const frame of this.#out.rest(status.result)) this.#send(frame)
    this.#send(JSON.stringify(exitMessage(status)))
    this.#finish(CLOSE.normal)
  }

  #send(frame: OutputFrame): void {
    this.#socket.send(frame)
  }

  /** Of what was said in between: the program goes on. */
  #complain(error: unknown): void {
    const problem = problemOf(error)
    if (problem === undefined || ++this.#wrong > MOST_WRONG) return this.#refuse(error)
    this.#send(JSON.stringify({ type: 'error', ...problemBody(problem) }))
  }

  #refuse(error: unknown): void {
    if (this.#isClosed) return
    const problem = problemOf(error)
    if (problem === undefined) this.#tools.log.error({ err: error }, 'an interactive session failed')
    const told = problem ?? new ApiProblem('bug', 'Something went wrong here; the log of the server says more')
    this.#send(JSON.stringify({ type: 'error', ...problemBody(told) }))
    const isLater = told.retryAfterMs !== undefined
    this.#finish(problem === undefined ? CLOSE.bug : isLater ? CLOSE.later : CLOSE.policy)
  }

  #finish(code: number): void {
    this.#gone()
    this.#socket.close(code)
  }

  /** The client is not there any more, or is about to be sent away: then nobody is at the program. */
  #gone(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#forgetStart()
    this.#forgetStall?.()
    this.#unwatch()
    this.#output?.close()
    this.#early = []
    if (this.#id !== undefined && this.#end === undefined) this.#leave(this.#id)
  }

  #leave(id: string): void {
    const { desk, clock, graceMs, log } = this.#tools
    clock.after(graceMs, () => {
      desk.cancel(id).catch((error: unknown) => {
        const isGone =
          error instanceof FaultError && (error.fault.kind === 'absent' || error.fault.kind === 'unavailable')
        if (!isGone) log.warn({ err: error, task: id }, 'a program that nobody types to any more could not be ended')
      })
    })
  }
}

/** What an event takes that has no bytes. */
const EVENT_BYTES = 256

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
