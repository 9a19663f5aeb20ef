import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'
import { dropInGrid } from '../piston/drop-in-grid.ts'

const programIn = (page: string): string =>
  /```js\n(.*?)```/s.exec(readFileSync(new URL(`../../docs/guide/${page}.md`, import.meta.url), 'utf8'))?.[1] ?? ''

describeWith('bwrap', 'the Piston and Judge0 guides', () => {
  test('contain programs that work unchanged', async () => {
    const { url } = await dropInGrid()
    const run = async (page: string) => {
      const args = ['--input-type=module', '-e', programIn(page)]
      return (await promisify(execFile)(process.execPath, args, { env: { WINDLASS_URL: url } })).stdout
    }
    expect(await run('piston')).toBe('Hello, Ada\n 0\n')
    expect(await run('judge0')).toBe('42 Accepted\n')
  })
})
