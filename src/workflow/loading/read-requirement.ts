import type { Requirement } from '../process/process.ts'
import { isData } from '../values/file-value.ts'
import { descend, placeOf, problem } from '../values/place.ts'
import { uriFragment } from '../values/uri.ts'
import { isList, isRecord, text, type Value, type ValueRecord } from '../values/value.ts'
import { normaliseRecord, type Rules, tooNew } from './normalise.ts'
import { dirent, FORMER_NAMES, REQUIREMENT_FIELDS } from './requirement-fields.ts'

/** Unknown requirements are errors, because the process cannot be run as specified. */
export const readRequirements = (value: Value | undefined, rules: Rules): readonly Requirement[] =>
  nodesOf(value).map((node) => {
    const { name, former } = className(node)
    if (!REQUIREMENT_FIELDS.has(name)) {
      throw problem(
        placeOf(node, 'class') ?? placeOf(node),
        `the requirement ${name} is not one that Windlass knows; as a hint it would be passed over`,
        'unsupported',
      )
    }
    return readOne(node, { name, former, rules })
  })

/** Unknown hints are ignored; known ones must be valid. */
export const readHints = (value: Value | undefined, rules: Rules): readonly Requirement[] =>
  nodesOf(value).flatMap((node) => {
    const { name, former } = className(node)
    const since = REQUIREMENT_FIELDS.get(name)?.since
    if (since === undefined) return isRecord(node) ? [node as Requirement] : []
    if (since > rules.version && !former) return []
    return [readOne(node, { name, former, rules })]
  })

const nodesOf = (value: Value | undefined): readonly ValueRecord[] =>
  Array.isArray(value) ? value.filter((one): one is ValueRecord => isRecord(one)) : []

function className(node: ValueRecord): { name: string; former: boolean } {
  const given = text(node.class) ?? ''
  const now = FORMER_NAMES.get(given)
  if (now !== undefined) return { name: now, former: true }
  const known = given.startsWith('cwl:') || given.startsWith('https://w3id.org/cwl/cwl#')
  return { name: known ? (uriFragment(given) ?? given.slice(4)) : given, former: false }
}

interface Kind {
  readonly name: string
  readonly former: boolean
  readonly rules: Rules
}

function readOne(node: ValueRecord, { name, former, rules }: Kind): Requirement {
  const table = REQUIREMENT_FIELDS.get(name)
  if (table === undefined) throw problem(placeOf(node), `there is no requirement ${name}`)
  if (table.since > rules.version && !former) {
    throw tooNew(placeOf(node, 'class') ?? placeOf(node), `the requirement ${name}`, { since: table.since, rules })
  }
  const made = former ? { class: name, ...inNewWords(node) } : node
  const read = normaliseRecord(descend(made as ValueRecord, node), table, rules)
  checkValues(read, node)
  const entries =
    name === 'InitialWorkDirRequirement' && isList(read.listing) ? { listing: entriesOf(read.listing, rules) } : {}
  return descend({ ...read, ...entries, class: name }, read)
}

/** Entries may be plain files, or records with a name. */
const entriesOf = (listing: readonly Value[], rules: Rules): readonly Value[] =>
  descend(
    listing.map((one) => (isRecord(one) && !isData(one) ? normaliseRecord(one, dirent, rules) : one)),
    listing,
  )

/** Converts former extensions, which had the same fields except one. */
const inNewWords = (node: ValueRecord): ValueRecord => {
  const { class: _, ...fields } = node
  return fields
}

function checkValues(read: ValueRecord, node: ValueRecord): void {
  if (typeof read.timelimit === 'number' && read.timelimit < 0) {
    throw problem(placeOf(node, 'timelimit'), 'a time limit must not be negative; 0 means that there is none')
  }
}
