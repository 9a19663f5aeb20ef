import { createConnection, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { LaunchEnd } from '../launcher/launcher.ts'
import { realClock } from '../run/rooms.fixture.ts'
import { ContainerLaunch, refusalOf } from './container-launch.ts'
import type { ContainerEngine } from './engine.ts'

const NOT_MOUNTED =
  'failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ' +
  'exec: "/.windlass-init": stat /.windlass-init: permission denied: unknown'
const NO_SPEC = 'failed to retrieve spec: unexpected EOF: unknown'
const TOO_LONG =
  'runc create failed: unable to start container process: exec: "/.windlass-init": argument list too long'
const NO_PROGRAM = 'exec: "no-such-program": executable file not found in $PATH: unknown'

test.each([
  [NOT_MOUNTED, 'UNKNOWN'],
  [NO_SPEC, 'UNKNOWN'],
  [TOO_LONG, 'E2BIG'],
  [NO_PROGRAM, 'ENOENT'],
  ['exec /tool: exec format error', 'ENOEXEC'],
])('the problem "%s" has the code %s', (problem, code) => {
  expect(refusalOf(problem).code).toBe(code)
})

/** An engine whose starts return these problems in turn; undefined is a successful start. */
async function launched(problems: readonly (string | undefined)[]) {
  const server = createServer((socket) => void socket.end())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const calls: string[] = []
  let made = 0
  const engine = {
    create: async (name: string) => {
      calls.push(`create ${name}`)
      return `id-${++made}`
    },
    attach: async () => createConnection(port, '127.0.0.1'),
    start: async (id: string) => {
      calls.push(`start ${id}`)
      return problems[made - 1]
    },
    state: async () => ({ pid: 0, isRunning: false, exitCode: 0, isOutOfMemory: false }),
    remove: async (id: string) => void calls.push(`remove ${id}`),
    kill: async () => {},
  } as unknown as ContainerEngine
  const ended = Promise.withResolvers<LaunchEnd>()
  const listener = { started: () => calls.push('started'), output: () => {}, ended: ended.resolve }
  const plan = {
    ...{ name: 'room', body: {}, hasInput: false, outputBytes: 1000, limits: {}, isMemoryKept: true },
    ...{ wallMs: undefined, folders: [], prlimit: undefined, tree: undefined },
  }
  const launch = new ContainerLaunch(plan as never, { engine, clock: realClock }, listener as never)
  await launch.begin()
  return { end: await ended.promise, calls }
}

test('a container that the engine fails to start is created again', async () => {
  const { end, calls } = await launched([NOT_MOUNTED, NO_SPEC, undefined])
  expect(end).toMatchObject({ kind: 'exited', exit: { code: 0 } })
  expect(calls).toEqual([
    ...['create room', 'start id-1', 'remove id-1'],
    ...['create room', 'start id-2', 'remove id-2'],
    ...['create room', 'start id-3', 'started', 'remove id-3'],
  ])
})

test('a program that the image does not have is refused at the first start', async () => {
  const { end, calls } = await launched([NO_PROGRAM])
  expect(end).toMatchObject({ kind: 'refused', code: 'ENOENT' })
  expect(calls).toEqual(['create room', 'start id-1', 'remove id-1'])
})

test('an engine that fails every start is refused with its text after five starts', async () => {
  const { end, calls } = await launched(Array.from({ length: 9 }, () => NO_SPEC))
  expect(end).toMatchObject({ kind: 'refused', code: 'UNKNOWN', what: NO_SPEC })
  expect(calls.filter((call) => call.startsWith('start '))).toHaveLength(5)
})
