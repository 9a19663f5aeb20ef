import { mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { hierarchiesOf } from '../../src/runtimes/cgroups/hierarchies.ts'

/**
 * A control group that counts the processor time of whoever is in it and of all that they start, also of those whose
 * parents did not wait for them. Undefined where none can be made: then only time is measured.
 */
export function countingGroup(name: string): { readonly path: string; remove(): void } | undefined {
  const read = (file: string): string => readFileSync(file, 'utf8')
  const all = hierarchiesOf(read('/proc/self/mountinfo'), read('/proc/self/cgroup'))
  const parent = all.find(({ version }) => version === 2)?.path
  if (parent === undefined) return undefined
  const path = join(parent, name)
  try {
    mkdirSync(path)
  } catch {
    return undefined
  }
  return { path, remove: () => removeGroups(path) }
}

function removeGroups(path: string): void {
  const below = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const { name } of below) removeGroups(join(path, name))
  try {
    rmdirSync(path)
  } catch {
    // somebody is still dying in it; empty groups cost nothing
  }
}
