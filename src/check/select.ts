import type { Behaviour, BehaviourLevel } from './behaviour.ts'

/** Selects the behaviours whose id matches one of the patterns (`*` matches any text) and that have at least this level. */
export interface Selection {
  readonly only?: readonly string[]
  readonly level?: BehaviourLevel
}

export function select<B extends Behaviour>(behaviours: readonly B[], { only, level }: Selection): B[] {
  const patterns = only?.map(patternOf)
  return behaviours.filter(
    (each) =>
      (patterns === undefined || patterns.some((pattern) => pattern.test(each.id))) &&
      (level !== 'must' || each.level === 'must'),
  )
}

const patternOf = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  )
