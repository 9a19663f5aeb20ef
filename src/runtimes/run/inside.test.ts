import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pathInside, pathShown, shownPlaces } from './inside.ts'
import { emptyRoom } from './rooms.fixture.ts'

const place = (path: string, at: string) => ({ path, at, writable: true })

test('a path has the name that was chosen for it, and else that of every room', () => {
  using room = emptyRoom()
  const shown = { ...room, places: [place('out', '/job')] }
  expect(pathShown(join(room.path, 'out/a'), shown)).toBe('/job/a')
  expect(pathShown(join(room.path, 'outer'), shown)).toBe('/room/outer')
  expect(pathInside(join(room.path, 'out'), shown)).toBe('/room/out')
})

test('what is shown elsewhere is of the room itself', () => {
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

test('what is closed to writing is so by every name', () => {
  using room = emptyRoom()
  mkdirSync(join(room.path, 'in'))
  const [shown] = shownPlaces({ ...room, readOnly: ['in'], places: [place('in', '/data')] })
  expect(shown?.writable).toBe(false)
})
