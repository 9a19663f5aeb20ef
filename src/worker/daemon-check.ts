import { mkdir, statfs } from 'node:fs/promises'
import { FaultError } from '../base/fault.ts'
import type { Runtime, RuntimeProbe } from '../runtimes/run/runtime.ts'

export interface SpaceCheck {
  /** The folder of rooms and inputs. */
  readonly folder: string
  readonly leastFreeBytes: number
}

/**
 * Tests the runtime. A worker whose runtime does not work refuses to start, with the reason; otherwise every task would
 * fail on it.
 */
export async function selfCheck(runtime: Runtime): Promise<Extract<RuntimeProbe, { works: true }>> {
  const probe = await runtime.probe()
  if (!probe.works) throw refusal(`the ${runtime.name} runtime does not work here: ${probe.reason}`)
  return probe
}

/** Called before the first write to the folder: a full disk is reported as such, not as a failed write. */
export async function mustHaveSpace({ folder, leastFreeBytes }: SpaceCheck): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
    const { bavail, bsize } = await statfs(folder)
    const free = bavail * bsize
    if (free < leastFreeBytes)
      throw refusal(`${folder} has ${inMib(free)} MiB free, and a worker needs ${inMib(leastFreeBytes)} at least`)
  } catch (error) {
    if (error instanceof FaultError) throw error
    throw refusal(`${folder} cannot be used: ${(error as Error).message}`, error)
  }
}

const inMib = (bytes: number): number => Math.floor(bytes / (1 << 20))

const refusal = (what: string, cause?: unknown): FaultError => new FaultError({ kind: 'unavailable', what }, cause)
