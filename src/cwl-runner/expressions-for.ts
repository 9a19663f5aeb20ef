import type { Clock } from '../base/clock.ts'
import { FaultError } from '../base/fault.ts'
import type { Expressions } from '../workflow/expressions/expressions.ts'
import { needsJavaScript } from '../workflow/process/needs-javascript.ts'
import type { Process } from '../workflow/process/process.ts'

const NONE: Expressions = {
  run() {
    throw new FaultError({ kind: 'bug', what: 'JavaScript in a process that asks for none' })
  },
}

/** The machine for JavaScript, where there is any to run. */
export async function expressionsFor(process: Process, clock: Clock): Promise<Expressions> {
  if (!needsJavaScript(process)) return NONE
  const { quickJsExpressions } = await import('../workflow/expressions/quickjs.ts')
  return quickJsExpressions(clock)
}

/**
 * Does something that seldom comes to JavaScript, of a process that may have some: first without the machine, which takes
 * as long to start as a small document to read, and again with it if it was called for.
 */
export async function sparingJavaScript<T>(
  process: Process,
  clock: Clock,
  work: (expressions: Expressions) => Promise<T>,
): Promise<T> {
  let isCalledFor = false
  const listening: Expressions = {
    run(script) {
      isCalledFor = true
      return NONE.run(script)
    },
  }
  try {
    const done = await work(listening)
    if (!isCalledFor) return done
  } catch (error) {
    if (!isCalledFor) throw error
  }
  return work(await expressionsFor(process, clock))
}
