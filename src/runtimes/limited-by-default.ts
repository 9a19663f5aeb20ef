import type { Limits } from '../model/command.ts'
import type { Runtime } from './run/runtime.ts'

/** The limits of a run that sets none itself. */
export type DefaultLimits = Required<Pick<Limits, 'memoryBytes' | 'pids'>>

/** Limits memory and processes of every run: a run without limits must not use the whole machine. */
export const limitedByDefault = (inner: Runtime, { memoryBytes, pids }: DefaultLimits): Runtime => ({
  ...inner,
  run(run, signal) {
    const { limits } = run
    const all = { ...limits, memoryBytes: limits.memoryBytes ?? memoryBytes, pids: limits.pids ?? pids }
    return inner.run({ ...run, limits: all }, signal)
  },
})
