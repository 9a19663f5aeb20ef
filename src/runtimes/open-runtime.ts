import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError } from '../base/fault.ts'
import { bareRuntime } from './bare/bare.ts'
import type { RoomRuntimeOptions } from './namespaces/room-runtime.ts'
import type { Runtime, RuntimeName, RuntimeProbe } from './run/runtime.ts'
import { sandboxRuntime } from './sandbox/sandbox.ts'
import { unshareRuntime } from './unshare/unshare.ts'

/**
 * A runtime by name, or `auto` for the strongest one that works here: only runtimes with namespaces, because `bare`
 * must be named.
 */
export type RuntimeOptions = 'strongest' | 'bare' | 'unshare' | 'sandbox'

export interface RuntimeDeps extends Omit<RoomRuntimeOptions, 'user' | 'isRoot'> {
  /** The architecture, as Node names it. */
  readonly arch: string
  /** The worker's own uid. */
  readonly uid: number
  /**
   * The owner of rooms; undefined for a separate user when the worker is root, and for the worker's own user when not.
   */
  readonly user?: RoomUser | undefined
}

export interface RoomUser {
  readonly uid: number
  readonly gid: number
}

export interface RuntimeReport {
  readonly name: RuntimeName
  /** The owner of the rooms that the runtime would have made. */
  readonly user: RoomUser | undefined
  readonly probe: RuntimeProbe
}

export interface OpenRuntime {
  readonly runtime: Runtime
  readonly probe: Extract<RuntimeProbe, { works: true }>
  /** The user that owns rooms: their files must be made for that user. */
  readonly user: RoomUser | undefined
  /** All runtimes that were tried, in order. The last one is the opened runtime. */
  readonly tried: readonly RuntimeReport[]
}

/** A uid that distributions do not assign. */
export const OWN_USER: RoomUser = { uid: 65_521, gid: 65_521 }

/**
 * Opens a runtime that works here, or throws with the reasons why none does. When the worker is root, a room belongs to
 * another user if that user can reach the folder (not below /root, for example); otherwise to root under another uid,
 * which is weaker and is noted.
 */
export async function openRuntime(wanted: RuntimeOptions, deps: RuntimeDeps): Promise<OpenRuntime> {
  const tried: RuntimeReport[] = []
  for (const { name, user } of candidates(wanted, deps)) {
    const runtime = make(name, deps, user)
    const probe = await runtime.probe()
    tried.push({ name, user, probe })
    if (probe.works) return { runtime, probe, user, tried }
  }
  throw new FaultError({ kind: 'unavailable', what: refusal(wanted, tried) })
}

interface Candidate {
  readonly name: Exclude<RuntimeOptions, 'strongest'>
  readonly user: RoomUser | undefined
}

/** Bare runs as the worker itself unless another user is named. */
function candidates(wanted: RuntimeOptions, { uid, user }: RuntimeDeps): Candidate[] {
  if (wanted === 'bare') return [{ name: 'bare', user }]
  const names = wanted === 'strongest' ? (['sandbox', 'unshare'] as const) : [wanted]
  const users = uid === 0 ? [user ?? OWN_USER, ...(user === undefined ? [undefined] : [])] : [undefined]
  return names.flatMap((name) => users.map((each) => ({ name, user: each })))
}

function make(name: Candidate['name'], deps: RuntimeDeps, user: RoomUser | undefined): Runtime {
  if (name === 'bare') return bareRuntime({ ...deps, user })
  const folder = join(deps.folder, name)
  mkdirSync(folder, { recursive: true })
  for (const each of [deps.folder, folder]) chmodSync(each, 0o755) // rooms see parts of it
  const options = { ...deps, folder, user, isRoot: deps.uid === 0 }
  return name === 'sandbox' ? sandboxRuntime(options) : unshareRuntime(options)
}

function refusal(wanted: RuntimeOptions, tried: readonly RuntimeReport[]): string {
  const reasons = tried.map(({ name, probe }) => `${name}: ${probe.works ? '' : probe.reason}`)
  const what =
    wanted === 'strongest' ? 'no room with isolation can be made here' : `the ${wanted} runtime does not work here`
  return `${what} (${[...new Set(reasons)].join('; ')})`
}
