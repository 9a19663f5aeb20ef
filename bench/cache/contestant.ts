/** The contestants. Each is a separate process, so that its CPU time can be measured. */
import type { PlanKind } from './plan.ts'
import type { Usage } from './process-usage.ts'

/** In the order of the table. `floor` is the work alone, without a server. */
export const CONTESTANTS = ['windlass', 'bazel-remote', 'bb_storage', 'buildbox-casd', 'plain', 'floor'] as const
export type ContestantName = (typeof CONTESTANTS)[number]

export interface Contestant extends AsyncDisposable {
  readonly name: ContestantName
  /** The durability of an acknowledged upload. */
  readonly durability: string
  /** The check of a blob when it is read. */
  readonly readCheck: string
  /** The command line, without folders and ports. */
  readonly command: string
  port(kind: PlanKind): number
  usage(kind: PlanKind): Usage
}

/** A contestant, or the reason why it is absent. */
export type Found = { readonly contestant: Contestant } | { readonly absent: string }
