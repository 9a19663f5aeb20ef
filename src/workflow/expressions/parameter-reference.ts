import { describeValue, isRecord, type Value } from '../values/value.ts'
import type { ExpressionContext } from './expressions.ts'

const SYMBOL = /^[\p{L}\p{N}_]+/u
const SEGMENT = /^(?:\.([\p{L}\p{N}_]+)|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|\[([0-9]+)\])/su

export type LookupResult = { readonly value: Value } | { readonly trouble: string }

/**
 * Evaluates `inputs.x['y'][0]` without JavaScript: a sequence of names, quoted names and indexes. Returns undefined for
 * anything else.
 */
export function lookUp(code: string, context: ExpressionContext): LookupResult | undefined {
  const path = readPath(code.trim())
  if (path === undefined) return undefined
  const [first, ...rest] = path
  if (first === 'null' && rest.length === 0) return { value: null }
  if (first !== 'inputs' && first !== 'self' && first !== 'runtime') return { trouble: `${first} is not defined` }
  let value: Value = context[first]
  let way: string = first
  for (const step of rest) {
    const next = follow(value, step)
    if (next === undefined) return { trouble: `${way} has no ${step}: it is ${describeValue(value)}` }
    value = next
    way = `${way}.${step}`
  }
  return { value }
}

function follow(value: Value, step: string | number): Value | undefined {
  if (Array.isArray(value)) return step === 'length' ? value.length : typeof step === 'number' ? value[step] : undefined
  return isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined
}

function readPath(code: string): readonly [string, ...(string | number)[]] | undefined {
  const first = SYMBOL.exec(code)?.[0]
  if (first === undefined) return undefined
  const steps: (string | number)[] = []
  let at = first.length
  while (at < code.length) {
    const [whole, name, single, double, index] = SEGMENT.exec(code.slice(at)) ?? []
    if (whole === undefined) return undefined
    steps.push(index === undefined ? (name ?? (single ?? double ?? '').replace(/\\(.)/gs, '$1')) : Number(index))
    at += whole.length
  }
  return [first, ...steps]
}
