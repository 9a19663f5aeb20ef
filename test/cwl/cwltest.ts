import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Judgement } from './judge.ts'

/** `cwltest`, the reference judge, where it is installed. */
export const hasCwltest = (): boolean => spawnSync('cwltest', ['--version']).status === 0

export interface CwltestOrder {
  readonly index: string
  readonly runner: string
  /** The ids of the tests to run, in the order of the index; undefined for all. */
  readonly ids: readonly string[] | undefined
  readonly extra: readonly string[]
  readonly parallel: number
}

/** Runs cwltest with its output on the terminal; returns its judgements in the order of the tests. */
export async function judgedByCwltest(order: CwltestOrder): Promise<readonly Judgement[]> {
  const { index, runner, ids, extra, parallel } = order
  const folder = mkdtempSync(join(tmpdir(), 'windlass-cwltest-'))
  const reported = join(folder, 'told.xml')
  const words = [
    ...['--test', index, '--tool', runner, '-j', `${parallel}`, '--junit-xml', reported],
    ...(ids === undefined ? [] : ['-s', ids.join(',')]),
    ...(extra.length === 0 ? [] : ['--', ...extra]),
  ]
  try {
    await new Promise<void>((resolve, reject) => {
      const child = spawn('cwltest', words, { stdio: 'inherit' })
      child.once('error', reject)
      child.once('close', () => resolve())
    })
    return judgementsIn(readFileSync(reported, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Ignores the names: cwltest reports wrong names when only some tests were run. */
export const judgementsIn = (report: string): readonly Judgement[] =>
  [...report.matchAll(/<testcase\b[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs)].map(([, inside = '']): Judgement => {
    const verdict = /<(?:failure|error)\b/.test(inside)
      ? 'failed'
      : /<skipped\b/.test(inside)
        ? 'unsupported'
        : 'passed'
    if (verdict === 'passed') return { verdict }
    const [, printed = ''] = /<system-err>(.*?)<\/system-err>/s.exec(inside) ?? []
    const [, why = ''] = /<failure\b[^>]*>(.*?)<\/failure>/s.exec(inside) ?? []
    return { verdict, reason: plain(printed).trim() || plain(why).trim() || verdict }
  })

const SIGNS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }
const plain = (text: string): string => text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => SIGNS[name] ?? '')
