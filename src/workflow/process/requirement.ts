import type { Process, Requirement, Scope } from './process.ts'
import type { Version } from './version.ts'

/** An inner requirement replaces an outer one of the same class; a requirement takes precedence over every hint. */
export function within(outer: Scope, inner: Scope): Scope {
  const requirements = replacing(outer.requirements, inner.requirements)
  const required = new Set(requirements.map((one) => one.class))
  const hints = replacing(outer.hints, inner.hints).filter((one) => !required.has(one.class))
  return { requirements, hints }
}

function replacing(outer: readonly Requirement[], inner: readonly Requirement[]): readonly Requirement[] {
  if (outer.length === 0) return inner
  const nearer = new Set(inner.map((one) => one.class))
  return [...outer.filter((one) => !nearer.has(one.class)), ...inner]
}

export const NO_SCOPE: Scope = { requirements: [], hints: [] }

/** Finds a requirement or a hint of a class. */
export const findRequirement = (scope: Scope, name: string): Requirement | undefined =>
  scope.requirements.find((one) => one.class === name) ?? scope.hints.find((one) => one.class === name)

export const isRequired = (scope: Scope, name: string): boolean => scope.requirements.some((one) => one.class === name)

/** The requirements of a process, merged with those of its step and workflow. */
export function scopeOf(outer: Scope, process: Process): Scope {
  const own = within(outer, process)
  return process.class === 'Workflow' ? own : { ...own, hints: [...implied(process.version, own), ...own.hints] }
}

/**
 * The defaults of v1.0, expressed as hints: every tool had the network and a deep listing of directories. Nothing else
 * of an old process needs conversion, because later versions only add features.
 */
function implied(version: Version, scope: Scope): readonly Requirement[] {
  if (version > 10) return []
  const hints: Requirement[] = [
    { class: 'LoadListingRequirement', loadListing: 'deep_listing' },
    { class: 'NetworkAccess', networkAccess: true },
  ]
  return hints.filter(({ class: name }) => findRequirement(scope, name) === undefined)
}

/** Requirements of the input object override those of the process itself. */
export function withCallerRequirements(process: Process, extra: readonly Requirement[]): Process {
  if (extra.length === 0) return process
  const named = new Set(extra.map((one) => one.class))
  return { ...process, requirements: [...process.requirements.filter((one) => !named.has(one.class)), ...extra] }
}
