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
 * The requirements of the Remote Execution API, one sentence each. Checks, documentation and reports refer to the IDs,
 * which therefore never change their meaning.
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

/** Behaviours of a cache. */
export const CACHE_BEHAVIOURS = listOf<CacheId>(CACHE_TABLE)

/** Behaviours of a server that also executes actions. */
export const EXECUTION_BEHAVIOURS = listOf<ExecutionId>(EXECUTION_TABLE)

export const BEHAVIOURS: readonly ReapiBehaviour[] = [...CACHE_BEHAVIOURS, ...EXECUTION_BEHAVIOURS]
