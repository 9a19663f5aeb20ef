import {
  newQuickJSWASMModule,
  type QuickJSContext,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from 'quickjs-emscripten'
import type { Clock } from '../../base/clock.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { Value } from '../values/value.ts'
import type { Expressions, Script } from './expressions.ts'

export interface QuickJsLimits {
  readonly memoryBytes: number
  readonly stackBytes: number
  readonly timeMs: number
}

/** The stack is small on purpose: QuickJS recurses on ours, and what overflows ours leaves the machine in pieces. */
const QUICKJS_LIMITS: QuickJsLimits = { memoryBytes: 128 << 20, stackBytes: 128 << 10, timeMs: 20_000 }

/**
 * Expressions in QuickJS: a machine of its own, with no way to ours. Each evaluation has a fresh realm, so that none
 * can leave something behind for the next; values go in and out as JSON text.
 */
export async function quickJsExpressions(clock: Clock, limits: QuickJsLimits = QUICKJS_LIMITS): Promise<Expressions> {
  let machine: QuickJSWASMModule | undefined = await newQuickJSWASMModule()
  /** A machine that failed within itself is not used again. */
  const replace = (cause: unknown): FaultError => {
    machine = undefined
    void newQuickJSWASMModule().then((fresh) => {
      machine = fresh
    })
    return new FaultError({ kind: 'invalid', what: 'the expression broke the machine that it ran in' }, cause)
  }
  return {
    run(script) {
      if (machine === undefined)
        throw new FaultError({ kind: 'unavailable', what: 'the JavaScript machine is restarting' })
      try {
        return evaluateOnce(machine, script, { clock, limits })
      } catch (cause) {
        throw cause instanceof FaultError ? cause : replace(cause)
      }
    },
  }
}

interface Bounds {
  readonly clock: Clock
  readonly limits: QuickJsLimits
}

function evaluateOnce(machine: QuickJSWASMModule, script: Script, { clock, limits }: Bounds): Value {
  const runtime = machine.newRuntime()
  runtime.setMemoryLimit(limits.memoryBytes)
  runtime.setMaxStackSize(limits.stackBytes)
  const until = clock.monotonic() + limits.timeMs
  let late = false
  runtime.setInterruptHandler(() => {
    late = clock.monotonic() > until
    return late
  })
  const outcome = inRealm(runtime, script)
  runtime.dispose()
  if ('json' in outcome) return JSON.parse(outcome.json) as Value
  throw invalid(`${written(script)} ${late ? `ran for more than ${limits.timeMs} ms` : `failed: ${outcome.trouble}`}`)
}

type Outcome = { readonly json: string } | { readonly trouble: string }

function inRealm(runtime: QuickJSRuntime, script: Script): Outcome {
  const realm = runtime.newContext()
  try {
    const context = realm.newString(JSON.stringify(script.context))
    realm.setProp(realm.global, '__context', context)
    context.dispose()
    for (const source of [OPENING, ...script.library]) {
      const outcome = run(realm, `${source}\n;undefined`)
      if ('trouble' in outcome) return { trouble: `expressionLib: ${outcome.trouble}` }
    }
    const body = script.isBody ? script.code : `return (${script.code}\n)`
    return run(realm, `JSON.stringify((function () { "use strict";\n${body}\n})(), ${REFUSE_FUNCTIONS}) ?? 'null'`)
  } finally {
    realm.dispose()
  }
}

const OPENING = `var { inputs, self, runtime } = JSON.parse(__context); delete globalThis.__context`
const REFUSE_FUNCTIONS = `(_, v) => { if (typeof v === 'function') throw new TypeError('it gives a function'); return v }`

function run(realm: QuickJSContext, source: string): Outcome {
  const result = realm.evalCode(source, 'expression.js', { strict: false })
  if (result.error !== undefined) {
    const trouble: unknown = realm.dump(result.error)
    result.error.dispose()
    return { trouble: troubleText(trouble) }
  }
  const json = realm.typeof(result.value) === 'string' ? realm.getString(result.value) : 'null'
  result.value.dispose()
  return { json }
}

const troubleText = (trouble: unknown): string => {
  if (typeof trouble !== 'object' || trouble === null) return String(trouble)
  const { name, message } = trouble as { name?: unknown; message?: unknown }
  return `${String(name ?? 'Error')}: ${String(message ?? '')}`
}

const written = ({ code, isBody }: Script): string => {
  const short = code.length > 200 ? `${code.slice(0, 200)}…` : code
  return isBody ? `\${${short}}` : `$(${short})`
}
