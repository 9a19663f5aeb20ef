import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLParseError,
} from 'yaml'
import { problem, remember, type SourcePlace } from '../values/place.ts'
import { isList, isRecord, type Value } from '../values/value.ts'
import { DEEPEST, MOST_NODES } from './document-limits.ts'
import { indentFlows } from './flow-indent.ts'

interface Reading {
  readonly uri: string
  readonly lines: LineCounter
  /** Anchors by name, in document order: an alias refers to the last one before it. */
  readonly anchors: Map<string, Node>
  nodes: number
}

/** Parses YAML 1.2 (and so JSON) into plain values and records their places. */
export function readYaml(text: string, uri: string): Value {
  const { document, lines } = parsed(text)
  const [first] = document.errors
  if (first !== undefined) {
    const { line, col } = lines.linePos(first.pos[0])
    throw problem({ uri, line, column: col }, `this is not valid YAML: ${first.message.split('\n')[0]}`)
  }
  const reading: Reading = { uri, lines, nodes: 0, anchors: new Map() }
  return document.contents === null ? null : contentOf(document.contents as Node, reading, 0)
}

function parsed(text: string) {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, version: '1.2', uniqueKeys: true })
  if (!document.errors.some(isFlowIndent)) return { document, lines }
  const again = new LineCounter()
  const repaired = parseDocument(indentFlows(text), { lineCounter: again, version: '1.2', uniqueKeys: true })
  return repaired.errors.length === 0 ? { document: repaired, lines: again } : { document, lines }
}

const isFlowIndent = ({ code, message }: YAMLParseError): boolean =>
  code === 'BAD_INDENT' && message.startsWith('Flow ')

function placeAt(reading: Reading, offset: number | undefined): SourcePlace {
  const { line, col } = reading.lines.linePos(offset ?? 0)
  return { uri: reading.uri, line: Math.max(line, 1), column: Math.max(col, 1) }
}

function contentOf(node: Node | null, reading: Reading, depth: number): Value {
  if (node === null) return null
  const at = placeAt(reading, node.range?.[0])
  reading.nodes += 1
  if (reading.nodes > MOST_NODES) throw problem(at, 'this document is too large once its aliases are followed')
  if (depth > DEEPEST) throw problem(at, `this document nests deeper than ${DEEPEST} levels`)
  if (isAlias(node)) {
    const target = reading.anchors.get(node.source)
    if (target === undefined) throw problem(at, `no anchor is called ${node.source}`)
    return contentOf(target, reading, depth + 1)
  }
  if ('anchor' in node && typeof node.anchor === 'string') reading.anchors.set(node.anchor, node)
  if (isScalar(node)) return scalarOf(node.value, at)
  if (isSeq(node)) return listOf(node.items as (Node | null)[], { reading, at, depth })
  if (isMap(node)) return mapOf(node.items as Pair<Node, Node | null>[], { reading, at, depth })
  return null
}

interface Within {
  readonly reading: Reading
  readonly at: SourcePlace
  readonly depth: number
}

function scalarOf(value: unknown, at: SourcePlace): Value {
  if (typeof value === 'number' && !Number.isFinite(value)) throw problem(at, 'CWL has no infinities and no NaN')
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string')
    return value
  return String(value)
}

function listOf(items: readonly (Node | null)[], { reading, at, depth }: Within): Value {
  const places = new Map<string, SourcePlace>()
  const list = items.map((item, index) => {
    places.set(String(index), placeAt(reading, item?.range?.[0]))
    return contentOf(item, reading, depth + 1)
  })
  return remember(list, at, places)
}

function mapOf(pairs: readonly Pair<Node, Node | null>[], { reading, at, depth }: Within): Value {
  const places = new Map<string, SourcePlace>()
  const entries: [string, Value][] = []
  const merged: [string, Value][] = []
  for (const { key, value } of pairs) {
    const name = isScalar(key) ? String(key.value) : undefined
    if (name === undefined) throw problem(placeAt(reading, key.range?.[0]), 'a key must be a plain word')
    const content = contentOf(value, reading, depth + 1)
    if (name === '<<') {
      for (const one of isList(content) ? content : [content]) if (isRecord(one)) merged.push(...Object.entries(one))
      continue
    }
    places.set(name, placeAt(reading, key.range?.[0]))
    entries.push([name, content])
  }
  return remember(Object.fromEntries([...merged, ...entries]), at, places)
}
