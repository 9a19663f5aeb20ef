import {
  newQuickJSWASMModule,
  type QuickJSContext,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from 'quickjs-emscripten'
import type { Clock } from '../../base/clock.ts'
import type { Value } from '../values/value.ts'
import { failedWith, tookTooLong } from './expression-faults.ts'
import type { Expressions, Script } from './expressions.ts'

export interface QuickJsLimits {
  readonly memoryBytes: number
  readonly stackBytes: number
  readonly timeMs: number
}

/**
 * The stack is small on purpose: QuickJS recurses on the stack of WebAssembly, and an overflow there corrupts the
 * instance.
 */
const QUICKJS_LIMITS: QuickJsLimits = { memoryBytes: 128 << 20, stackBytes: 128 << 10, timeMs: 20_000 }
/** WebAssembly memory never shrinks: an instance that has grown beyond this is replaced. */
const MOST_KEPT_BYTES = 48 << 20

/** How a script ended within a slice: with its value as JSON, with an error, or not yet. */
export type SliceEnd = { readonly json: string } | { readonly trouble: string } | { readonly isLate: true }

/** A script with its context as JSON text, which is the cheapest form to send to a thread repeatedly. */
export interface ScriptText extends Omit<Script, 'context'> {
  readonly contextText: string
}

/** Runs one script at a time on the calling thread. */
export interface QuickJsMachine {
  /** Loads QuickJS before the first script. */
  open(): Promise<void>
  run(script: ScriptText, sliceMs: number): Promise<SliceEnd>
}

/**
 * Runs expressions in QuickJS: a separate JavaScript engine without access to Node. Each evaluation has a fresh realm,
 * so that none can influence the next. Values are passed as JSON text. `usedMs` is a clock of processor time or of wall
 * time. QuickJS checks it between instructions only: a call such as `Array.prototype.indexOf` on 2^53 elements is not
 * interrupted. So untrusted scripts must run on a thread that can be terminated (see `expression-pool.ts`).
 */
export function quickJsMachine(usedMs: () => number, limits: Omit<QuickJsLimits, 'timeMs'>): QuickJsMachine {
  let machine: Promise<QuickJSWASMModule> | undefined
  const open = (): Promise<QuickJSWASMModule> => {
    machine ??= newQuickJSWASMModule()
    return machine
  }
  return {
    async open() {
      await open()
    },
    async run(script, sliceMs) {
      const used = await open()
      try {
        const end = evaluateOnce(used, script, { usedMs, limits: { ...limits, timeMs: sliceMs } })
        if (used.getWasmMemory().buffer.byteLength > MOST_KEPT_BYTES) machine = undefined
        return end
      } catch {
        machine = undefined // the machine failed internally and is not reused
        return { trouble: 'it broke the JavaScript machine that it ran in' }
      }
    },
  }
}

/** Runs expressions on the calling thread, which blocks for at most `timeMs`. */
export function quickJsExpressions(
  clock: Pick<Clock, 'monotonic'>,
  limits: QuickJsLimits = QUICKJS_LIMITS,
): Expressions {
  const machine = quickJsMachine(clock.monotonic, limits)
  return {
    async run(script) {
      const { context, ...rest } = script
      const end = await machine.run({ ...rest, contextText: JSON.stringify(context) }, limits.timeMs)
      if ('json' in end) return JSON.parse(end.json) as Value
      throw 'trouble' in end ? failedWith(script, end.trouble) : tookTooLong(script, limits.timeMs)
    },
  }
}

interface Bounds {
  readonly usedMs: () => number
  readonly limits: QuickJsLimits
}

function evaluateOnce(machine: QuickJSWASMModule, script: ScriptText, { usedMs, limits }: Bounds): SliceEnd {
  const runtime = machine.newRuntime()
  runtime.setMemoryLimit(limits.memoryBytes)
  runtime.setMaxStackSize(limits.stackBytes)
  const until = usedMs() + limits.timeMs
  let isLate = false
  runtime.setInterruptHandler(() => {
    isLate = usedMs() > until
    return isLate
  })
  const outcome = inRealm(runtime, script)
  runtime.dispose()
  return isLate && 'trouble' in outcome ? { isLate } : outcome
}

type Outcome = { readonly json: string } | { readonly trouble: string }

function inRealm(runtime: QuickJSRuntime, script: ScriptText): Outcome {
  const realm = runtime.newContext()
  try {
    const context = realm.newString(script.contextText)
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
