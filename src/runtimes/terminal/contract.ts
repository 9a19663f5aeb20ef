import { expect, type TestContext, test } from 'vitest'
import type { TerminalSize } from '../../model/live-input.ts'
import { emptyRoom, runOf, shell } from '../run/rooms.fixture.ts'
import type { Kept, ProcessControl, Run, RunEnd, Runtime } from '../run/runtime.ts'

const never = new AbortController().signal

/** A run that is controlled interactively. */
interface Session {
  readonly control: ProcessControl
  type(text: string): void
  endInput(): void
  /** Resolves when the command has written these words since the last call. */
  reads(words: string): Promise<void>
  readonly end: Promise<RunEnd>
}

/** The tests of process control and terminals that every runtime must pass, as far as its probe claims them. */
export function processControlContract(runtime: () => Runtime): void {
  const open = (run: Run): Session => sessionOf(runtime(), run)

  async function keeping(context: TestContext, part: keyof Kept, what: string): Promise<void> {
    const probe = await runtime().probe()
    if (probe.works && probe.keeps[part]) return
    context.task.meta.skipReason = `${runtime().name} has no ${what}`
    context.skip(context.task.meta.skipReason)
  }
  const at = (size: TerminalSize, script: string, room: Run['room']): Run => ({
    ...runOf(shell(script), { room, limits: { wallMs: 20_000, pids: 8 } }),
    terminal: size,
  })

  test('a signal reaches the command, and not the program that created its room', async (context) => {
    await keeping(context, 'control', 'control')
    using room = emptyRoom()
    const run = open(runOf(shell('trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.05; done'), { room }))
    await run.reads('ready')
    run.control.signal('SIGINT')
    await run.reads('caught')
    expect(await run.end).toMatchObject({ cause: 'exit', exitCode: 7 })
  })

  test('a signal sent before the start is delivered to the command', async (context) => {
    await keeping(context, 'control', 'control')
    using room = emptyRoom()
    const run = open(runOf(['sleep', '20'], { room }))
    run.control.signal('SIGTERM')
    expect(await run.end).toMatchObject({ cause: 'signal', signal: 'SIGTERM' })
  })

  test('typed input arrives while the command runs, and stdin ends when the input ends', async (context) => {
    await keeping(context, 'control', 'control')
    using room = emptyRoom()
    const run = open(runOf(shell('while read -r line; do echo "<$line>"; done; echo over'), { room }))
    run.type('one\n')
    await run.reads('<one>')
    run.type('two\n')
    await run.reads('<two>')
    run.endInput()
    await run.reads('over')
    expect(await run.end).toMatchObject({ cause: 'ok' })
  })

  test('a command at a terminal sees its size, and each change of it', async (context) => {
    await keeping(context, 'terminal', 'terminals')
    using room = emptyRoom()
    const script =
      'tty -s && [ -t 1 ] && [ -t 2 ] && echo terminal; stty size; while [ "$(stty size)" = "33 101" ]; do sleep 0.01; done; stty size; echo "$TERM"'
    const run = open(at({ rows: 33, columns: 101 }, script, room))
    await run.reads('terminal\r\n33 101\r\n')
    run.control.resize({ rows: 50, columns: 12 })
    await run.reads('50 12\r\nxterm-256color')
    expect(await run.end).toMatchObject({ cause: 'ok', exitCode: 0 })
  })

  test('Ctrl-C and a signal reach the foreground process of a terminal', async (context) => {
    await keeping(context, 'terminal', 'terminals')
    using room = emptyRoom()
    const script =
      'trap "echo caught" INT; echo ready; while ! [ -e x ]; do read -r line && echo "<$line>"; done; exit 9'
    const run = open(at({ rows: 24, columns: 80 }, script, room))
    await run.reads('ready')
    run.type('\u0003')
    await run.reads('caught')
    run.control.signal('SIGINT')
    await run.reads('caught')
    run.type('touch x\n')
    await run.reads('<touch x>')
    run.control.signal('SIGKILL')
    expect(await run.end).toMatchObject({ exitCode: 137 })
  })

  test('arguments are unchanged at a terminal, and Ctrl-D ends the input', async (context) => {
    await keeping(context, 'terminal', 'terminals')
    using room = emptyRoom()
    const words = ["it's", '$HOME', '`id`', 'a  b', '"', '\\', '*', '']
    const argv = ['/bin/sh', '-c', 'for word; do printf "<%s>" "$word"; done; cat; exit 5', 'sh', ...words]
    const run = open({ ...runOf(argv, { room }), terminal: { rows: 24, columns: 80 } })
    await run.reads(words.map((word) => `<${word}>`).join(''))
    run.type('\u0004')
    expect(await run.end).toMatchObject({ cause: 'exit', exitCode: 5 })
  })
}

function sessionOf(runtime: Runtime, run: Run): Session {
  const typed: (Uint8Array | undefined)[] = []
  let wake = (): void => {}
  let written = ''
  let look = (): void => {}
  async function* stdin(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = typed.shift()
      if (next !== undefined) yield next
      else if (typed.length > 0) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  const say = (bytes: Uint8Array | undefined): void => {
    typed.push(bytes)
    if (bytes === undefined) typed.push(undefined)
    wake()
  }
  const hear = (bytes: Uint8Array): void => {
    written += Buffer.from(bytes).toString()
    look()
  }
  const waiting = Promise.withResolvers<ProcessControl>()
  const hooks = {
    stdin: stdin(),
    stdout: hear,
    stderr: hear,
    control: waiting.resolve,
  }
  const end = runtime.run({ ...run, hooks }, never)
  return {
    control: {
      signal: (name) => void waiting.promise.then((given) => given.signal(name)),
      resize: (size) => void waiting.promise.then((given) => given.resize(size)),
    },
    type: (text) => say(Buffer.from(text)),
    endInput: () => say(undefined),
    async reads(words) {
      const ended = end.then((how) => {
        if (!written.includes(words))
          throw new Error(`${words} was not written, but ${written}; ${JSON.stringify(how.reason)}`)
      })
      const found = new Promise<void>((resolve) => {
        look = () => {
          if (written.includes(words)) resolve()
        }
        look()
      })
      await Promise.race([found, ended])
      written = written.slice(written.indexOf(words) + words.length)
    },
    end,
  }
}
