import { invalid } from '../../base/fault.ts'
import { type Evaluator, evaluate, evaluateAsIs } from '../expressions/evaluate.ts'
import type { ExpressionContext } from '../expressions/expressions.ts'
import type { Scope } from '../process/process.ts'
import { findRequirement, isRequired } from '../process/requirement.ts'
import { companions, type DataValue, isData, listingOf, withNames } from '../values/file-value.ts'
import { describeValue, isList, isRecord, type Value, type ValueRecord } from '../values/value.ts'
import { valueText } from '../values/value-text.ts'
import type { Staged, ToolRoom } from './room.ts'
import { stageAt } from './stage-data.ts'

export interface WorkDir {
  readonly staged: readonly Staged[]
  /** Maps the former path of an input to its new path. */
  readonly moved: ReadonlyMap<string, string>
}

interface Asking {
  readonly scope: Scope
  readonly room: ToolRoom
  readonly context: ExpressionContext
  readonly evaluator: Evaluator
}

interface WorkDirEntry {
  readonly name?: string
  readonly entry: DataValue | string
  readonly writable: boolean
}

/** Stages the files that InitialWorkDirRequirement puts into the working directory. */
export async function initialWorkDir(asking: Asking): Promise<WorkDir> {
  const listing = findRequirement(asking.scope, 'InitialWorkDirRequirement')?.listing
  const nodes =
    typeof listing === 'string' ? await evaluate(listing, asking.context, asking.evaluator) : (listing ?? null)
  const entries = await entriesOf(isList(nodes) ? nodes : [nodes], asking)
  const moved = new Map<string, string>()
  const byPath = new Map<string, Staged>()
  for (const entry of entries) {
    for (const one of placeEntry(entry, asking, moved)) {
      const other = byPath.get(one.path)
      const isSame = other === undefined || JSON.stringify(other) === JSON.stringify(one)
      if (!isSame && one.kind !== 'directory') throw invalid(`InitialWorkDirRequirement puts two things at ${one.path}`)
      byPath.set(one.path, one)
    }
  }
  return { staged: [...byPath.values()], moved }
}

async function entriesOf(node: Value, asking: Asking): Promise<readonly WorkDirEntry[]> {
  if (node === null) return []
  if (typeof node === 'string') {
    const value = await evaluate(node, asking.context, asking.evaluator)
    if (typeof value === 'string')
      throw invalid(`${node} in InitialWorkDirRequirement gives text; text needs an entryname`)
    return entriesOf(value, asking)
  }
  if (isList(node)) {
    const entries: WorkDirEntry[] = []
    for (const one of node) entries.push(...(await entriesOf(one, asking)))
    return entries
  }
  if (isData(node)) return [{ entry: withNames(node), writable: false }]
  if (isRecord(node) && 'entry' in node) return direntEntries(node, asking)
  throw invalid(`InitialWorkDirRequirement lists ${describeValue(node)}: it takes Files, Directories and entries`)
}

async function direntEntries(node: ValueRecord, { context, evaluator }: Asking): Promise<readonly WorkDirEntry[]> {
  const writable = node.writable === true
  const name = typeof node.entryname === 'string' ? await evaluate(node.entryname, context, evaluator) : null
  if (name !== null && typeof name !== 'string') throw invalid('an entryname must be text')
  const value =
    typeof node.entry === 'string' ? await evaluateAsIs(node.entry, context, evaluator) : (node.entry ?? null)
  if (value === null) return []
  const named = name === null ? {} : { name }
  if (isData(value)) return [{ ...named, entry: withNames(value), writable }]
  if (isList(value) && value.length > 0 && value.every(isData)) {
    if (name !== null) throw invalid(`${name} cannot be the entryname of a list of files`)
    return value.map((one) => ({ entry: withNames(one), writable }))
  }
  if (isList(value) && value.length === 0 && name === null) return []
  if (name === null) throw invalid('an entry of InitialWorkDirRequirement that gives text needs an entryname')
  return [{ name, entry: valueText(value), writable }]
}

function placeEntry(
  { name, entry, writable }: WorkDirEntry,
  asking: Asking,
  moved: Map<string, string>,
): readonly Staged[] {
  if (typeof entry === 'string') return [{ kind: 'text', path: target(name ?? '', asking), contents: entry, writable }]
  const basename = name ?? (typeof entry.basename === 'string' ? entry.basename : undefined)
  if (basename === undefined)
    throw invalid('a File or Directory of InitialWorkDirRequirement needs a basename or an entryname')
  const made = stageAt(entry, target(basename, asking), writable)
  noteMoves(entry, made.value, moved)
  return made.staged
}

function noteMoves(from: DataValue, to: DataValue, moved: Map<string, string>): void {
  if (typeof from.path === 'string' && typeof to.path === 'string') moved.set(from.path, to.path)
  const pairs: [readonly DataValue[], readonly DataValue[]][] = [
    [companions(from), companions(to)],
    [listingOf(from) ?? [], listingOf(to) ?? []],
  ]
  for (const [before, after] of pairs) {
    before.forEach((one, index) => {
      const there = after[index]
      if (there !== undefined) noteMoves(one, there, moved)
    })
  }
}

/** Only a tool in its own container may place files outside its working directory. */
function target(name: string, { scope, room }: Asking): string {
  if (name.startsWith('/')) {
    if (name.startsWith(`${room.outdir}/`) && !name.split('/').includes('..')) return name
    if (isRequired(scope, 'DockerRequirement') && !name.split('/').includes('..')) return name
    throw invalid(`the entryname ${name} is absolute; that needs DockerRequirement under requirements`)
  }
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.length === 0 || parts.includes('..'))
    throw invalid(`the entryname ${name} is not within the working directory`)
  return `${room.outdir}/${parts.join('/')}`
}
