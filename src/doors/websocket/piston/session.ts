import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { StageResult } from '../../../model/command-task.ts'
import type { InputEvent } from '../../../model/live-input.ts'
import { isOver, type SnippetStatus } from '../../../model/snippet.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { PISTON_BUG, PistonProblem, pistonProblemOf } from '../../http/piston/problem.ts'
import type { PistonLimits } from '../../http/piston/request.ts'
import { offersFor, type PistonRequest, readExecute } from '../../http/piston/request.ts'
import { type PistonEnd, stageEnd } from '../../http/piston/response.ts'
import type { WebSocketRequest } from '../../http/server/web-sockets.ts'
import { endProgram } from '../end-program.ts'
import { PacedOutput } from '../paced-output.ts'
import { messageBytes, TypedInput } from '../typed-input.ts'
import { CLOSE, type CloseReason, type ConnectMessage, connectMessage } from './request.ts'
import { type PistonOutput, pistonText } from './response.ts'

export interface PistonConnectOptions {
  readonly service: Pick<
    SnippetService,
    'languages' | 'isAwaited' | 'settled' | 'submit' | 'watch' | 'listenOutput' | 'cancel'
  >
  readonly input: Engine['input']
  readonly clock: Clock
  readonly log?: Log
  /** The caller of a request, and the instance in which it makes tasks. */
  readonly scopeOf: (request: WebSocketRequest) => CallScope
  readonly limits?: PistonLimits
  /** The time limit for the first message. */
  readonly initMs?: number
  /** How long a client may leave sent messages unread. */
  readonly stallMs?: number
}

export type ConnectTools = Required<PistonConnectOptions>

type StageName = 'compile' | 'run'

/**
 * One client and one program, in the protocol of Piston. The client is notified when a stage begins; the session knows
 * that the stage with input has begun when it accepts an empty input.
 */
const KNOCK: InputEvent = { kind: 'resize', size: { rows: 24, columns: 80 } }
const COMPILED: PistonEnd = { code: 0, signal: null, message: null, status: null }

export class ConnectSession {
  readonly #socket: WebSocket
  readonly #tools: ConnectTools
  readonly #scope: CallScope
  readonly #out = pistonText()
  /** Aborted when the client has disconnected. */
  readonly #left = new AbortController()
  #isBegun = false
  #request: PistonRequest | undefined
  #id: string | undefined
  #stage: StageName | undefined
  #end: SnippetStatus | undefined
  readonly #typed: TypedInput
  readonly #output: PacedOutput
  #unwatch = (): void => {}
  #forgetInit: () => void
  #isClosed = false

  constructor(socket: WebSocket, tools: ConnectTools, scope: CallScope) {
    this.#socket = socket
    this.#tools = tools
    this.#scope = scope
    this.#typed = new TypedInput({
      input: (operation, event) => tools.input(scope.caller, operation, event),
      failed: (error) => this.#refuse(error),
      tooMuch: () => this.#refuse(new PistonProblem('The program has not read its input: too much is waiting')),
    })
    this.#output = new PacedOutput({
      socket,
      clock: tools.clock,
      stallMs: tools.stallMs,
      framesOf: (piece) => this.#out.piece(piece).map(dataMessage),
      emptied: () => this.#endIfOver(),
    })
    this.#forgetInit = tools.clock.after(tools.initMs, () => this.#close('initializationTimeout'))
    socket.on('message', (data) => this.#receive(data))
    socket.once('close', () => this.#gone())
  }

  #receive(data: RawData): void {
    if (this.#isClosed || this.#end !== undefined) return
    try {
      const message = connectMessage(messageBytes(data).toString())
      if (message !== undefined) this.#take(message)
    } catch (error) {
      this.#refuse(error)
    }
  }

  #take(message: ConnectMessage): void {
    if (message.type === 'init') return this.#isBegun ? this.#close('alreadyInitialized') : this.#begin(message.body)
    if (!this.#isBegun) return this.#close('notInitialized')
    if (message.type === 'eof') return this.#typed.give({ kind: 'end' })
    if (message.type === 'signal') {
      if (message.signal === undefined) return this.#close('invalidSignal')
      return this.#typed.give({ kind: 'signal', signal: message.signal })
    }
    if (message.stream !== 'stdin') return this.#close('onlyStdin')
    if (typeof message.data !== 'string') throw new PistonProblem('data must be a string')
    this.#typed.give({ kind: 'bytes', bytes: Buffer.from(message.data) })
  }

  #begin(body: unknown): void {
    this.#isBegun = true
    this.#forgetInit()
    void this.#start(body).catch((error: unknown) => this.#refuse(error))
  }

  async #start(body: unknown): Promise<void> {
    const { service, limits } = this.#tools
    const offers = await offersFor(body, service, this.#left.signal)
    if (this.#isClosed) return
    this.#request = readExecute(body, { offers, isAwaited: service.isAwaited, instance: this.#scope.instance, limits })
    await this.#submit(this.#request)
  }

  async #submit({ request, runtime }: PistonRequest): Promise<void> {
    const { service, input } = this.#tools
    const status = await service.submit(
      this.#scope,
      { ...request, stdin: undefined, interactive: { pty: undefined } },
      'process',
    )
    this.#id = status.id
    if (this.#isClosed) return endProgram(this.#scope, status.id, this.#tools)
    this.#send({ type: 'runtime', language: runtime.language, version: runtime.version })
    this.#output.from(service.listenOutput(this.#scope, status.id, () => this.#output.print()))
    void input(this.#scope.caller, status.id, KNOCK).then(
      () => this.#runs(),
      () => {}, // the task has ended, and the watcher gets its end
    )
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
    } else if (status.state === 'executing') this.#enter(this.#isCompiled ? 'compile' : 'run')
  }

  get #isCompiled(): boolean {
    return this.#request?.runtime.offer.compiled === true
  }

  /**
   * The stage with input has started. If the answer came because the task has ended, `isEnded` is true and nothing is
   * sent.
   */
  #runs(): void {
    if (this.#isClosed || this.#output.isEnded !== false || this.#stage === 'run') return
    this.#output.print() // output of the compiler is sent before its end
    this.#enterRun(COMPILED)
  }

  #enterRun(compiled: PistonEnd): void {
    if (this.#stage === 'run') return
    if (this.#isCompiled) {
      this.#enter('compile')
      this.#send({ type: 'exit', stage: 'compile', ...compiled })
      this.#stage = undefined
    }
    this.#enter('run')
  }

  #enter(stage: StageName): void {
    if (this.#stage !== undefined) return
    this.#stage = stage
    this.#send({ type: 'stage', stage })
  }

  #endIfOver(): void {
    const status = this.#end
    if (status === undefined) return
    const stages = status.result?.stages ?? []
    const last = stages.at(-1)
    if (last === undefined) return this.#refuse(new PistonProblem(status.what ?? 'it did not run', 500))
    this.#enter(this.#isCompiled ? 'compile' : 'run')
    if (last.name !== 'compile') this.#enterRun(endOf(stages.find(({ name }) => name === 'compile')))
    for (const output of this.#out.rest(status.result)) this.#socket.send(dataMessage(output))
    this.#send({ type: 'exit', stage: this.#stage, ...stageEnd(last) })
    this.#close('completed')
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }

  #refuse(error: unknown): void {
    if (this.#isClosed) return
    const problem = pistonProblemOf(error)
    if (problem === undefined) this.#tools.log.error({ err: error }, 'piston session failed')
    this.#send({ type: 'error', message: (problem ?? PISTON_BUG).message })
    this.#close('notifiedError')
  }

  #close(reason: CloseReason): void {
    if (this.#isClosed) return
    this.#gone()
    const [code, words] = CLOSE[reason]
    this.#socket.close(code, words)
  }

  /** The client has disconnected, or is being disconnected: the program is cancelled. */
  #gone(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#left.abort()
    this.#forgetInit()
    this.#unwatch()
    this.#output.close()
    this.#typed.close()
    if (this.#id !== undefined && this.#end === undefined) endProgram(this.#scope, this.#id, this.#tools)
  }
}

const endOf = (compiled: StageResult | undefined): PistonEnd => (compiled ? stageEnd(compiled) : COMPILED)

const dataMessage = ({ stream, data }: PistonOutput): string => JSON.stringify({ type: 'data', stream, data })
