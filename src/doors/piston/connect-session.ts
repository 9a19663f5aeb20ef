import type { RawData, WebSocket } from 'ws'
import { FaultError } from '../../base/fault.ts'
import type { OutputListener } from '../../engine/output-ring.ts'
import type { StageResult } from '../../model/command-task.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { InputEvent } from '../../model/live-input.ts'
import { isOver, type SnippetStatus } from '../../model/snippet.ts'
import type { ConnectTools } from './connect.ts'
import { CLOSE, type CloseReason, type ConnectMessage, connectMessage } from './connect-message.ts'
import { type PistonEnd, stageEnd } from './execute-answer.ts'
import { type ExecuteOrder, readExecute } from './execute-request.ts'
import { BUG, PistonProblem, pistonProblemOf } from './piston-problem.ts'
import { type Told, toldText } from './told-text.ts'

type StageName = 'compile' | 'run'

/** Sent and not yet taken off our hands: until then the program's output waits where it is bounded. */
const MOST_UNSENT_BYTES = 256 * 1024
/** Of one who types ahead of the answer that the program is accepted. */
const MOST_EARLY_BYTES = 1024 * 1024
/** What an event takes that has no bytes. */
const EVENT_BYTES = 256

/**
 * One client in front of one program, in the words of Piston. A stage is told when it begins; that the one which is typed to
 * has begun shows by its taking something that does nothing to it.
 */
const KNOCK: InputEvent = { kind: 'resize', size: { rows: 24, columns: 80 } }
const COMPILED: PistonEnd = { code: 0, signal: null, message: null, status: null }

export class ConnectSession {
  readonly #socket: WebSocket
  readonly #tools: ConnectTools
  readonly #instance: InstanceName
  readonly #out = toldText()
  #order: ExecuteOrder | undefined
  #id: string | undefined
  #early: InputEvent[] = []
  #earlyBytes = 0
  #stage: StageName | undefined
  #end: SnippetStatus | undefined
  #output: OutputListener | undefined
  #unwatch = (): void => {}
  #forgetInit: () => void
  #forgetStall: (() => void) | undefined
  #isClosed = false

  constructor(socket: WebSocket, tools: ConnectTools, instance: InstanceName) {
    this.#socket = socket
    this.#tools = tools
    this.#instance = instance
    this.#forgetInit = tools.clock.after(tools.initMs, () => this.#close('initializationTimeout'))
    socket.on('message', (data) => this.#hear(data))
    socket.once('close', () => this.#gone())
  }

  #hear(data: RawData): void {
    if (this.#isClosed || this.#end !== undefined) return
    try {
      const message = connectMessage(textOf(data))
      if (message !== undefined) this.#take(message)
    } catch (error) {
      this.#refuse(error)
    }
  }

  #take(message: ConnectMessage): void {
    if (message.type === 'init')
      return this.#order === undefined ? this.#begin(message.body) : this.#close('alreadyInitialized')
    if (this.#order === undefined) return this.#close('notInitialized')
    if (message.type === 'eof') return this.#give({ kind: 'end' })
    if (message.type === 'signal') {
      if (message.signal === undefined) return this.#close('invalidSignal')
      return this.#give({ kind: 'signal', signal: message.signal })
    }
    if (message.stream !== 'stdin') return this.#close('onlyStdin')
    if (typeof message.data !== 'string') throw new PistonProblem('data must be a string')
    this.#give({ kind: 'bytes', bytes: Buffer.from(message.data) })
  }

  #begin(body: unknown): void {
    const { desk, limits } = this.#tools
    this.#forgetInit()
    this.#order = readExecute(body, { offers: desk.languages(), instance: this.#instance, limits })
    void this.#submit(this.#order).catch((error: unknown) => this.#refuse(error))
  }

  async #submit({ request, runtime }: ExecuteOrder): Promise<void> {
    const { desk, input } = this.#tools
    const status = await desk.submit({ ...request, stdin: undefined, interactive: { pty: undefined } }, 'process')
    this.#id = status.id
    if (this.#isClosed) return this.#leave(status.id)
    this.#send({ type: 'runtime', language: runtime.language, version: runtime.version })
    this.#output = desk.listenOutput(status.id, () => this.#print())
    void input(status.id, KNOCK).then(
      () => this.#runs(),
      () => {}, // it is over already, and that will be told
    )
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
    if (this.#earlyBytes > MOST_EARLY_BYTES) return this.#refuse(new PistonProblem('Too much was typed ahead'))
    this.#early.push(event)
  }

  #tell(status: SnippetStatus): void {
    if (this.#isClosed) return
    if (isOver(status)) {
      this.#end = status
      this.#print()
    } else if (status.state === 'executing') this.#enter(this.#isCompiled ? 'compile' : 'run')
  }

  get #isCompiled(): boolean {
    return this.#order?.runtime.offer.compiled === true
  }

  /** The stage that is typed to is there, unless it was the end of it all that answered: then nothing more is printed either. */
  #runs(): void {
    if (this.#isClosed || this.#output?.isEnded !== false || this.#stage === 'run') return
    this.#print() // what the compiler said comes before that it is done
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

  /** As much as the client takes. One that takes nothing is cut. */
  #print(): void {
    if (this.#isClosed) return
    while (this.#socket.bufferedAmount < MOST_UNSENT_BYTES) {
      const piece = this.#output?.next()
      if (piece === undefined) return this.#endIfOver()
      for (const told of this.#out.piece(piece)) this.#say(told)
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
    const stages = status.result?.stages ?? []
    const last = stages.at(-1)
    if (last === undefined) return this.#refuse(new PistonProblem(status.what ?? 'it did not run', 500))
    this.#enter(this.#isCompiled ? 'compile' : 'run')
    if (last.name !== 'compile') this.#enterRun(endOf(stages.find(({ name }) => name === 'compile')))
    for (const told of this.#out.rest(status.result)) this.#say(told)
    this.#send({ type: 'exit', stage: this.#stage, ...stageEnd(last) })
    this.#close('completed')
  }

  #say({ stream, data }: Told): void {
    this.#socket.send(JSON.stringify({ type: 'data', stream, data }), this.#sent)
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }

  #refuse(error: unknown): void {
    if (this.#isClosed) return
    const problem = pistonProblemOf(error)
    if (problem === undefined) this.#tools.log.error({ err: error }, 'a session in the words of Piston failed')
    this.#send({ type: 'error', message: (problem ?? BUG).message })
    this.#close('notifiedError')
  }

  #close(reason: CloseReason): void {
    if (this.#isClosed) return
    this.#gone()
    const [code, words] = CLOSE[reason]
    this.#socket.close(code, words)
  }

  /** The client is not there any more, or is about to be sent away: then nobody is at the program. */
  #gone(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#forgetInit()
    this.#forgetStall?.()
    this.#unwatch()
    this.#output?.close()
    this.#early = []
    if (this.#id !== undefined && this.#end === undefined) this.#leave(this.#id)
  }

  #leave(id: string): void {
    this.#tools.desk.cancel(id).catch((error: unknown) => {
      const isGone =
        error instanceof FaultError && (error.fault.kind === 'absent' || error.fault.kind === 'unavailable')
      if (!isGone) this.#tools.log.warn({ err: error, task: id }, 'a program that nobody types to could not be ended')
    })
  }
}

const endOf = (compiled: StageResult | undefined): PistonEnd => (compiled ? stageEnd(compiled) : COMPILED)

function textOf(data: RawData): string {
  return (Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data)).toString()
}
