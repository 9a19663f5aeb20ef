import type { Level } from '../../behaviour.ts'
import type { Need } from '../probe/needs.ts'

/** One line of the table; its id is its key. */
export interface Row {
  readonly level: Level
  readonly sentence: string
  /** 2.0 where nothing is said. */
  readonly since?: string
  readonly needs?: readonly Need[]
  readonly note?: string
}

/** By service, then by id. */
export type Rows = Readonly<Record<string, Readonly<Record<string, Row>>>>

type More = Omit<Row, 'level' | 'sentence'>

export const must = (sentence: string, more: More = {}): Row => ({ level: 'must', sentence, ...more })

export const should = (sentence: string, more: More = {}): Row => ({ level: 'should', sentence, ...more })
