import type { Behaviour } from '../../behaviour.ts'
import type { Need } from '../probe/needs.ts'
import { ACTION_CACHE } from './action-cache.ts'
import { BYTESTREAM } from './bytestream.ts'
import { CAPABILITIES } from './capabilities.ts'
import { CAS } from './cas.ts'
import { DIGESTS } from './digests.ts'
import { EXECUTION } from './execution.ts'
import { EXECUTION_FILES } from './execution-files.ts'
import { OPERATIONS } from './operations.ts'
import type { BehaviourRow, BehaviourTable } from './row.ts'

/**
 * What the Remote Execution API asks of a server, one sentence at a time. Everything else about these behaviours (the
 * checks, the documentation, the reports) hangs on their ids, which therefore never change their meaning.
 */
const CACHE_TABLE = { ...CAPABILITIES, ...DIGESTS, ...BYTESTREAM, ...CAS, ...ACTION_CACHE }
const EXECUTION_TABLE = { ...EXECUTION, ...EXECUTION_FILES, ...OPERATIONS }

type IdsOf<Table> = { [Service in keyof Table]: keyof Table[Service] }[keyof Table]
export type CacheId = IdsOf<typeof CACHE_TABLE>
export type ExecutionId = IdsOf<typeof EXECUTION_TABLE>
export type BehaviourId = CacheId | ExecutionId

export interface ReapiBehaviour extends Behaviour {
  readonly id: BehaviourId
  readonly needs: readonly Need[]
}

const listOf = <Id extends BehaviourId>(table: BehaviourTable): readonly (ReapiBehaviour & { readonly id: Id })[] =>
  Object.entries(table).flatMap(([service, rows]) =>
    Object.entries(rows as Record<string, BehaviourRow>).map(([id, row]) => ({
      since: '2.0',
      needs: [],
      ...row,
      id: id as Id,
      service,
    })),
  )

/** Of a server that stores. */
export const CACHE_BEHAVIOURS = listOf<CacheId>(CACHE_TABLE)

/** Of one that runs commands as well. */
export const EXECUTION_BEHAVIOURS = listOf<ExecutionId>(EXECUTION_TABLE)

export const BEHAVIOURS: readonly ReapiBehaviour[] = [...CACHE_BEHAVIOURS, ...EXECUTION_BEHAVIOURS]
