import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { readYaml } from '../../src/workflow/loading/yaml-document.ts'
import { isList, isRecord, text, type Value } from '../../src/workflow/values/value.ts'

/** One test of the conformance suite of CWL. */
export interface SuiteTest {
  readonly id: string
  readonly doc: string
  readonly tags: readonly string[]
  /** Undefined when the input object names the tool. */
  readonly tool: string | undefined
  readonly job: string | undefined
  readonly output: Value
  readonly shouldFail: boolean
}

/** Reads all tests of an index and of those that it imports; paths in an index are relative to it. */
export function readSuite(index: string): readonly SuiteTest[] {
  const items = readYaml(readFileSync(index, 'utf8'), index)
  if (!isList(items)) throw new Error(`${index} is no list of tests`)
  const at = (value: Value | undefined): string | undefined =>
    typeof value === 'string' ? resolve(dirname(index), value) : undefined
  return items.flatMap((item): readonly SuiteTest[] => {
    if (!isRecord(item)) return []
    const imported = at(item.$import)
    if (imported !== undefined) return readSuite(imported)
    return [
      {
        id: text(item.id) ?? text(item.label) ?? '',
        doc: text(item.doc) ?? '',
        tags: isList(item.tags) ? item.tags.filter((tag) => typeof tag === 'string') : [],
        tool: at(item.tool),
        job: at(item.job),
        output: outputOf(item.output, at),
        shouldFail: item.should_fail === true,
      },
    ]
  })
}

function outputOf(output: Value | undefined, at: (value: Value | undefined) => string | undefined): Value {
  const imported = isRecord(output) ? at(output.$import) : undefined
  return imported === undefined ? (output ?? {}) : readYaml(readFileSync(imported, 'utf8'), imported)
}
