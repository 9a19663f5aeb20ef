/** Who is compared: each serves from a process of its own, so that its CPU time is its own. */
import type { PlanKind } from './plan.ts'
import type { Usage } from './process-usage.ts'

/** In the order of the table. `floor` is what the work itself costs, with no server around it. */
export const CONTESTANTS = ['windlass', 'bazel-remote', 'buildbox-casd', 'plain', 'floor'] as const
export type ContestantName = (typeof CONTESTANTS)[number]

export interface Contestant extends AsyncDisposable {
  readonly name: ContestantName
  /** What it promises about a blob whose upload it has acknowledged. */
  readonly durability: string
  /** What it checks when it reads one. */
  readonly readCheck: string
  /** As it was started, but for folders and ports. */
  readonly command: string
  port(kind: PlanKind): number
  usage(kind: PlanKind): Usage
}

/** Or why it does not take part. */
export type Found = { readonly contestant: Contestant } | { readonly absent: string }
