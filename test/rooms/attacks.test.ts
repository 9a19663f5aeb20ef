import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BareUnderTest, bareBy } from '../../src/runtimes/bare.fixture.ts'
import { removeTree } from '../../src/runtimes/remove-tree.ts'
import { commandOf, emptyRoom, PATH } from '../../src/runtimes/rooms.fixture.ts'
import type { RunEnd } from '../../src/runtimes/runtime.ts'
import { sandboxBy } from '../../src/runtimes/sandbox/sandbox.fixture.ts'
import { unshareBy } from '../../src/runtimes/unshare/unshare.fixture.ts'
import { requireTool } from '../../src/testing/require.ts'
import { aboutAttack, attackPrograms } from './attack-programs.ts'
import { ATTACKS, type Attack, type Outcome } from './attack-table.ts'
import { clearUp, leftBehind } from './host-state.ts'

/** Each of its own, so that whose process is left can be told. */
const users = { bare: at(65_525), unshare: at(65_526), sandbox: at(65_527) }
const DRIVERS = {
  bare: () => bareBy('spawner', true, { user: users.bare }),
  unshare: () => unshareBy({ way: 'spawner', useGroups: true, more: { user: users.unshare } }),
  sandbox: () => sandboxBy({ way: 'spawner', useGroups: true, more: { user: users.sandbox } }),
}
const TOOLS = { bare: ['gcc'], unshare: ['gcc', 'unshare'], sandbox: ['gcc', 'bwrap'] }

function at(id: number) {
  return { uid: id, gid: id }
}

/** As another user than our own: a bare attack that kills all it may would else kill us. */
const isRoot = process.getuid?.() === 0

let programs: Awaited<ReturnType<typeof attackPrograms>>
let host: Awaited<ReturnType<typeof openHost>>
beforeAll(async () => {
  if (!isRoot || !requireTool('gcc').present) return
  programs = await attackPrograms()
  host = await openHost()
  process.env.ATTACK_SECRET = 'of the worker'
}, 120_000)
afterAll(() => {
  delete process.env.ATTACK_SECRET
  programs?.[Symbol.dispose]()
  host?.close()
})

describe.each(['bare', 'unshare', 'sandbox'] as const)('attacks on a room by %s', (name) => {
  const absent = TOOLS[name].map(requireTool).find(({ present }) => !present)
  const why = isRoot ? absent?.reason : 'only root can attack as somebody else'
  const options = why === undefined ? {} : { skip: true, meta: { skipReason: why } }
  let driver: BareUnderTest
  beforeAll(() => {
    if (why === undefined) driver = DRIVERS[name]()
  })
  afterAll(() => driver?.close())

  for (const attack of ATTACKS) {
    const expected = attack.expected[name]
    if (expected === undefined) continue
    test(`${attack.file}: ${aboutAttack(attack.file)} ${expected}`, options, async () => {
      const room = emptyRoom()
      const folder = join(room.path, '..')
      const suspects = { uid: users[name].uid, launcher: driver.name, folders: [folder] }
      try {
        const end = await run(driver, attack, room)
        const left = await leftBehind(suspects)
        const fine = expected === 'as the kernel is set' ? ['through', 'refused', 'signal'] : [expected]
        expect(fine, words(end)).toContain(left.includes('shared memory') ? 'through' : outcomeOf(end))
        if (attack.file === 'core-dump.c') expect(readdirSync(room.path)).toEqual(['attack'])
        if (name !== 'bare') expect(left).toEqual([])
        expect(left.filter((each) => !/^(file|shared memory)/.test(each))).toEqual([])
      } finally {
        clearUp()
        await removeTree(folder)
      }
      expect(existsSync(folder)).toBe(false)
    })
  }
})

function run({ runtime }: BareUnderTest, attack: Attack, room: ReturnType<typeof emptyRoom>): Promise<RunEnd> {
  programs.put(attack.file, room.path)
  const env = Object.entries({
    PATH,
    ...host.env,
    ATTACK_ROOM: room.path,
    ...Object.fromEntries(
      Object.entries(attack.env ?? {}).map(([name, value]) => [name, value.replace('$ROOM', room.path)]),
    ),
  }).map(([name, value]) => ({ name, value }))
  const limits = { wallMs: 20_000, outputBytes: 1 << 16, ...attack.limits }
  const command = commandOf(['./attack'], { env })
  return runtime.run({ command, room, limits, hooks: {} }, new AbortController().signal)
}

function outcomeOf({ cause, exitCode }: RunEnd): Outcome | string {
  if (cause === 'ok') return 'through'
  if (exitCode === 7 && (cause === 'exit' || cause === 'pid-limit')) return 'refused'
  return cause === 'exit' ? `exit ${exitCode}` : cause
}

const words = (end: RunEnd): string =>
  [
    end.cause,
    end.exitCode,
    end.reason,
    ...[end.stdout, end.stderr].map(({ bytes }) => Buffer.from(bytes.subarray(0, 500)).toString()),
  ].join(' | ')

/** What a room must not reach: sockets of every kind, and a file that anybody may read. */
async function openHost() {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-host-'))
  const file = join(folder, 'of-another-room')
  writeFileSync(file, 'a secret', { mode: 0o644 })
  const name = `windlass-attack-${process.pid}`
  const [tcp, abstract, socket] = await Promise.all([
    listening(0),
    listening(`\0${name}`),
    listening(join(folder, 's')),
  ])
  for (const path of [folder, join(folder, 's')]) chmodSync(path, 0o777)
  const { port } = tcp.address() as { port: number }
  return {
    env: { ATTACK_PORT: `${port}`, ATTACK_NAME: name, ATTACK_SOCKET: join(folder, 's'), ATTACK_FILE: file },
    close() {
      for (const server of [tcp, abstract, socket]) server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function listening(where: number | string): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}).end())
  return new Promise((resolve) => {
    if (typeof where === 'number') server.listen(where, '127.0.0.1', () => resolve(server))
    else server.listen(where, () => resolve(server))
  })
}
