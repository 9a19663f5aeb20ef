import { FaultError, invalid } from '../../base/fault.ts'
import type { Script } from './expressions.ts'

type Source = Pick<Script, 'code' | 'isBody'>

export const failedWith = (source: Source, trouble: string): FaultError =>
  invalid(`${written(source)} failed: ${trouble}`)

export const tookTooLong = (source: Source, timeMs: number): FaultError =>
  invalid(`${written(source)} ran for more than ${timeMs} ms`)

export const valueTooLarge = (source: Source, valueBytes: number): FaultError =>
  invalid(`${written(source)} gives a value of more than ${valueBytes} bytes of JSON: return a File instead`)

export const overBudget = (submissionMs: number): FaultError =>
  invalid(
    `the JavaScript expressions of this workflow used more than ${submissionMs / 1000} s of processor time, the limit of one submission (cwl.max_submission_expression_seconds): move long computations into a CommandLineTool`,
  )

export const dropped = (): FaultError => new FaultError({ kind: 'cancelled', what: 'the run was cancelled' })

const written = ({ code, isBody }: Source): string => {
  const short = code.length > 200 ? `${code.slice(0, 200)}…` : code
  return isBody ? `\${${short}}` : `$(${short})`
}
