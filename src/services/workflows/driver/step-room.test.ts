import { expect, test } from 'vitest'
import type { Staged } from '../../../workflow/tool/room.ts'
import { laidStep, stepRoom } from './step-room.ts'

const text = (path: string): Staged => ({ kind: 'text', path, contents: '', writable: false })

test('a room is the same everywhere, unless a container names its working directory', () => {
  expect(stepRoom(undefined)).toEqual({ outdir: '/room/out', tmpdir: '/tmp', inputsDir: '/room/in' })
  expect(stepRoom('/job').outdir).toBe('/job')
})

test('things lie in the room, and a container shows them where they are looked for', () => {
  const staged = [text('/job/a'), text('/room/in/1/b'), text('/etc/tool.conf'), text('/etc/tool.conf/never')]
  expect(laidStep(stepRoom('/job'), staged, true)).toEqual({
    items: ['out/a', 'in/1/b', 'elsewhere/etc/tool.conf', 'elsewhere/etc/tool.conf/never'].map(text),
    places: [
      { path: 'out', at: '/job', writable: true },
      { path: 'elsewhere/etc/tool.conf', at: '/etc/tool.conf', writable: false },
    ],
  })
})

test('on the system of a worker nothing is put outside of the room, and nothing over what every container has', () => {
  expect(() => laidStep(stepRoom(undefined), [text('/etc/tool.conf')], false)).toThrow('not in the room')
  expect(() => laidStep(stepRoom(undefined), [text('/proc/x')], true)).toThrow('entryname')
  expect(laidStep(stepRoom(undefined), [text('/room/out/a')], false).places).toEqual([])
})
