import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'
import { ownFolder } from '../workers/worker-here.ts'
import { interactiveGrid } from './interactive-grid.ts'

const PAGE = new URL('../../docs/guide/interactive.md', import.meta.url)

describeWith('bwrap', 'the guide for interactive tasks', () => {
  test('contains a client program that works unchanged', async () => {
    const [, program = ''] = /```js\n(.*?)```/s.exec(readFileSync(PAGE, 'utf8')) ?? []
    const file = join(ownFolder(), 'terminal.mjs')
    writeFileSync(file, program)
    const { url } = await interactiveGrid()
    const code = 'print("Hello,", input("name? ")); exit(6)'
    const child = spawn(process.execPath, [file, 'python', code], { env: { WINDLASS_URL: url } })
    let printed = ''
    child.stderr.on('data', (bytes: Buffer) => (printed += bytes.toString()))
    child.stdout.on('data', (bytes: Buffer) => {
      printed += bytes.toString()
      if (printed === 'name? ') child.stdin.write('Ada\n')
    })
    const exitCode = await new Promise((resolve) => child.once('close', resolve))
    expect(printed).toBe('name? Ada\r\nHello, Ada\r\n')
    expect(exitCode).toBe(6)
  })
})
