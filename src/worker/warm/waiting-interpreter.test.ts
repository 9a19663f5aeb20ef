import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CommandTask, type CommandTaskSpec, commandTaskOf } from '../../model/command-task.ts'
import { realClock } from '../../runtimes/run/rooms.fixture.ts'
import { cancelledBeforeStart } from '../../runtimes/run/run-end.ts'
import type { Runtime } from '../../runtimes/run/runtime.ts'
import { scratch } from '../trees.fixture.ts'
import { WaitingInterpreter } from './waiting-interpreter.ts'

const file = (path: string) => ({ path, contents: Buffer.from('1'), executable: false })
const wantedOf = (more: Partial<CommandTaskSpec> = {}, files = [file('main.py')]): CommandTask =>
  commandTaskOf({ stages: [{ name: 'run', argv: ['python3'] }], inputs: { files }, ...more })

const SHAPE = {
  key: 'k',
  file: 'main.py',
  argv: ['python3', 'main.py'],
  env: [],
  limits: {},
  hasInput: false,
  platform: [],
}

/** Runs until it is aborted. */
const runtime: Pick<Runtime, 'run'> = {
  run: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(cancelledBeforeStart))),
}

/** The files in the room after the inputs of each task were placed, and whether the last task's were placed. */
async function placed(...tasks: readonly CommandTask[]): Promise<readonly unknown[]> {
  using folder = scratch()
  const path = join(folder.path, 'root')
  const code = join(path, SHAPE.file)
  mkdirSync(path)
  execFileSync('mkfifo', [code])
  const reader = openSync(code, constants.O_RDONLY | constants.O_NONBLOCK)
  const room = { name: 'r', path, tmp: undefined, user: undefined, async [Symbol.asyncDispose]() {} }
  const waiting = new WaitingInterpreter(SHAPE, room, { runtime, clock: realClock })
  try {
    expect(await waiting.ready()).toBe(true)
    const isPlaced = tasks.map((task) => waiting.placeInputs(task)).at(-1)
    return [isPlaced, ...readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8')])]
  } finally {
    await waiting.close()
    closeSync(reader)
  }
}

const digest = { fn: 'sha256', hash: 'a'.repeat(64), size: 1 } as const

test('code that is the only input is written to the file that the interpreter has open', async () => {
  expect(await placed(wantedOf())).toEqual([true, ['main.py', '1']])
})

test.each([
  ['another file', wantedOf({}, [file('main.py'), file('b.py')])],
  ['a file of another name', wantedOf({}, [file('b.py')])],
  ['no file at all', wantedOf({}, [])],
  ['a tree', wantedOf({ inputs: { root: digest, files: [file('main.py')] } })],
  ['input from the store', wantedOf({ stages: [{ name: 'run', argv: ['python3'], stdin: { kind: 'blob', digest } }] })],
  [
    'a file from the store',
    wantedOf({
      inputs: { files: [file('main.py')], placed: [{ path: 'x', digest, executable: false, writable: false }] },
    }),
  ],
  ['another directory', wantedOf({ workingDirectory: 'deep' })],
  ['outputs that need a directory', wantedOf({ outputs: { paths: ['a/b'] } })],
])('with %s the caller places all inputs, in an empty room', async (_, wanted) => {
  expect(await placed(wanted)).toEqual([false])
})

test('code that cannot be written is left to the caller, who reports the error', async () => {
  expect(await placed(wantedOf({}, []), wantedOf())).toEqual([false])
})
