import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeTree } from '../../src/runtimes/remove/remove-tree.ts'
import { commandOf, emptyRoom, PATH } from '../../src/runtimes/run/rooms.fixture.ts'
import type { Run, RunEnd, Runtime } from '../../src/runtimes/run/runtime.ts'
import { requireTool } from '../../src/testing/require.ts'
import { aboutAttack, attackPrograms } from './attack-programs.ts'
import { ATTACKS, type Attack, type AttackedRoom } from './attack-table.ts'
import { clearUp, leftBehind } from './host-state.ts'

export interface Attacked {
  readonly runtime: Runtime
  /** The host uid of its commands, which no other process on this machine has. */
  readonly uid: number
  /** The folder of its launcher, where it has one. */
  readonly launcher?: string
  /** Processes of that user that belong to the worker: its spawner, where the worker is an ordinary user. */
  readonly own?: readonly string[]
  close(): Promise<void>
}

export interface AttackTarget {
  readonly room: AttackedRoom
  /** The difference from other targets of its kind. */
  readonly how: string
  /** The attacks that are tried; by default all. */
  readonly only?: (attack: Attack) => boolean
  /** The reason why it cannot be attacked here; undefined when it can. */
  readonly why: string | undefined
  readonly start: () => Attacked | Promise<Attacked>
}

/** The reason why no attack can run here, or not without these tools. */
export function whyNoAttacks(...tools: readonly string[]): string | undefined {
  // A bare attack that kills every process of its user would otherwise kill the test.
  if (process.getuid?.() !== 0) return 'only root can attack as somebody else'
  return ['gcc', ...tools].map(requireTool).find(({ present }) => !present)?.reason
}

type Tools = Awaited<ReturnType<typeof openTools>>

/** Runs every program of the table against each kind of room, and checks the machine after each. */
export function attackSuite(targets: readonly AttackTarget[]): void {
  let tools: Tools | undefined
  beforeAll(async () => {
    if (targets.some(({ why }) => why === undefined)) tools = await openTools()
  }, 180_000)
  afterAll(() => tools?.close())

  describe.each(targets)('attacks on a room by $room, $how', ({ room, why, start, only = () => true }) => {
    const options = why === undefined ? {} : { skip: true, meta: { skipReason: why } }
    let attacked: Attacked | undefined
    beforeAll(async () => {
      if (why === undefined) attacked = await start()
    }, 180_000)
    afterAll(() => attacked?.close())

    for (const attack of ATTACKS.filter(only))
      test(`${attack.file}: ${aboutAttack(attack.file)} ${attack.expected[room]}`, options, () =>
        tried(attack, room, { attacked: attacked as Attacked, tools: tools as Tools }),
      )
  })
}

interface Scene {
  readonly attacked: Attacked
  readonly tools: Tools
}

async function tried(attack: Attack, kind: AttackedRoom, { attacked, tools }: Scene): Promise<void> {
  const { runtime, uid, launcher = 'none', own = [] } = attacked
  const room = emptyRoom()
  const folder = join(room.path, '..')
  try {
    tools.programs.put(attack.file, room.path)
    const end = await runtime.run(runOf(attack, room, tools.env), new AbortController().signal)
    const left = await leftBehind({ uid, launcher, own, folders: [folder] })
    expect(fineFor(attack, kind), words(end)).toContain(left.includes('shared memory') ? 'through' : outcomeOf(end))
    if (attack.file === 'core-dump.c') expect(readdirSync(room.path)).toEqual(['attack'])
    // A bare room is known to leave files and shared memory behind.
    const isKnown = (each: string): boolean => kind === 'bare' && /^(file|shared memory)/.test(each)
    expect(left.filter((each) => !isKnown(each))).toEqual([])
  } finally {
    clearUp()
    await removeTree(folder)
  }
  expect(existsSync(folder)).toBe(false)
}

const fineFor = ({ expected }: Attack, kind: AttackedRoom): readonly string[] =>
  expected[kind] === 'as the kernel is set' ? ['through', 'refused', 'signal'] : expected[kind].split(' or ')

function runOf(attack: Attack, room: ReturnType<typeof emptyRoom>, about: Readonly<Record<string, string>>): Run {
  const own = Object.entries(attack.env ?? {}).map(([name, value]) => [name, value.replace('$ROOM', room.path)])
  const all: Record<string, string> = { PATH, ...about, ATTACK_ROOM: room.path, ...Object.fromEntries(own) }
  const env = Object.entries(all).map(([name, value]) => ({ name, value }))
  const limits = { wallMs: 20_000, outputBytes: 1 << 16, ...attack.limits }
  return { command: commandOf(['./attack'], { env }), room, limits, hooks: {} }
}

function outcomeOf({ cause, exitCode }: RunEnd): string {
  if (cause === 'ok') return 'through'
  if (exitCode === 7 && (cause === 'exit' || cause === 'pid-limit')) return 'refused'
  return cause === 'exit' ? `exit ${exitCode}` : cause
}

const words = ({ cause, exitCode, reason, stdout, stderr }: RunEnd): string =>
  [
    ...[cause, exitCode, reason],
    ...[stdout, stderr].map(({ bytes }) => Buffer.from(bytes.subarray(0, 500)).toString()),
  ].join(' | ')

/**
 * The programs, and resources that a room must not reach: sockets of every kind, a world-readable file, our
 * environment.
 */
async function openTools() {
  const programs = await attackPrograms()
  const folder = mkdtempSync(join(tmpdir(), 'windlass-host-'))
  const [file, path] = [join(folder, 'of-another-room'), join(folder, 's')]
  writeFileSync(file, 'a secret', { mode: 0o644 })
  const name = `windlass-attack-${process.pid}`
  const tcp = await listening({ port: 0, host: '127.0.0.1' })
  const servers = [tcp, await listening({ path: `\0${name}` }), await listening({ path })]
  for (const each of [folder, path]) chmodSync(each, 0o777)
  const { port } = tcp.address() as { port: number }
  process.env.ATTACK_SECRET = 'of the worker'
  return {
    programs,
    env: { ATTACK_PORT: `${port}`, ATTACK_NAME: name, ATTACK_SOCKET: path, ATTACK_FILE: file },
    close() {
      delete process.env.ATTACK_SECRET
      programs[Symbol.dispose]()
      for (const server of servers) server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function listening(where: object): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}).end())
  return new Promise((resolve) => server.listen(where, () => resolve(server)))
}
