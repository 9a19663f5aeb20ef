import { expect, test } from 'vitest'
import { type CommandTaskSpec, commandTaskOf } from '../../model/command-task.ts'
import type { TaskInputs } from '../inputs/stage-inputs.ts'
import { layingCode } from './laying-code.ts'

const file = (path: string) => ({ path, contents: Buffer.from('1'), executable: false })
const wantedOf = (more: Partial<CommandTaskSpec> = {}, files = [file('main.py')]): TaskInputs =>
  commandTaskOf({ stages: [{ name: 'run', argv: ['python3'] }], inputs: { files }, ...more })

/** What was done, in order, for these inputs in a room where somebody waits who can take them, or cannot. */
async function doneFor(wanted: TaskInputs, root = '/warm', takes = true): Promise<readonly string[]> {
  const done: string[] = []
  const waiting = {
    lays: ({ path }: { path: string }) => takes && path === 'main.py' && done.push('laid') > 0,
    clear: () => void done.push('cleared'),
  }
  const inner = {
    async stage() {
      done.push('staged')
      return { pathOf: () => undefined, [Symbol.dispose]() {} }
    },
  }
  const inputs = layingCode(inner, (at) => (at === '/warm' ? waiting : undefined))
  using _ = await inputs.stage(wanted, root, new AbortController().signal)
  return done
}

const digest = { fn: 'sha256', hash: 'a'.repeat(64), size: 1 } as const

test('code that is all there is goes to its place', async () => {
  expect(await doneFor(wantedOf())).toEqual(['laid'])
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
])('with %s all is laid out as ever, in an empty room', async (_, wanted) => {
  expect(await doneFor(wanted)).toEqual(['cleared', 'staged'])
})

test('what cannot be put there is laid out as ever, which says why that cannot be done', async () => {
  expect(await doneFor(wantedOf(), '/warm', false)).toEqual(['cleared', 'staged'])
})

test('where nobody waits nothing is different', async () => {
  expect(await doneFor(wantedOf(), '/other')).toEqual(['staged'])
})
