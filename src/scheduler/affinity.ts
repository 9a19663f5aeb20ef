import type { Worker } from './worker.ts'

/** Something that a worker is better off for having had before, and who lately had it, the last one first. */
export interface Input {
  workers: readonly Worker[]
}

/**
 * Inputs by name. Kept in two halves: when the newer is full it becomes the older, and what was not used since the last
 * time is forgotten with the one before.
 */
export interface Affinity {
  newer: Map<string, Input>
  older: Map<string, Input>
}

const WORKERS_AN_INPUT = 3
const MOST_INPUTS = 50_000

export const makeAffinity = (): Affinity => ({ newer: new Map(), older: new Map() })

export function inputOf(affinity: Affinity, name: string): Input {
  const newer = affinity.newer.get(name)
  if (newer !== undefined) return newer
  const input = affinity.older.get(name) ?? { workers: [] }
  affinity.newer.set(name, input)
  if (affinity.newer.size >= MOST_INPUTS) {
    affinity.older = affinity.newer
    affinity.newer = new Map()
  }
  return input
}

export function noteInputs(inputs: readonly Input[], worker: Worker): void {
  for (const input of inputs) {
    const { workers } = input
    if (workers[0] === worker) continue
    const next = [worker]
    for (const one of workers) if (one !== worker && next.length < WORKERS_AN_INPUT) next.push(one)
    input.workers = next
  }
}

export function hasInputs(inputs: readonly Input[], worker: Worker): boolean {
  for (const { workers } of inputs) if (workers.includes(worker)) return true
  return false
}
