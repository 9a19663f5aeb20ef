/** The plain server of servers/plain.ts. */
import { mkdirSync } from 'node:fs'
import { startChild } from '../../child.ts'
import type { Contestant } from '../contestant.ts'
import { usageOf } from '../process-usage.ts'

export async function startPlain(folder: string): Promise<Contestant> {
  mkdirSync(folder, { recursive: true })
  const child = startChild(new URL('../servers/plain.ts', import.meta.url))
  const { port, pid } = await child.ask<{ port: number; pid: number }>({ folder })
  return {
    name: 'plain',
    durability: 'a file for each blob, renamed into place; nothing is synced',
    readCheck: 'none',
    command: 'bench/cache/servers/plain.ts',
    port: () => port,
    usage: () => usageOf(pid),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
