import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import { cwlHere } from './run-here.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-cwl-test-')))
let made = 0
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A folder with these files, deleted after the tests of this file. */
export function folderOf(files: Readonly<Record<string, string>>): string {
  const at = join(folder, String(++made))
  mkdirSync(at)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, name)), { recursive: true })
    writeFileSync(join(at, name), text)
  }
  return at
}

/**
 * A v1.2 tool that runs a line of shell, with `words` as `$1` and following; the rest of `more` is added to the
 * document.
 */
export const shellTool = (script: string, more: object = {}): string =>
  JSON.stringify({
    cwlVersion: 'v1.2',
    class: 'CommandLineTool',
    inputs: {},
    outputs: {},
    ...more,
    arguments: ['sh', '-c', script, 'sh', ...('words' in more ? (more.words as string[]) : [])],
    words: undefined,
  })

export interface Told {
  readonly class: string
  readonly location: string
  readonly path: string
  readonly basename: string
  readonly size: number
  readonly checksum: string
  readonly secondaryFiles?: readonly Told[]
  readonly listing?: readonly Told[]
}

/** Runs a document of such a folder without containers; outputs are written to its `out`. */
export async function runIn(at: string, ...words: readonly string[]) {
  const end = await cwlHere(
    'run',
    '--no-container',
    '--quiet',
    `--outdir=${at}/out`,
    ...words.map((one) => join(at, one)),
  )
  const outputs = (end.exitCode === 0 ? JSON.parse(end.stdout) : {}) as Readonly<Record<string, Told>>
  return { ...end, outputs }
}
