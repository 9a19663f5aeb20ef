import type { Behaviour } from '../behaviour.ts'
import type { Need } from './needs.ts'
import { ACTION_CACHE } from './table/action-cache.ts'
import { BYTESTREAM } from './table/bytestream.ts'
import { CAPABILITIES } from './table/capabilities.ts'
import { CAS } from './table/cas.ts'
import { DIGESTS } from './table/digests.ts'
import type { Row } from './table/row.ts'

/**
 * What the Remote Execution API asks of a cache, one sentence at a time. Everything else about these behaviours (the
 * checks, the documentation, the reports) hangs on their ids, which therefore never change their meaning.
 */
const TABLE = { ...CAPABILITIES, ...DIGESTS, ...BYTESTREAM, ...CAS, ...ACTION_CACHE }

type Table = typeof TABLE
export type BehaviourId = { [Service in keyof Table]: keyof Table[Service] }[keyof Table]

export interface ReapiBehaviour extends Behaviour {
  readonly id: BehaviourId
  readonly needs: readonly Need[]
}

export const BEHAVIOURS: readonly ReapiBehaviour[] = Object.entries(TABLE).flatMap(([service, rows]) =>
  Object.entries(rows as Record<string, Row>).map(([id, row]) => ({
    since: '2.0',
    needs: [],
    ...row,
    id: id as BehaviourId,
    service,
  })),
)
