import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pathInside } from '../run/inside.ts'
import { emptyRoom } from '../run/rooms.fixture.ts'
import { pathShown, shownPlaces } from './room-places.ts'

const place = (path: string, at: string) => ({ path, at, writable: true })

test('a path is shown below its chosen place, or below /room without one', () => {
  using room = emptyRoom()
  const shown = { ...room, places: [place('out', '/job')] }
  expect(pathShown(join(room.path, 'out/a'), shown)).toBe('/job/a')
  expect(pathShown(join(room.path, 'outer'), shown)).toBe('/room/outer')
  expect(pathInside(join(room.path, 'out'), shown)).toBe('/room/out')
})

test('a place must be a directory inside the room, and not over / or /proc', () => {
  using room = emptyRoom()
  mkdirSync(join(room.path, 'out'))
  symlinkSync('/', join(room.path, 'all'))
  expect(shownPlaces({ ...room, places: [place('out', '/job')] })).toEqual([place(join(room.path, 'out'), '/job')])
  for (const [path, at] of [
    ['all', '/job'],
    ['all/etc', '/job'],
    ['../tmp', '/job'],
    ['none', '/job'],
    ['out', '/proc/self'],
    ['out', '/'],
  ] as const)
    expect(() => shownPlaces({ ...room, places: [place(path, at)] })).toThrow('cannot be mounted')
})

test('a read-only path is read-only under every name', () => {
  using room = emptyRoom()
  mkdirSync(join(room.path, 'in'))
  const [shown] = shownPlaces({ ...room, readOnly: ['in'], places: [place('in', '/data')] })
  expect(shown?.writable).toBe(false)
})
