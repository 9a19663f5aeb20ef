import { mkdir, statfs } from 'node:fs/promises'
import { FaultError } from '../base/fault.ts'
import type { Runtime, RuntimeProbe } from '../runtimes/run/runtime.ts'

export interface SelfCheck {
  readonly runtime: Runtime
  /** Where rooms and inputs will lie. */
  readonly folder: string
  readonly leastFreeBytes: number
}

/** Whether a worker can work at all. Better to refuse at the start, in words, than to fail one task after the other. */
export async function selfCheck(check: SelfCheck): Promise<Extract<RuntimeProbe, { works: true }>> {
  const probe = await check.runtime.probe()
  if (!probe.works) throw refusal(`the ${check.runtime.name} runtime does not work here: ${probe.reason}`)
  await mustHaveSpace(check)
  return probe
}

async function mustHaveSpace({ folder, leastFreeBytes }: SelfCheck): Promise<void> {
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
