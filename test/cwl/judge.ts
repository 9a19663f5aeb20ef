import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Value } from '../../src/workflow/values/value.ts'
import { difference } from './compare.ts'
import type { CwlEnd } from './run-here.ts'
import type { SuiteTest } from './suite.ts'

export type Judgement =
  | { readonly verdict: 'passed' }
  | { readonly verdict: 'failed' | 'unsupported'; readonly reason: string }

/** Runs `cwl-runner` with these arguments. */
export type Runner = (...words: readonly string[]) => Promise<CwlEnd>

const UNSUPPORTED = 33

/**
 * Judges one test by the rules of the suite: exit code 33 (unsupported) is no failure, unless the test is a required
 * one.
 */
export async function judge(test: SuiteTest, runner: Runner, extra: readonly string[] = []): Promise<Judgement> {
  const outdir = mkdtempSync(join(tmpdir(), 'windlass-suite-'))
  const files = [test.tool, test.job].filter((one) => one !== undefined)
  try {
    const end = await runner(...extra, `--outdir=${outdir}`, '--quiet', ...files)
    const reason = end.stderr.trim() || `exit code ${end.exitCode}`
    if (end.exitCode === UNSUPPORTED && !test.tags.includes('required')) return { verdict: 'unsupported', reason }
    if (test.shouldFail)
      return end.exitCode === 0 ? { verdict: 'failed', reason: 'it should have failed' } : { verdict: 'passed' }
    if (end.exitCode !== 0) return { verdict: 'failed', reason }
    const different = difference(test.output, JSON.parse(end.stdout) as Value)
    return different === undefined ? { verdict: 'passed' } : { verdict: 'failed', reason: different }
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}
