import type { ProcessControl, Release, Run, RunEnd, RunHooks, Runtime } from '../../runtimes/run/runtime.ts'
import { plainCommand } from '../plain-command.ts'
import type { OpenRoom } from '../rooms/rooms.ts'

/** What it is started as: whatever it becomes is said later. */
const SHELL = plainCommand({
  argv: ['sh'], // what it calls itself when it complains
  env: [],
  limits: {},
  platform: [],
})

/**
 * A room in which a shell waits for a few words on its standard input, to become the command that they say. Making such a
 * room takes longer than most else between a task and its result, and none of it depends on the task. It serves one run.
 */
export class WaitingShell {
  readonly room: OpenRoom
  readonly #held = Promise.withResolvers<Release>()
  readonly #script = Promise.withResolvers<Uint8Array>()
  readonly #ending = new AbortController()
  readonly #end: Promise<RunEnd>
  #hooks: RunHooks = {}
  #reins: ProcessControl | undefined
  #isOver = false

  constructor(room: OpenRoom, runtime: Pick<Runtime, 'run'>) {
    this.room = room
    const hooks: RunHooks = {
      started: () => this.#hooks.started?.(),
      stdout: (bytes) => this.#hooks.stdout?.(bytes),
      stderr: (bytes) => this.#hooks.stderr?.(bytes),
      reins: (reins) => (this.#reins = reins),
      stdin: once(this.#script.promise),
    }
    const run = { command: SHELL, room, limits: {}, hooks, held: this.#held.promise }
    this.#end = runtime.run(run, this.#ending.signal).finally(() => (this.#isOver = true))
    this.#end.catch(() => {}) // told to whoever runs in it
  }

  /** It has ended before anybody wanted anything of it: no room could be made, say. */
  get isOver(): boolean {
    return this.#isOver
  }

  async go({ hooks, limits }: Run, script: string, signal: AbortSignal): Promise<RunEnd> {
    const end = (): void => this.#ending.abort(signal.reason)
    this.#hooks = hooks
    if (this.#reins !== undefined) hooks.reins?.(this.#reins)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    this.#held.resolve({ wallMs: limits.wallMs })
    this.#script.resolve(Buffer.from(script))
    try {
      return await this.#end
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  /** Resolves when nothing of it is left; the room itself is who made it to remove. */
  async end(): Promise<void> {
    if (this.#isOver) return
    this.#ending.abort()
    await this.#end.catch(() => {})
  }
}

async function* once(bytes: Promise<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield await bytes
}
