/** Judge0's official SDK for Python, unchanged, against a server and a worker. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'
import { dropInGrid } from '../piston/drop-in-grid.ts'

const SDK = 'judge0==0.0.8'
const CALLS = join(import.meta.dirname, 'sdk-calls.py')

/** Installs the SDK into a folder; returns the reason when it cannot, without pip or a registry. */
function install(folder: string): string | undefined {
  const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--retries', '1', '--timeout', '20']
  const pip = spawnSync('python3', ['-m', 'pip', 'install', ...options, '--target', folder, SDK], { encoding: 'utf8' })
  if (pip.status === 0) return undefined
  return `pip cannot install ${SDK}: ${(pip.stderr ?? String(pip.error)).trim().split('\n').at(-1)}`
}

describeWith(['bwrap', 'python3'], "Judge0's Python SDK", () => {
  test('gets the same results from Windlass as from Judge0', async ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), 'windlass-judge0-sdk-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const problem = install(folder)
    if (problem !== undefined) skip(problem)
    const { url } = await dropInGrid()
    const { stdout } = await promisify(execFile)('python3', [CALLS, url], {
      env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
    })
    expect(JSON.parse(stdout)).toEqual({
      version: '1.13.1',
      max_queue_size: 10_000,
      statuses: 14,
      python: 71,
      supported: {
        PYTHON: true,
        PYTHON3: true,
        BASH: true,
        C: true,
        C_GCC: true,
        MULTI_FILE: true,
        SWIFT: false,
      },
      run: ['Accepted', 'hello\n', 0, true],
      times: ['float', 'float', 5],
      stdin: ['Accepted', 'Hello, Ada!\n', 0, true],
      cases: [
        ['Accepted', 'Hello, Bo!\n', 0, true],
        ['Wrong Answer', 'Hello, Cy!\n', 0, true],
        ['Accepted', 'Hello, Di!\n', 0, true],
      ],
      compile: ['Compilation Error', true],
      exit: ['Runtime Error Nzec', null, 7, true],
      token: true,
      async: ['Accepted', 'late\n', 0, true],
      batch: [0, 1, 2].map((i) => ['Accepted', `${i}\n`, 0, true]),
      files: ['Accepted', 'from a file\n', 0, true],
      project: ['Accepted', 'a project', 0, true],
    })
  })
})
