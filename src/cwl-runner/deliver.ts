import { constants, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { copyFile, link } from 'node:fs/promises'
import { join } from 'node:path'
import { invalid } from '../base/fault.ts'
import { companions, type DataValue, isData, isFile, listingOf, nameParts } from '../workflow/values/file-value.ts'
import { isList, isRecord, type Value, type ValueRecord } from '../workflow/values/value.ts'
import { checksumOf } from './files/checksum.ts'
import { fileAddress, isWithin, pathOfAddress } from './files/file-address.ts'
import type { LocalFiles } from './files/local-files.ts'
import { openPlaces, type PlaceRequest, type Places } from './places.ts'

export interface OutputDelivery {
  /** The output directory, by its real path. */
  readonly outdir: string
  /** The folder of the rooms, where commands wrote their outputs. */
  readonly rooms: string
  readonly files: LocalFiles
}

/**
 * Moves the outputs of a run to the output directory, each under a unique name, and returns their locations, sizes and
 * checksums. Inputs that are also outputs are copied.
 */
export async function deliverOutputs(outputs: ValueRecord, delivery: OutputDelivery): Promise<ValueRecord> {
  const places = openPlaces(delivery.outdir, delivery.files)
  return (await deliverValue(outputs, { ...delivery, places, delivered: new Map() })) as ValueRecord
}

interface Delivering extends OutputDelivery {
  readonly places: Places
  /** The values of delivered outputs: one that occurs twice is delivered once. */
  readonly delivered: Map<string, ValueRecord>
}

async function deliverValue(value: Value, delivering: Delivering): Promise<Value> {
  if (isData(value)) return deliverData(value, delivering)
  if (isList(value)) {
    const list: Value[] = []
    for (const one of value) list.push(await deliverValue(one, delivering))
    return list
  }
  if (!isRecord(value)) return value
  const entries: [string, Value][] = []
  for (const [key, one] of Object.entries(value)) entries.push([key, await deliverValue(one, delivering)])
  return Object.fromEntries(entries)
}

/** A file and its secondary files stay together, because tools derive one name from the other. */
async function deliverData(data: DataValue, delivering: Delivering): Promise<Value> {
  const group = [data, ...companions(data)]
  const key = sameness(group, delivering)
  const before = key === undefined ? undefined : delivering.delivered.get(key)
  if (before !== undefined) return data.format === undefined ? before : { ...before, format: data.format }
  const { folder, nameOf } = delivering.places.reserve(group.map(placed))
  const value = await put(data, { folder, name: nameOf(nameFor(data)) }, delivering)
  if (key !== undefined) delivering.delivered.set(key, value)
  return value
}

/** Equal for the same files under the same names; undefined for a literal, which has no location yet. */
function sameness(group: readonly DataValue[], { files }: Delivering): string | undefined {
  const reals = group.map(({ location }) =>
    typeof location === 'string' ? files.look(pathOfAddress(location) ?? '')?.real : undefined,
  )
  return reals.includes(undefined) ? undefined : JSON.stringify([reals, group.map(nameFor)])
}

const placed = (data: DataValue): PlaceRequest => ({
  name: nameFor(data),
  isDirectory: data.class === 'Directory',
  source: typeof data.location === 'string' ? pathOfAddress(data.location) : undefined,
})

/** Literals may have no name. */
const nameFor = (data: DataValue): string =>
  typeof data.basename === 'string' && data.basename !== '' ? data.basename : data.class.toLowerCase()

interface Spot {
  readonly folder: string
  readonly name: string
}

async function put(data: DataValue, { folder, name }: Spot, delivering: Delivering): Promise<ValueRecord> {
  const target = join(folder, name)
  const { contents: _, listing: __, secondaryFiles: ___, dirname: ____, ...rest } = data
  const value = { ...rest, location: fileAddress(target), path: target, basename: name }
  if (!isFile(data)) return { ...value, listing: await putDirectory(data, target, delivering) }
  await putFile(data, target, delivering)
  const others: Value[] = []
  for (const one of companions(data)) others.push(await put(one, { folder, name: nameFor(one) }, delivering))
  const stats = lstatSync(target)
  const checksum = await checksumOf({ real: target, stats })
  const facts = { ...value, ...nameParts(name), size: stats.size, checksum }
  return others.length === 0 ? facts : { ...facts, secondaryFiles: others }
}

async function putFile(data: DataValue, target: string, delivering: Delivering): Promise<void> {
  if (typeof data.location === 'string') return bringFile(sourceOf(data.location), target, delivering)
  rmSync(target, { force: true })
  writeFileSync(target, String(data.contents), { flag: 'wx' })
}

function sourceOf(location: string): string {
  const path = pathOfAddress(location)
  if (path === undefined) throw invalid(`${location} is not a file of this machine`, 'unsupported')
  return path
}

/** A file that a command made, and that has no other link, is hard-linked; everything else is copied. */
async function bringFile(source: string, target: string, { files, rooms }: Delivering): Promise<void> {
  const looked = files.look(source)
  if (looked === undefined) throw invalid(`${source} is not there any more`)
  if (looked.real === target) return
  if (files.isAdmitted(target)) throw invalid(`${target} is an input: no output can take its place`)
  rmSync(target, { force: true })
  if (isWithin(looked.real, rooms) && looked.stats.nlink === 1) {
    const isLinked = await link(looked.real, target).then(
      () => true,
      () => false, // another file system, or one without hard links
    )
    if (isLinked) return
  }
  await copyFile(looked.real, target, constants.COPYFILE_FICLONE)
}

async function putDirectory(data: DataValue, target: string, delivering: Delivering): Promise<readonly Value[]> {
  const members =
    typeof data.location === 'string' ? membersOf(sourceOf(data.location), delivering) : (listingOf(data) ?? [])
  mkdirSync(target, { recursive: true })
  const listing: Value[] = []
  for (const one of members.flatMap((member) => [member, ...companions(member)])) {
    const { secondaryFiles: _, ...alone } = one
    listing.push(await put(alone as DataValue, { folder: target, name: nameFor(one) }, delivering))
  }
  return listing
}

function membersOf(folder: string, { files }: Delivering): readonly DataValue[] {
  const own = files.look(folder)?.real
  return readdirSync(folder)
    .sort()
    .flatMap((basename) => {
      const looked = files.look(`${folder}/${basename}`)
      // A directory that contains itself through a link would never end.
      if (looked === undefined || (own !== undefined && isWithin(own, looked.real))) return []
      const kind = looked.stats.isDirectory() ? 'Directory' : 'File'
      return [{ class: kind, basename, location: fileAddress(`${folder}/${basename}`) } as DataValue]
    })
}
