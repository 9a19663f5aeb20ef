import type { Stager } from '../../../stagers/stager.ts'
import { BLOB_STORE } from '../../../stagers/stager.ts'
import type { ToolCommand } from '../../../workflow/tool/tool-command.ts'
import { escapePath } from '../../../workflow/values/uri.ts'
import type { StepEnd } from './step-grid.ts'

/** Maps the location of an input to the location of the changed data. */
export type Replaced = Readonly<Record<string, string>>

/**
 * InplaceUpdateRequirement: a command changes its input, and later steps with the same input see the change. Blobs
 * never change, so the location is mapped to a new one.
 */
export async function replacedBy(
  { inplaceUpdate, staged, room }: ToolCommand,
  { outputs: { root } }: StepEnd,
  stager: Pick<Stager, 'put'>,
): Promise<Replaced> {
  if (!inplaceUpdate || root === undefined) return {}
  const outdir = await stager.put({ kind: 'directory', digest: root }, BLOB_STORE)
  const moves = staged.flatMap((one): [string, string][] => {
    if (!('location' in one) || !one.writable || !one.path.startsWith(`${room.outdir}/`)) return []
    return [[one.location, `${outdir}/${escapePath(one.path.slice(room.outdir.length + 1))}`]]
  })
  return Object.fromEntries(moves)
}

/** Follows replacements of a location, and of the directories that it lies in. */
export const replacing = (inner: Stager, replaced: ReadonlyMap<string, string>): Stager => ({
  ...inner,
  async find(location) {
    if (replaced.size === 0) return inner.find(location)
    let now = location
    // A changed file may be changed again; each replacement leads to the newest one.
    for (let turn = 0; turn <= replaced.size; turn += 1) {
      const next = replacementOf(now, replaced)
      if (next === undefined) break
      now = next
    }
    return inner.find(now)
  },
})

function replacementOf(location: string, replaced: ReadonlyMap<string, string>): string | undefined {
  for (let end = location.length; end > 0; end = location.lastIndexOf('/', end - 1)) {
    const to = replaced.get(location.slice(0, end))
    if (to !== undefined) return to + location.slice(end)
  }
  return undefined
}
