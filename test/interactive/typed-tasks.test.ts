import { expect, onTestFinished, test } from 'vitest'
import type { OperationStatus } from '../../src/engine/tasks/status.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import type { CommandTaskSpec, StageInput } from '../../src/model/command-task.ts'
import { describeWith } from '../../src/testing/require.ts'
import { roughWay } from '../../src/testing/rough-way.ts'
import { ended, sh, stageOf, submitCommand, textOf } from '../commands/commands.ts'
import { startGrid, type TestGrid } from '../workers/grid.ts'
import { workerHere } from '../workers/worker-here.ts'

const PIPES: StageInput = { kind: 'live', terminal: undefined }
const TERMINAL: StageInput = { kind: 'live', terminal: { rows: 24, columns: 80 } }

interface Typist {
  readonly operation: string
  type(text: string): Promise<void>
  /** Resolves when these words were printed since the last call. */
  reads(words: string): Promise<void>
  end(): Promise<OperationStatus>
}

/** A caller that types to a task through the engine, without an API in between. */
async function sitDown(grid: TestGrid, options: CommandTaskSpec): Promise<Typist> {
  const { engine } = grid
  const { operation } = await submitCommand(grid, options)
  let printed = ''
  let look = (): void => {}
  const listener = engine.listenOutput(LOCAL_CALLER, operation, () => {
    for (let piece = listener?.next(); piece !== undefined; piece = listener?.next())
      printed += Buffer.from(piece.bytes).toString()
    look()
  })
  onTestFinished(() => listener?.close())
  const over = grid.end(operation)
  return {
    operation,
    type: (text) => engine.input(LOCAL_CALLER, operation, { kind: 'bytes', bytes: Buffer.from(text) }),
    async reads(words) {
      const found = new Promise<void>((resolve) => {
        look = () => {
          if (printed.includes(words)) resolve()
        }
        look()
      })
      const never = over.then(({ end }) => {
        if (!printed.includes(words)) throw new Error(`it ended (${end?.what}) without ${words}: ${printed}`)
      })
      await Promise.race([found, never])
      printed = printed.slice(printed.indexOf(words) + words.length)
    },
    end: () => over,
  }
}

const LOOP = 'while read -r line; do echo "<$line>"; done; echo over'

describeWith('bwrap', 'an interactive task', () => {
  const sandboxed = async () => {
    const grid = await startGrid()
    await workerHere(grid.address, { WINDLASS_WORKER_BACKEND: 'sandbox' })
    return grid
  }

  test('receives input as it is typed, and its result has all of its output', async () => {
    const grid = await sandboxed()
    const typist = await sitDown(grid, { stages: [sh(LOOP, { stdin: PIPES })] })
    await typist.type('one\n')
    await typist.reads('<one>')
    await typist.type('two\n')
    await typist.reads('<two>')
    await grid.engine.input(LOCAL_CALLER, typist.operation, { kind: 'end' })
    const { result } = ended(await typist.end())
    expect(textOf(stageOf(result).stdout)).toBe('<one>\n<two>\nover\n')
  })

  test('gets input that was typed before its start, after the stage that compiles', async () => {
    const grid = await startGrid()
    const stages = [sh('cat; echo compiled', { name: 'compile' }), sh(LOOP, { stdin: PIPES })]
    const typist = await sitDown(grid, { stages })
    const typed = Promise.all([typist.type('early\n'), typist.type('birds\n')])
    await workerHere(grid.address, { WINDLASS_WORKER_BACKEND: 'sandbox' })
    await typed
    await grid.engine.input(LOCAL_CALLER, typist.operation, { kind: 'end' })
    const { result } = ended(await typist.end())
    expect(textOf(stageOf(result, 'compile').stdout)).toBe('compiled\n')
    expect(textOf(stageOf(result).stdout)).toBe('<early>\n<birds>\nover\n')
  })

  test('with a terminal sees a tty, echoes input, is resized, and gets signals', async () => {
    const grid = await sandboxed()
    const script =
      'test -t 0 && test -t 1 && stty size; trap "echo caught; exit 3" INT; ' +
      'while [ "$(stty size)" = "24 80" ]; do sleep 0.01; done; stty size; while :; do read -r x; done'
    const typist = await sitDown(grid, { stages: [sh(script, { stdin: TERMINAL })] })
    await typist.reads('24 80\r\n')
    await typist.type('abc')
    await typist.reads('abc')
    await grid.engine.input(LOCAL_CALLER, typist.operation, { kind: 'resize', size: { rows: 40, columns: 132 } })
    await typist.reads('40 132\r\n')
    await grid.engine.input(LOCAL_CALLER, typist.operation, { kind: 'signal', signal: 'SIGINT' })
    await typist.reads('caught')
    expect(stageOf(ended(await typist.end()).result)).toMatchObject({ cause: 'exit', exitCode: 3 })
  })

  test('does not receive the input of another one', async () => {
    const grid = await sandboxed()
    const [one, other] = await Promise.all(
      ['a', 'b'].map((name) => sitDown(grid, { stages: [sh(LOOP.replaceAll('<', `${name}<`), { stdin: PIPES })] })),
    )
    await Promise.all([one?.type('1\n'), other?.type('2\n')])
    await Promise.all([one?.reads('a<1>'), other?.reads('b<2>')])
    await expect(
      Promise.all([one, other].map((each) => grid.engine.cancel(LOCAL_CALLER, each?.operation ?? ''))),
    ).resolves.toBeDefined()
  })

  test('that does not read refuses input above a limit, and still gets signals', async () => {
    const grid = await sandboxed()
    const typist = await sitDown(grid, {
      stages: [sh('trap "exit 4" TERM; echo up; while :; do sleep 0.05; done', { stdin: PIPES })],
    })
    await typist.reads('up')
    const piece = 'x'.repeat(64 * 1024)
    let refused: unknown
    for (let i = 0; i < 40 && refused === undefined; i++) {
      const typed = typist.type(piece).catch((error: unknown) => (refused = error))
      await Promise.race([typed, new Promise((resolve) => setImmediate(resolve))])
    }
    expect(refused).toMatchObject({ fault: { kind: 'exhausted' } })
    void grid.engine.input(LOCAL_CALLER, typist.operation, { kind: 'signal', signal: 'SIGTERM' })
    expect(stageOf(ended(await typist.end()).result)).toMatchObject({ exitCode: 4 })
  })

  test('receives each input once although its connection breaks', async () => {
    const grid = await startGrid({ scheduler: { disconnectGraceMs: 10_000 } })
    const { address, cut } = await roughWay(grid.port)
    await workerHere(address, { WINDLASS_WORKER_BACKEND: 'sandbox' })
    const typist = await sitDown(grid, { stages: [sh(LOOP, { stdin: PIPES })] })
    const words = Array.from({ length: 40 }, (_, i) => `${i}\n`)
    const typed: Promise<void>[] = []
    for (const [i, word] of words.entries()) {
      typed.push(typist.type(word))
      if (i % 10 === 5) cut()
      if (i % 10 === 9) await Promise.all(typed)
    }
    await grid.engine.input(LOCAL_CALLER, typist.operation, { kind: 'end' })
    const { result } = ended(await typist.end())
    const received = words.map((word) => `<${word.trim()}>\n`).join('')
    expect(textOf(stageOf(result).stdout)).toBe(`${received}over\n`)
  })

  test('stays queued when no worker supports interactive input', async () => {
    const grid = await startGrid()
    const { operation } = await submitCommand(grid, { stages: [sh('cat', { stdin: PIPES })] })
    const properties = [
      { name: 'runs', value: 'command' },
      { name: 'runs-without-image', value: 'yes' },
      { name: 'isolation', value: 'sandbox' },
    ]
    const session = { lease: () => expect.fail('it has a task'), begin() {}, stop() {}, order() {}, close() {} }
    grid.engine.workers.register({ worker: 'deaf', slots: 1, properties }, session)
    expect((await grid.engine.find(LOCAL_CALLER, operation))?.state).toBe('queued')
    expect((await grid.engine.why(LOCAL_CALLER, operation)).join()).toContain('interactive')
    await grid.engine.cancel(LOCAL_CALLER, operation)
  })
})
