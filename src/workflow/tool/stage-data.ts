import { invalid } from '../../base/fault.ts'
import { companions, type DataValue, isData, isDirectory, isFile, listingOf, nameParts } from '../values/file-value.ts'
import { isList, isRecord, type Value, type ValueRecord } from '../values/value.ts'
import type { Staged, ToolRoom } from './room.ts'

export interface StagedValue {
  readonly value: DataValue
  readonly staged: readonly Staged[]
}

/** Stages a File or Directory at a path, with its secondary files beside it, and sets the paths in the value. */
export function stageAt(data: DataValue, path: string, writable: boolean): StagedValue {
  const folder = path.slice(0, path.lastIndexOf('/'))
  const basename = path.slice(folder.length + 1)
  const beside = companions(data).map((one, index) => stageAt(one, `${folder}/${nameOf(one, index)}`, writable))
  const secondaryFiles = beside.length === 0 ? {} : { secondaryFiles: beside.map((one) => one.value) }
  const more = beside.flatMap((one) => one.staged)
  if (isFile(data)) {
    const value: DataValue = { ...data, path, dirname: folder, basename, ...nameParts(basename), ...secondaryFiles }
    return { value, staged: [stagedFile(data, path, writable), ...more] }
  }
  const { entries, staged } = stageListing(data, path, writable)
  const listing = entries === undefined ? {} : { listing: entries }
  return {
    value: { ...data, path, basename, ...listing, ...secondaryFiles } as DataValue,
    staged: [...staged, ...more],
  }
}

function stagedFile(data: DataValue, path: string, writable: boolean): Staged {
  if (typeof data.location === 'string') return { kind: 'file', path, location: data.location, writable }
  if (typeof data.contents !== 'string') throw invalid(`the file for ${path} has neither a location nor contents`)
  return { kind: 'text', path, contents: data.contents, writable }
}

function stageListing(data: DataValue, path: string, writable: boolean) {
  const inside = listingOf(data)?.map((one, index) => stageAt(one, `${path}/${nameOf(one, index)}`, writable))
  const entries = inside?.map((one) => one.value)
  if (typeof data.location === 'string') {
    const whole: Staged = { kind: 'tree', path, location: data.location, writable }
    return { entries, staged: [whole] }
  }
  const empty: Staged = { kind: 'directory', path, writable }
  return { entries, staged: [empty, ...(inside ?? []).flatMap((one) => one.staged)] }
}

/** Checks that a name stays in its directory. */
function nameOf(data: DataValue, index: number): string {
  const { basename } = data
  if (typeof basename !== 'string' || basename === '') return `${data.class.toLowerCase()}-${index}`
  if (/[/\0]/.test(basename) || basename === '.' || basename === '..') throw invalid(`${basename} cannot be a basename`)
  return basename
}

export interface StagedToolInputs {
  readonly inputs: ValueRecord
  readonly staged: readonly Staged[]
}

/** Gives every input file its own directory, so that equal names do not collide. */
export function stageInputs(inputs: ValueRecord, room: ToolRoom): StagedToolInputs {
  const staged: Staged[] = []
  let count = 0
  const walk = (value: Value): Value => {
    if (isList(value)) return value.map(walk)
    if (!isRecord(value)) return value
    if (!isData(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one)]))
    const made = stageAt(value, `${room.inputsDir}/${count}/${nameOf(value, count)}`, false)
    count += 1
    staged.push(...made.staged)
    return made.value
  }
  return { inputs: walk(inputs) as ValueRecord, staged }
}

/** Inputs that InitialWorkDirRequirement moved get their new paths, and are no longer at the old ones. */
export function moveInputs({ inputs, staged }: StagedToolInputs, moved: ReadonlyMap<string, string>): StagedToolInputs {
  if (moved.size === 0) return { inputs, staged }
  const walk = (value: Value): Value => {
    if (isList(value)) return value.map(walk)
    if (!isRecord(value)) return value
    const made = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one)]))
    const target = isData(made) && typeof made.path === 'string' ? moved.get(made.path) : undefined
    return target === undefined || !isData(made) ? made : movedTo(made, target)
  }
  return { inputs: walk(inputs) as ValueRecord, staged: staged.filter((one) => !moved.has(one.path)) }
}

function movedTo(data: DataValue, path: string): DataValue {
  if (isDirectory(data)) return { ...data, path, basename: path.slice(path.lastIndexOf('/') + 1) }
  const basename = path.slice(path.lastIndexOf('/') + 1)
  return { ...data, path, dirname: path.slice(0, path.lastIndexOf('/')), basename, ...nameParts(basename) } as DataValue
}
