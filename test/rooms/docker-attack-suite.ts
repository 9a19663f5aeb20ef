import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeTree } from '../../src/runtimes/remove-tree.ts'
import { commandOf, emptyRoom } from '../../src/runtimes/rooms.fixture.ts'
import type { RunEnd, Runtime } from '../../src/runtimes/runtime.ts'
import { requireTool } from '../../src/testing/require.ts'
import { aboutAttack, attackPrograms } from './attack-programs.ts'
import { ATTACKS, type Attack, type Outcome } from './attack-table.ts'
import { leftBehind } from './host-state.ts'

export interface Attacked {
  readonly runtime: Runtime
  /** Who its commands run as, seen from outside. */
  readonly uid: number
  /** Of its launcher, where it has one. */
  readonly launcher?: string
  close(): Promise<void>
}

export interface AttackSuite {
  readonly name: string
  /** Why it cannot be attacked here; undefined when it can. */
  readonly why: string | undefined
  readonly start: () => Promise<Attacked>
  /** What comes of attacks that end otherwise than in a sandbox. */
  readonly otherwise: Readonly<Record<string, Outcome | readonly string[]>>
}

const PATH = '/usr/bin:/bin'
const PYTHON = '/usr/bin/python3'

/** Why no attack can be made here. */
export function whyNoAttacks(): string | undefined {
  if (spawnSync(PYTHON, ['-V']).status !== 0) return `${PYTHON} is not on this machine`
  return ['gcc', 'ldd'].map(requireTool).find(({ present }) => !present)?.reason
}

/** All attacks on rooms that are containers. The same rules hold in them as in a sandbox, so the same is expected. */
export function attackSuite({ name, why, start, otherwise }: AttackSuite): void {
  describe(`attacks on a room by ${name}`, why === undefined ? {} : { skip: true, meta: { skipReason: why } }, () => {
    let attacked: Attacked
    let programs: Awaited<ReturnType<typeof attackPrograms>>
    let host: Awaited<ReturnType<typeof openHost>>
    beforeAll(async () => {
      attacked = await start()
      programs = await attackPrograms()
      host = await openHost()
    }, 180_000)
    afterAll(async () => {
      host?.close()
      programs?.[Symbol.dispose]()
      await attacked?.close()
    })

    for (const attack of ATTACKS) {
      const expected = otherwise[attack.file] ?? attack.expected.sandbox
      if (expected === undefined) continue
      test(`${attack.file}: ${aboutAttack(attack.file)} ${[expected].flat().join(' or ')}`, async () => {
        const { runtime, uid, launcher = 'none' } = attacked
        const room = emptyRoom()
        const folder = join(room.path, '..')
        try {
          programs.put(attack.file, room.path)
          const end = await runtime.run(runOf(attack, room, host.env), new AbortController().signal)
          expect([expected].flat(), words(end)).toContain(outcomeOf(end))
          expect(await leftBehind({ uid, launcher, folders: [folder] })).toEqual([])
        } finally {
          await removeTree(folder)
        }
      })
    }
  })
}

function runOf(attack: Attack, room: ReturnType<typeof emptyRoom>, about: Readonly<Record<string, string>>) {
  const own = Object.entries(attack.env ?? {}).map(
    ([name, value]) => [name, value.replace('$ROOM', room.path)] as const,
  )
  const all = Object.entries({ PATH, ...about, ATTACK_ROOM: room.path, ...Object.fromEntries(own) })
  const command = commandOf(['./attack'], { env: all.map(([name, value]) => ({ name, value })) })
  return { command, room, limits: { wallMs: 20_000, outputBytes: 1 << 16, ...attack.limits }, hooks: {} }
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

/** What attacks are written for, beside what busybox has: a C library, and Python. */
export function addSystem(root: string): void {
  const python = realpathSync(PYTHON)
  const needed = spawnSync('ldd', [python], { encoding: 'utf8' }).stdout.match(/\/\S+/g) ?? []
  for (const path of [python, ...needed]) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    copyFileSync(path, join(root, path))
  }
  if (python !== PYTHON) copyFileSync(python, join(root, PYTHON))
  const asked = spawnSync(PYTHON, ['-c', 'import sysconfig; print(sysconfig.get_path("stdlib"))'], { encoding: 'utf8' })
  const library = asked.stdout.trim()
  cpSync(library, join(root, library), { recursive: true, verbatimSymlinks: true })
  symlinkSync('../../bin/busybox', join(root, 'usr/bin/env'))
}

/** What a room must not reach: sockets of every kind, and a file that anybody may read. */
async function openHost() {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-host-'))
  const file = join(folder, 'of-another-room')
  writeFileSync(file, 'a secret', { mode: 0o644 })
  const name = `windlass-attack-docker-${process.pid}`
  const servers = [createServer(), createServer(), createServer()] as const
  const [tcp, abstract, socket] = servers
  for (const server of servers) server.on('connection', (each) => each.on('error', () => {}).end())
  await Promise.all([
    listening(tcp, { port: 0, host: '127.0.0.1' }),
    listening(abstract, { path: `\0${name}` }),
    listening(socket, { path: join(folder, 's') }),
  ])
  const { port } = tcp.address() as { port: number }
  return {
    env: { ATTACK_PORT: `${port}`, ATTACK_NAME: name, ATTACK_SOCKET: join(folder, 's'), ATTACK_FILE: file },
    close() {
      for (const server of servers) server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const listening = (server: Server, where: object): Promise<void> =>
  new Promise((resolve) => server.listen(where, resolve))
