import type { Limits } from '../model/command.ts'
import type { Runtime } from './run/runtime.ts'

/** What holds for a run that brings no limit of its own for these. */
export type DefaultLimits = Required<Pick<Limits, 'memoryBytes' | 'pids'>>

/** Limits the memory and the processes of every run: one that names no limit must not take the whole machine. */
export const limitedByDefault = (inner: Runtime, { memoryBytes, pids }: DefaultLimits): Runtime => ({
  ...inner,
  run(run, signal) {
    const { limits } = run
    const all = { ...limits, memoryBytes: limits.memoryBytes ?? memoryBytes, pids: limits.pids ?? pids }
    return inner.run({ ...run, limits: all }, signal)
  },
})
