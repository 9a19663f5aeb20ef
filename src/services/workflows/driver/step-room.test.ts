import { expect, test } from 'vitest'
import type { Staged } from '../../../workflow/tool/room.ts'
import { laidStep, stepRoom } from './step-room.ts'

const text = (path: string): Staged => ({ kind: 'text', path, contents: '', writable: false })

test('the paths of a room are fixed, except the working directory that a container names', () => {
  expect(stepRoom(undefined)).toEqual({ outdir: '/room/out', tmpdir: '/tmp', inputsDir: '/room/in' })
  expect(stepRoom('/job').outdir).toBe('/job')
})

test('staged items are placed in the room, and a container mounts them at their own paths', () => {
  const staged = [text('/job/a'), text('/room/in/1/b'), text('/etc/tool.conf'), text('/etc/tool.conf/never')]
  expect(laidStep(stepRoom('/job'), staged, true)).toEqual({
    items: ['out/a', 'in/1/b', 'elsewhere/etc/tool.conf', 'elsewhere/etc/tool.conf/never'].map(text),
    places: [
      { path: 'out', at: '/job', writable: true },
      { path: 'elsewhere/etc/tool.conf', at: '/etc/tool.conf', writable: false },
    ],
  })
})

test('without a container no item is placed outside the room, and none over /proc', () => {
  expect(() => laidStep(stepRoom(undefined), [text('/etc/tool.conf')], false)).toThrow('not in the room')
  expect(() => laidStep(stepRoom(undefined), [text('/proc/x')], true)).toThrow('entryname')
  expect(laidStep(stepRoom(undefined), [text('/room/out/a')], false).places).toEqual([])
})
