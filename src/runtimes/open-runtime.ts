import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError } from '../base/fault.ts'
import { bareRuntime } from './bare/bare.ts'
import type { RoomRuntimeOptions } from './namespaces/room-runtime.ts'
import type { Runtime, RuntimeName, RuntimeProbe } from './run/runtime.ts'
import { sandboxRuntime } from './sandbox/sandbox.ts'
import { unshareRuntime } from './unshare/unshare.ts'

/** One by name, or the strongest that works here: rooms with namespaces only, for `bare` is asked for by name. */
export type RuntimeOptions = 'strongest' | 'bare' | 'unshare' | 'sandbox'

export interface RuntimeDeps extends Omit<RoomRuntimeOptions, 'user' | 'isRoot'> {
  /** Of this machine, as Node names it. */
  readonly arch: string
  /** The worker's own number as a user. */
  readonly uid: number
  /** Who rooms are to belong to; undefined for a user of their own where we are root, and the worker's own where not. */
  readonly user?: RoomUser | undefined
}

export interface RoomUser {
  readonly uid: number
  readonly gid: number
}

export interface RuntimeReport {
  readonly name: RuntimeName
  /** Who its rooms would have belonged to. */
  readonly user: RoomUser | undefined
  readonly probe: RuntimeProbe
}

export interface OpenRuntime {
  readonly runtime: Runtime
  readonly probe: Extract<RuntimeProbe, { works: true }>
  /** Who rooms belong to: they and what is placed in them must be made for that user. */
  readonly user: RoomUser | undefined
  /** Of all that were tried, in order, this one last. */
  readonly tried: readonly RuntimeReport[]
}

/** Numbers that distributions give to nobody. */
export const OWN_USER: RoomUser = { uid: 65_521, gid: 65_521 }

/**
 * Opens a runtime that works here, or tells why none does. Where we are root a room belongs to another user if that
 * one can reach the folder (not below /root, say), and to root under another number else, which is weaker and noted.
 */
export async function openRuntime(wish: RuntimeOptions, deps: RuntimeDeps): Promise<OpenRuntime> {
  const tried: RuntimeReport[] = []
  for (const { name, user } of candidates(wish, deps)) {
    const runtime = make(name, deps, user)
    const probe = await runtime.probe()
    tried.push({ name, user, probe })
    if (probe.works) return { runtime, probe, user, tried }
  }
  throw new FaultError({ kind: 'unavailable', what: refusal(wish, tried) })
}

interface Candidate {
  readonly name: Exclude<RuntimeOptions, 'strongest'>
  readonly user: RoomUser | undefined
}

/** Bare runs as the worker itself unless another user is named: who asks for it may want just that. */
function candidates(wish: RuntimeOptions, { uid, user }: RuntimeDeps): Candidate[] {
  if (wish === 'bare') return [{ name: 'bare', user }]
  const names = wish === 'strongest' ? (['sandbox', 'unshare'] as const) : [wish]
  const users = uid === 0 ? [user ?? OWN_USER, ...(user === undefined ? [undefined] : [])] : [undefined]
  return names.flatMap((name) => users.map((each) => ({ name, user: each })))
}

function make(name: Candidate['name'], deps: RuntimeDeps, user: RoomUser | undefined): Runtime {
  if (name === 'bare') return bareRuntime({ ...deps, user })
  const folder = join(deps.folder, name)
  mkdirSync(folder, { recursive: true })
  for (const each of [deps.folder, folder]) chmodSync(each, 0o755) // rooms see some of what is in it
  const options = { ...deps, folder, user, isRoot: deps.uid === 0 }
  return name === 'sandbox' ? sandboxRuntime(options) : unshareRuntime(options)
}

function refusal(wish: RuntimeOptions, tried: readonly RuntimeReport[]): string {
  const reasons = tried.map(({ name, probe }) => `${name}: ${probe.works ? '' : probe.reason}`)
  const what =
    wish === 'strongest' ? 'no room with isolation can be made here' : `the ${wish} runtime does not work here`
  return `${what} (${[...new Set(reasons)].join('; ')})`
}
