/** The bare loops of floors/floor.ts. */
import { mkdirSync } from 'node:fs'
import { startChild } from '../../child.ts'
import type { Contestant } from '../contestant.ts'
import type { FloorAddress } from '../floors/floor.ts'
import { usageOf } from '../process-usage.ts'

export async function startFloor(folder: string): Promise<Contestant> {
  mkdirSync(folder, { recursive: true })
  const child = startChild(new URL('../floors/floor.ts', import.meta.url))
  const { pid, ports } = await child.ask<FloorAddress>({ folder })
  return {
    name: 'floor',
    durability: 'appended to one file; nothing is synced',
    readCheck: 'none',
    command: 'bench/cache/floors/floor.ts',
    port: (kind) => ports[kind],
    usage: () => usageOf(pid),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
