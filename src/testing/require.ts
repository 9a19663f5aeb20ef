import { spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { describe, test } from 'vitest'

/**
 * Tests that need a program which not every machine has. Without it they are skipped and the reason is printed; when
 * WINDLASS_REQUIRE names it (a comma list), its absence is a failure, so that a complete run cannot pass by skipping.
 */
export interface Tool {
  readonly name: string
  readonly present: boolean
  /** The program to start, when present. */
  readonly command: string | undefined
  /** Why it counts as present or absent. */
  readonly reason: string
}

declare module 'vitest' {
  interface TaskMeta {
    skipReason?: string
  }
}

/** Tests that run the program as another user need a checkout whose folders that user may enter; /root is often closed. */
export const OPEN_CHECKOUT = 'a checkout that other users may read'
const CHECKOUT = resolve(import.meta.dirname, '../..')

const PYTHONS = ['python3', '/usr/bin/python3']

/** Tools that are more than a program in the PATH. */
const FINDERS: Readonly<Record<string, () => string | undefined>> = {
  [OPEN_CHECKOUT]: () => (isOpenToAll(CHECKOUT) ? CHECKOUT : undefined),
  'network namespaces of root': () => (process.getuid?.() === 0 ? onPath('ip') : undefined),
  'python3-grpcio': () => PYTHONS.find((python) => spawnSync(python, ['-c', 'import grpc']).status === 0),
}

const known = new Map<string, Tool>()

export function requireTool(name: string): Tool {
  const before = known.get(name)
  if (before !== undefined) return before
  const command = (FINDERS[name] ?? (() => onPath(name)))()
  const reason = command === undefined ? `${name} is not on this machine` : `${name} is ${command}`
  const tool = { name, present: command !== undefined, command, reason }
  known.set(name, tool)
  return tool
}

/** A suite that needs one tool or several. */
export function describeWith(tools: string | readonly string[], name: string, suite: () => void): void {
  const absent = absentAmong(tools)
  if (absent === undefined) describe(name, suite)
  else if (isRequired(absent.name)) describe(name, () => failing(absent))
  else describe(name, { skip: true, meta: { skipReason: absent.reason } }, suite)
}

/** A test that needs one tool or several. */
export function testWith(tools: string | readonly string[], name: string, body: () => void | Promise<void>): void {
  const absent = absentAmong(tools)
  if (absent === undefined) test(name, body)
  else if (isRequired(absent.name)) describe(name, () => failing(absent))
  else test(name, { skip: true, meta: { skipReason: absent.reason } }, body)
}

const failing = ({ name, reason }: Tool): void =>
  test(`needs ${name}`, () => {
    throw new Error(`${reason}, but WINDLASS_REQUIRE names it`)
  })

const absentAmong = (tools: string | readonly string[]): Tool | undefined =>
  [tools]
    .flat()
    .map(requireTool)
    .find((tool) => !tool.present)

const isRequired = (name: string): boolean =>
  (process.env.WINDLASS_REQUIRE ?? '')
    .split(',')
    .map((each) => each.trim())
    .includes(name)

const MAY_ENTER = 0o001

const isOpenToAll = (folder: string): boolean =>
  (statSync(folder).mode & MAY_ENTER) !== 0 && (folder === '/' || isOpenToAll(dirname(folder)))

function onPath(program: string): string | undefined {
  const places = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program))
  return places.find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
