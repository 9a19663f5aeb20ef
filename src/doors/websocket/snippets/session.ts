import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import type { Engine } from '../../../engine/engine.ts'
import { isOver, type SnippetRequest, type SnippetState, type SnippetStatus } from '../../../model/snippet.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import { ApiProblem, problemBody, problemOf } from '../../../services/snippets/snippet-problem.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import type { WebSocketRequest } from '../../http/server/web-sockets.ts'
import { readTask } from '../../http/snippets/request.ts'
import { endProgram } from '../end-program.ts'
import { PacedOutput } from '../paced-output.ts'
import { type OutputFrame, type OutputFrames, outputFrames } from '../printed.ts'
import { messageBytes, TypedInput } from '../typed-input.ts'
import { type StartMessage, startMessage, typedMessage } from './request.ts'
import { exitMessage } from './response.ts'

export interface InteractiveDoorOptions {
  readonly service: Pick<SnippetService, 'submit' | 'watch' | 'listenOutput' | 'cancel'>
  readonly input: Engine['input']
  readonly clock: Clock
  readonly log?: Log
  /** The caller of a request, and the instance in which it makes tasks. */
  readonly scopeOf: (request: WebSocketRequest) => CallScope
  /** The time limit for the first message. */
  readonly startMs?: number
  /** Wall time of a program, unless its caller sets one. */
  readonly wallMs?: number
  /** How long a client may leave sent messages unread. */
  readonly stallMs?: number
  /** How long a program runs on after its client has disconnected. */
  readonly graceMs?: number
}

export type InteractiveTools = Required<InteractiveDoorOptions>

/** Close codes of WebSockets (RFC 6455, 7.4). */
const CLOSE = { normal: 1000, policy: 1008, bug: 1011, later: 1013 } as const

/** Invalid messages in a row after which the client is disconnected. */
const MOST_WRONG = 20
/** One client and its program, from the first message to the program's end. */
export class InteractiveSession {
  readonly #socket: WebSocket
  readonly #tools: InteractiveTools
  readonly #scope: CallScope
  #hasBegun = false
  #id: string | undefined
  #wrong = 0
  #sentState: SnippetState | undefined
  #hasStarted = false
  #end: SnippetStatus | undefined
  #out: OutputFrames = outputFrames('utf8')
  readonly #typed: TypedInput
  readonly #output: PacedOutput
  #unwatch = (): void => {}
  #forgetStart: () => void
  #isClosed = false

  constructor(socket: WebSocket, tools: InteractiveTools, scope: CallScope) {
    this.#socket = socket
    this.#tools = tools
    this.#scope = scope
    this.#typed = new TypedInput({
      input: (operation, event) => tools.input(scope.caller, operation, event),
      failed: (error) => this.#refuse(error),
      tooMuch: () =>
        this.#refuse(new ApiProblem('tooLarge', 'The program has not read its input: too much is waiting')),
    })
    this.#output = new PacedOutput({
      socket,
      clock: tools.clock,
      stallMs: tools.stallMs,
      framesOf: (piece) => this.#out.piece(piece),
      emptied: () => this.#endIfOver(),
    })
    this.#forgetStart = tools.clock.after(tools.startMs, () =>
      this.#refuse(new ApiProblem('invalid', 'The first message did not arrive in time')),
    )
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary))
    socket.once('close', () => this.#gone())
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isClosed || this.#end !== undefined) return
    try {
      const bytes = messageBytes(data)
      if (!this.#hasBegun) return this.#begin(isBinary, bytes)
      this.#typed.give(isBinary ? { kind: 'bytes', bytes } : typedMessage(bytes.toString()))
    } catch (error) {
      this.#complain(error)
    }
  }

  #begin(isBinary: boolean, bytes: Buffer): void {
    this.#hasBegun = true
    this.#forgetStart()
    try {
      if (isBinary) throw new ApiProblem('invalid', 'The first message must be the program to run')
      const start = startMessage(bytes.toString())
      this.#out = outputFrames(start.form)
      void this.#submit(this.#requestOf(start)).catch((error: unknown) => this.#refuse(error))
    } catch (error) {
      this.#refuse(error)
    }
  }

  #requestOf({ task, terminal }: StartMessage): SnippetRequest {
    const { wallMs } = this.#tools
    const request = readTask(task, this.#scope.instance)
    if (request.idempotencyKey !== undefined)
      throw new ApiProblem('invalid', 'idempotencyKey: not allowed for interactive runs, which always start a new task')
    if (request.stdin !== undefined) this.#typed.give({ kind: 'bytes', bytes: request.stdin })
    const runLimits = { wallMs, ...request.runLimits }
    return { ...request, stdin: undefined, runLimits, interactive: { pty: terminal } }
  }

  async #submit(request: SnippetRequest): Promise<void> {
    const { service } = this.#tools
    const status = await service.submit(this.#scope, request)
    this.#id = status.id
    if (this.#isClosed) return this.#leave(status.id)
    this.#output.from(service.listenOutput(this.#scope, status.id, () => this.#output.print()))
    this.#unwatch = service.watch(this.#scope, status.id, {
      changed: (status) => this.#notify(status),
      failed: (error) => this.#refuse(error),
    })
    this.#typed.accepted(status.id)
  }

  #notify(status: SnippetStatus): void {
    if (this.#isClosed) return
    if (isOver(status)) {
      this.#end = status
      this.#output.print()
      return
    }
    const { id: taskId, state, version, worker } = status
    if (state !== this.#sentState) this.#send(JSON.stringify({ type: 'state', taskId, status: state }))
    this.#sentState = state
    if (state !== 'executing' || this.#hasStarted) return
    this.#hasStarted = true
    this.#send(JSON.stringify({ type: 'started', taskId, version, worker }))
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

  /** Reports an invalid message; the program continues. */
  #complain(error: unknown): void {
    const problem = problemOf(error)
    if (problem === undefined || ++this.#wrong > MOST_WRONG) return this.#refuse(error)
    this.#send(JSON.stringify({ type: 'error', ...problemBody(problem) }))
  }

  #refuse(error: unknown): void {
    if (this.#isClosed) return
    const problem = problemOf(error)
    if (problem === undefined) this.#tools.log.error({ err: error }, 'interactive session failed')
    const sent = problem ?? new ApiProblem('bug', 'Internal error; see the log of the server')
    this.#send(JSON.stringify({ type: 'error', ...problemBody(sent) }))
    const isLater = sent.retryAfterMs !== undefined
    this.#finish(problem === undefined ? CLOSE.bug : isLater ? CLOSE.later : CLOSE.policy)
  }

  #finish(code: number): void {
    this.#gone()
    this.#socket.close(code)
  }

  /** The client has disconnected, or is being disconnected: the program is cancelled. */
  #gone(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#forgetStart()
    this.#unwatch()
    this.#output.close()
    this.#typed.close()
    if (this.#id !== undefined && this.#end === undefined) this.#leave(this.#id)
  }

  #leave(id: string): void {
    const { clock, graceMs } = this.#tools
    clock.after(graceMs, () => endProgram(this.#scope, id, this.#tools))
  }
}
