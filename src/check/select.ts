import type { Behaviour, BehaviourLevel } from './behaviour.ts'

/** Which behaviours are asked for: any of the patterns (`*` stands for anything), and at least this level. */
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
