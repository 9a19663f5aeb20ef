import type { CommandLineTool, CwlOperation, OutputParameter } from '../process/process.ts'
import { placeOf, problem } from '../values/place.ts'
import { shortName } from '../values/uri.ts'
import { isRecord, text, type Value, type ValueRecord } from '../values/value.ts'
import type { Rules } from './normalise.ts'
import { dataRules, readInputBinding, readOutputBinding, readType, type TypeNames, textList } from './read-type.ts'

/** The file names of output streams that have no name. */
const STREAM_NAMES = { stdout: 'windlass.stdout', stderr: 'windlass.stderr' } as const

export function readOutput(node: ValueRecord, { rules, names }: { rules: Rules; names: TypeNames }): OutputParameter {
  const at = placeOf(node)
  const isStream = node.type === 'stdout' || node.type === 'stderr'
  return {
    name: shortName(text(node.id) ?? ''),
    type: isStream ? { type: 'File' } : readType(node.type ?? null, { rules, names, at: placeOf(node, 'type') ?? at }),
    ...dataRules(node, rules),
    ...(isRecord(node.outputBinding) ? { binding: readOutputBinding(node.outputBinding) } : {}),
    ...(at === undefined ? {} : { at }),
  }
}

/** Reads the fields that only tools have, and expands the types `stdin`, `stdout` and `stderr`. */
export function commandLineFields(read: ValueRecord, common: Omit<CwlOperation, 'class'>): CommandLineTool {
  const inputs = (read.inputs ?? []) as readonly ValueRecord[]
  const outputs = (read.outputs ?? []) as readonly ValueRecord[]
  const piped = inputs.find((one) => one.type === 'stdin')
  if (piped !== undefined && read.stdin !== undefined) {
    throw problem(placeOf(read, 'stdin'), 'an input of type stdin and the field stdin exclude each other')
  }
  const stdin =
    piped === undefined ? text(read.stdin) : `$(inputs[${JSON.stringify(shortName(text(piped.id) ?? ''))}].path)`
  const stream = (name: 'stdout' | 'stderr'): string | undefined =>
    text(read[name]) ?? (outputs.some((one) => one.type === name) ? STREAM_NAMES[name] : undefined)
  const stdout = stream('stdout')
  const stderr = stream('stderr')
  return {
    ...common,
    class: 'CommandLineTool',
    outputs: common.outputs.map((output, index) => {
      const { type } = outputs[index] ?? {}
      const glob = type === 'stdout' ? stdout : type === 'stderr' ? stderr : undefined
      return glob === undefined ? output : { ...output, binding: { glob: [glob], loadContents: false } }
    }),
    baseCommand: textList(read.baseCommand),
    arguments: ((read.arguments ?? []) as readonly Value[]).map((one) =>
      isRecord(one) ? readInputBinding(one) : String(one),
    ),
    ...(stdin === undefined ? {} : { stdin }),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
    successCodes: codes(read.successCodes),
    temporaryFailCodes: codes(read.temporaryFailCodes),
    permanentFailCodes: codes(read.permanentFailCodes),
  }
}

const codes = (value: Value | undefined): readonly number[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'number') : []
