import { expect, test } from 'vitest'
import { emptyRoom } from '../run/rooms.fixture.ts'
import { apptainerArgv, splitEnvironment } from './apptainer-argv.ts'

test('a path with commas, quotes and colons is one field of a mount', () => {
  using room = emptyRoom()
  const odd = { ...room, path: '/rooms/a,b"c:d', tmp: undefined }
  const fixed = { program: 'a', network: undefined, image: '/i', profile: '/p', empty: '/e' }
  const argv = apptainerArgv({ ...fixed, room: odd, cwd: odd.path })
  expect(argv[argv.indexOf('--mount') + 1]).toBe('"type=bind","source=/rooms/a,b""c:d","destination=/room"')
})

test('a variable that a shell cannot set is passed by `env`, any other by its APPTAINERENV_ prefix', () => {
  const env = new Map([
    ['A', '1 $HOME'],
    ['with.dots', '2'],
    ['UID', '3'],
    ['APPTAINER_BIND', '/etc'],
    ['__proto__', '4'],
  ])
  const { outer, inner } = splitEnvironment(env)
  expect(outer.filter(([name]) => name.startsWith('APPTAINERENV_'))).toEqual([
    ['APPTAINERENV_A', '1 $HOME'],
    ['APPTAINERENV___proto__', '4'],
  ])
  expect(inner).toEqual(['env', 'with.dots=2', 'UID=3', 'APPTAINER_BIND=/etc'])
  expect(splitEnvironment(new Map([['A', '1']])).inner).toEqual([])
})
