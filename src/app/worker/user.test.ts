import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { closedOnTheWay, commandUser } from './user.ts'
import { holdWorkFolder } from './work-folder.ts'

describe('user of commands', () => {
  test('a worker that is root runs commands as uid 65521 by default', () =>
    expect(commandUser(undefined, 0)).toEqual({ uid: 65_521, gid: 65_521 }))

  test.each([
    ['1234', { uid: 1234, gid: 1234 }],
    ['1234:99', { uid: 1234, gid: 99 }],
    ['root', undefined],
    ['0', undefined],
  ])('a worker that is root runs commands as the named user %j', (named, user) =>
    expect(commandUser(named, 0)).toEqual(user),
  )

  test('a worker that is not root runs commands as itself', () => {
    expect(commandUser(undefined, 1000)).toBeUndefined()
    expect(commandUser('1000', 1000)).toBeUndefined()
  })

  test('a worker that is not root cannot run commands as another user', () =>
    expect(() => commandUser('1001', 1000)).toThrow('only a worker that is root'))

  test('an unknown user name is refused', () =>
    expect(() => commandUser('no such user', 0)).toThrow('there is no user "no such user"'))
})

describe('work folder for commands of another user', () => {
  const user = { uid: 65_534, gid: 65_534 }
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windlass-work-folder-'))
    mkdirSync(join(folder, 'closed/data'), { recursive: true })
    chmodSync(folder, 0o711)
    chmodSync(join(folder, 'closed'), 0o700)
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('a folder behind a closed directory is refused, with that directory', () => {
    expect(closedOnTheWay(join(folder, 'closed/data/x'))).toBe(join(folder, 'closed'))
    expect(closedOnTheWay(join(folder, 'open/data'))).toBeUndefined()
    const named = join(folder, 'closed/data/x')
    expect(() => holdWorkFolder({ named, dataDir: folder, pid: process.pid, user })).toThrow(
      `since ${join(folder, 'closed')} is closed to others`,
    )
  })

  test('below a closed data directory, the work folder is in /var/tmp', () => {
    const held = holdWorkFolder({ named: undefined, dataDir: join(folder, 'closed/data'), pid: process.pid, user })
    try {
      expect(held.path).toMatch(/^\/var\/tmp\/windlass-[0-9a-f]{12}\/worker-1$/)
      expect(closedOnTheWay(held.path)).toBeUndefined()
    } finally {
      held.release()
    }
    expect(existsSync(dirname(held.path))).toBe(false)
  })

  test('the work folder is in an open data directory', () => {
    const held = holdWorkFolder({ named: undefined, dataDir: folder, pid: process.pid, user })
    held.release()
    expect(held.path).toBe(join(folder, 'worker-1'))
  })
})
