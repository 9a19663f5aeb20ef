import { invalid } from '../../base/fault.ts'
import { type Evaluator, evaluate } from '../expressions/evaluate.ts'
import type { ExpressionContext } from '../expressions/expressions.ts'
import type { Scope } from '../process/process.ts'
import { findRequirement } from '../process/requirement.ts'
import type { Version } from '../process/version.ts'
import { describeValue, type ValueRecord } from '../values/value.ts'
import type { ToolRoom } from './room.ts'

export interface Amount {
  readonly min: number
  readonly max: number
}

/** Cores may be fractions; the rest is in MiB. */
export interface Resources {
  readonly cores: Amount
  readonly ramMiB: Amount
  readonly tmpdirMiB: Amount
  readonly outdirMiB: Amount
}

interface Asking {
  readonly scope: Scope
  readonly version: Version
  readonly context: ExpressionContext
  readonly evaluator: Evaluator
}

export async function resourcesOf({ scope, version, context, evaluator }: Asking): Promise<Resources> {
  const requirement: ValueRecord = findRequirement(scope, 'ResourceRequirement') ?? {}
  const number = async (name: string): Promise<number | undefined> => {
    const given = requirement[name] ?? null
    const value = typeof given === 'string' ? await evaluate(given, context, evaluator) : given
    if (value === null) return undefined
    if (typeof value !== 'number' || value < 0)
      throw invalid(`${name} must be a number that is not negative, not ${describeValue(value)}`)
    return value
  }
  const amount = async (name: string, usual: number): Promise<Amount> => {
    const [min, max] = [await number(`${name}Min`), await number(`${name}Max`)]
    const least = min ?? (max === undefined ? usual : max)
    return { min: least, max: Math.max(least, max ?? least) }
  }
  return {
    cores: await amount('cores', 1),
    ramMiB: await amount('ram', version < 11 ? 1024 : 256),
    tmpdirMiB: await amount('tmpdir', 1024),
    outdirMiB: await amount('outdir', 1024),
  }
}

/** The variable `runtime` of expressions: integers, rounded up. */
export const runtimeOf = (room: ToolRoom, resources: Resources): ValueRecord => ({
  outdir: room.outdir,
  tmpdir: room.tmpdir,
  cores: Math.ceil(resources.cores.min),
  ram: Math.ceil(resources.ramMiB.min),
  tmpdirSize: Math.ceil(resources.tmpdirMiB.min),
  outdirSize: Math.ceil(resources.outdirMiB.min),
})
