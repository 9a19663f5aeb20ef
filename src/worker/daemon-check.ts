import { mkdir, statfs } from 'node:fs/promises'
import { digestListOf } from '../base/digest-list.ts'
import { FaultError } from '../base/fault.ts'
import { digestOf } from '../base/hashing/hash-of.ts'
import type { Probe, Runtime } from '../runtimes/runtime.ts'
import type { BlobStore } from '../storage/blob-store.ts'

export interface SelfCheck {
  readonly store: BlobStore
  /** As the person who started us wrote it. */
  readonly storeName: string
  readonly runtime: Runtime
  /** Where rooms and inputs will lie. */
  readonly folder: string
  readonly leastFreeBytes: number
}

/** Whether a worker can work at all. Better to refuse at the start, in words, than to fail one task after the other. */
export async function selfCheck(check: SelfCheck): Promise<Extract<Probe, { works: true }>> {
  const probe = await check.runtime.probe()
  if (!probe.works) throw refusal(`the ${check.runtime.name} runtime does not work here: ${probe.reason}`)
  await mustHaveSpace(check)
  await mustReach(check)
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

async function mustReach({ store, storeName }: SelfCheck): Promise<void> {
  const digest = digestOf('sha256', Buffer.from('windlass worker'))
  try {
    await store.missing(digestListOf('sha256', [digest]), new Uint8Array(1))
  } catch (error) {
    const next = 'is a server running there? "windlass up" starts one, and --server-url or --cas-url names another'
    throw refusal(`the store at ${storeName} does not answer: ${(error as Error).message}\n${next}`, error)
  }
}

const refusal = (what: string, cause?: unknown): FaultError => new FaultError({ kind: 'unavailable', what }, cause)
