import type { BehaviourLevel } from '../../behaviour.ts'
import type { Need } from '../probe/needs.ts'

/** One line of the table; its id is its key. */
export interface BehaviourRow {
  readonly level: BehaviourLevel
  readonly sentence: string
  /** Default: 2.0. */
  readonly since?: string
  readonly needs?: readonly Need[]
  readonly note?: string
}

/** By service, then by id. */
export type BehaviourTable = Readonly<Record<string, Readonly<Record<string, BehaviourRow>>>>

type More = Omit<BehaviourRow, 'level' | 'sentence'>

export const mustRow = (sentence: string, more: More = {}): BehaviourRow => ({ level: 'must', sentence, ...more })

export const shouldRow = (sentence: string, more: More = {}): BehaviourRow => ({ level: 'should', sentence, ...more })
