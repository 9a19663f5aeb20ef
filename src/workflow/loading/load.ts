import type { InputParameter, OutputParameter, Process, Requirement, Step } from '../process/process.ts'
import { VERSIONS, type Version } from '../process/version.ts'
import { descend, placeOf, problem, type SourcePlace } from '../values/place.ts'
import { documentOf, resolveUri, shortName, uriFragment } from '../values/uri.ts'
import { isRecord, text, type Value, type ValueRecord } from '../values/value.ts'
import { expandDirectives } from './directives.ts'
import { type Documents, documentsFrom, findById } from './documents.ts'
import type { Fetch } from './fetch.ts'
import { withoutFormerLoop } from './former-loop.ts'
import { normaliseRecord, type Rules } from './normalise.ts'
import { PROCESS_FIELDS } from './process-fields.ts'
import { resolveLocations } from './read-default.ts'
import { readHints, readRequirements } from './read-requirement.ts'
import { commandLineFields, readOutput } from './read-tool.ts'
import { dataRules, readInputBinding, readType, type TypeNames } from './read-type.ts'
import { linkNames, readStep, readWorkflowOutput } from './read-workflow.ts'
import { NO_NAMES, schemaNames } from './type-names.ts'

const DEEPEST = 64
/** The limit of processes in one document: nested workflows multiply. */
const MOST_PROCESSES = 10_000

/** Settings of the document that apply to all its processes. */
interface Surroundings {
  readonly rules: Rules
  readonly schemas: readonly string[]
  readonly names: TypeNames
  readonly trail: readonly string[]
  readonly count: Count
  /** The id of an embedded process that has none. */
  readonly idWithin: string
}

/**
 * Loads the process at an address with everything that it references. A `$graph` without a fragment means its `main`.
 */
export async function loadProcess(uri: string, fetch: Fetch): Promise<Process> {
  const documents = documentsFrom(fetch, expandDirectives)
  return loadAt(uri, documents, {
    asked: undefined,
    trail: [],
    names: NO_NAMES,
    count: { left: MOST_PROCESSES, leaves: new Map() },
  })
}

/** Shared by everything that one call loads. */
interface Count {
  left: number
  /** Keyed by address: a workflow may run the same tool in many steps. */
  readonly leaves: Map<string, { readonly names: TypeNames; readonly process: Process }>
}

interface Asking {
  readonly count: Count
  readonly asked: SourcePlace | undefined
  readonly trail: readonly string[]
  readonly names: TypeNames
}

async function loadAt(uri: string, documents: Documents, { asked, trail, names, count }: Asking): Promise<Process> {
  if (trail.includes(uri)) throw problem(asked, `this workflow runs itself: ${[...trail, uri].join(' → ')}`)
  if (trail.length > DEEPEST) throw problem(asked, `workflows nest deeper than ${DEEPEST} levels`)
  const known = count.leaves.get(uri)
  if (known?.names === names) {
    countOne(count, asked)
    return known.process
  }
  const whole = await documents.expanded(uri, asked)
  if (!isRecord(whole))
    throw problem(asked, `${documentOf(uri)} is not a CWL document: it must be a record with a class`)
  const node = chosen(whole, uri, asked)
  const version = versionOf(node) ?? versionOf(whole)
  if (version === undefined) {
    throw problem(placeOf(whole), 'the document has no cwlVersion; add cwlVersion: v1.2')
  }
  const rules: Rules = { version, namespaces: namespacesOf(whole) }
  const schemas = schemasOf(whole)
  const around = { rules, schemas, names, trail: [...trail, uri], count, idWithin: documentOf(uri) }
  const process = await readProcess(node, documents, around)
  if (process.class !== 'Workflow') count.leaves.set(uri, { names, process })
  return process
}

function countOne(count: Count, at: SourcePlace | undefined): void {
  count.left -= 1
  if (count.left < 0) throw problem(at, `this is more than ${MOST_PROCESSES} processes in one`)
}

function chosen(whole: ValueRecord, uri: string, asked: SourcePlace | undefined): ValueRecord {
  const fragment = uriFragment(uri)
  const graph = whole.$graph
  if (graph === undefined) {
    if (fragment === undefined || fragment === '') return whole
    const found = findById(whole, fragment)
    if (!isRecord(found)) throw problem(asked, `${documentOf(uri)} has nothing with the id #${fragment}`)
    return found
  }
  const nodes = (Array.isArray(graph) ? graph : [graph]) as readonly Value[]
  const id = fragment === undefined || fragment === '' ? 'main' : fragment
  const named = nodes.find((one) => isRecord(one) && (text(one.id) ?? '').replace(/^.*#/s, '') === id)
  const only = fragment === undefined && nodes.length === 1 ? nodes[0] : undefined
  const found = named ?? findById([...nodes], id) ?? only
  if (!isRecord(found)) throw problem(placeOf(whole, '$graph') ?? asked, `the $graph has no process with the id #${id}`)
  return found
}

function versionOf(node: ValueRecord): Version | undefined {
  const given = text(node.cwlVersion)
  if (given === undefined) return undefined
  const version = VERSIONS[given.replace(/^cwl:|^https:\/\/w3id\.org\/cwl\/cwl#/, '')]
  if (version !== undefined) return version
  throw problem(
    placeOf(node, 'cwlVersion'),
    `Windlass does not know CWL ${given}; it knows v1.0, v1.1, v1.2 and v1.3`,
    'unsupported',
  )
}

const namespacesOf = (whole: ValueRecord): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(isRecord(whole.$namespaces) ? whole.$namespaces : {}).flatMap(([key, to]) =>
      typeof to === 'string' ? [[key, to]] : [],
    ),
  )

const schemasOf = (whole: ValueRecord): readonly string[] =>
  (Array.isArray(whole.$schemas) ? whole.$schemas : []).flatMap((one) =>
    typeof one === 'string' ? [resolveUri(placeOf(whole.$schemas)?.uri ?? '', one)] : [],
  )

async function readProcess(node: ValueRecord, documents: Documents, around: Surroundings): Promise<Process> {
  const kind = (text(node.class) ?? '').replace(/^cwl:|^https:\/\/w3id\.org\/cwl\/cwl#/, '')
  const table = Object.hasOwn(PROCESS_FIELDS, kind) ? PROCESS_FIELDS[kind] : undefined
  if (table === undefined || (kind === 'Operation' && around.rules.version < 12)) {
    const words =
      node.class === undefined ? 'a process needs a class' : `${String(node.class)} is not a class of process`
    throw problem(placeOf(node, 'class'), `${words}: use ${Object.keys(PROCESS_FIELDS).join(', ')}`)
  }
  countOne(around.count, placeOf(node))
  const read = normaliseRecord(node, table, around.rules)
  const { rules } = around
  const requirements = readRequirements(read.requirements, rules)
  const hints = readHints(read.hints, rules)
  const names = schemaNames([...requirements, ...hints], around.names)
  const id = text(read.id) === undefined ? around.idWithin : absoluteId(text(read.id) ?? '', node, around)
  const inside = { ...around, names }
  const at = placeOf(node)
  const common = {
    id,
    version: rules.version,
    ...(typeof read.label === 'string' ? { label: read.label } : {}),
    requirements: resolvedLocations(requirements),
    hints: resolvedLocations(hints),
    inputs: ((read.inputs ?? []) as readonly ValueRecord[]).map((one) => readInput(one, inside)),
    schemas: around.schemas,
    namespaces: Object.fromEntries(rules.namespaces),
    ...(at === undefined ? {} : { at }),
  }
  const outputs = ((read.outputs ?? []) as readonly ValueRecord[]).map((one) => readOutput(one, inside))
  if (kind === 'CommandLineTool') return commandLineFields(read, { ...common, outputs })
  if (kind === 'ExpressionTool') return { ...common, class: kind, outputs, expression: text(read.expression) ?? '' }
  if (kind === 'Operation') return { ...common, class: kind, outputs }
  return readWorkflow(read, { common, outputs }, { documents, inside: { ...inside, idWithin: id } })
}

type Common = Omit<Extract<Process, { class: 'Operation' }>, 'class' | 'outputs'>

async function readWorkflow(
  read: ValueRecord,
  { common, outputs }: { common: Common; outputs: readonly OutputParameter[] },
  { documents, inside }: { documents: Documents; inside: Surroundings },
): Promise<Process> {
  const nodes = ((read.steps ?? []) as readonly ValueRecord[]).map((one) => withoutFormerLoop(one, inside.rules))
  const names = linkNames(
    common.id,
    common.inputs.map((one) => one.name),
    nodes,
  )
  const steps: Step[] = []
  for (const node of nodes) {
    const step = readStep(node, names)
    const run = await readRun(node, step.name, { documents, inside })
    const requirements = resolvedLocations(readRequirements(node.requirements, inside.rules))
    // A step has no version of its own, so it implies no hints.
    const hints = resolvedLocations(readHints(node.hints, { ...inside.rules, version: 13 }))
    steps.push({ ...step, run, requirements, hints })
  }
  const sinks = ((read.outputs ?? []) as readonly ValueRecord[]).flatMap((node, index) => {
    const output = outputs[index]
    return output === undefined ? [] : [readWorkflowOutput(node, output, names)]
  })
  return { ...common, class: 'Workflow', outputs: sinks, steps }
}

async function readRun(
  node: ValueRecord,
  name: string,
  { documents, inside }: { documents: Documents; inside: Surroundings },
): Promise<Process> {
  const { run } = node
  const at = placeOf(node, 'run')
  const { names, trail, count } = inside
  if (typeof run === 'string')
    return loadAt(resolveUri(at?.uri ?? '', run), documents, { asked: at, trail, names, count })
  if (!isRecord(run)) throw problem(at, 'run must be a process, or the address of one')
  const version = versionOf(run)
  const rules = version === undefined ? inside.rules : { ...inside.rules, version }
  const home = placeOf(run)?.uri
  const near = home === documentOf(inside.idWithin) || home === undefined
  const idWithin = near ? `${inside.idWithin}${inside.idWithin.includes('#') ? '/' : '#'}${name}/run` : home
  return readProcess(run, documents, { ...inside, rules, idWithin })
}

function absoluteId(id: string, node: ValueRecord, around: Surroundings): string {
  const base = placeOf(node)?.uri ?? documentOf(around.idWithin)
  return id.includes('#') ? resolveUri(base, id) : `${base}#${id}`
}

const resolvedLocations = (requirements: readonly Requirement[]): readonly Requirement[] =>
  requirements.map((one) => descend(resolveLocations(one, placeOf(one)?.uri ?? '') as Requirement, one))

function readInput(node: ValueRecord, { rules, names }: Surroundings): InputParameter {
  const at = placeOf(node)
  const isStdin = node.type === 'stdin' && rules.version >= 11
  return {
    name: shortName(text(node.id) ?? ''),
    type: isStdin ? { type: 'File' } : readType(node.type ?? null, { rules, names, at: placeOf(node, 'type') ?? at }),
    ...dataRules(node, rules),
    ...(node.default === undefined ? {} : { default: resolveLocations(node.default, at?.uri ?? '') }),
    ...(isRecord(node.inputBinding) ? { binding: readInputBinding(node.inputBinding) } : {}),
    ...(at === undefined ? {} : { at }),
  }
}
