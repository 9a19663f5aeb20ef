import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { languageMarks } from './language-marks.ts'
import { toy } from './toolchain.fixture.ts'
import { toolchainMark } from './toolchain-mark.ts'

function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-toolchain-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['a', 'b']) mkdirSync(join(folder, name))
  return folder
}

const program = (path: string, text: string): void => writeFileSync(path, text, { mode: 0o755 })

test('the mark of a program is its resolved path, so another target gives another mark', () => {
  const folder = folderOfTest()
  const folders = ['a', 'b'].map((name) => join(folder, name))
  program(join(folder, 'real-1'), 'one')
  program(join(folder, 'real-2'), 'other')
  symlinkSync(join(folder, 'real-1'), join(folder, 'b/tool'))
  const first = toolchainMark({ programs: ['tool'] }, folders)
  expect(first).toEqual({ mark: expect.stringContaining('real-1') })
  expect(toolchainMark({ programs: ['tool'] }, folders)).toEqual(first)
  symlinkSync(join(folder, 'real-2'), join(folder, 'a/tool'))
  expect(toolchainMark({ programs: ['tool'] }, folders)).toEqual({ mark: expect.stringContaining('real-2') })
})

test('an optional program changes the mark when it appears, and is never reported absent', () => {
  const folder = folderOfTest()
  program(join(folder, 'a/tool'), 'one')
  const wanted = { programs: ['tool'], also: ['helper'] }
  const marks = [toolchainMark(wanted, [join(folder, 'a')])]
  program(join(folder, 'a/helper'), 'helping')
  marks.push(toolchainMark(wanted, [join(folder, 'a')]))
  program(join(folder, 'a/helper'), 'helping otherwise')
  marks.push(toolchainMark(wanted, [join(folder, 'a')]))
  expect(new Set(marks.map((each) => 'mark' in each && each.mark)).size).toBe(3)
  expect(marks).not.toContainEqual(expect.objectContaining({ absent: expect.anything() }))
})

test('a program that is missing, not executable, a folder or a dangling symlink is absent', () => {
  const folder = folderOfTest()
  program(join(folder, 'closed'), '')
  chmodSync(join(folder, 'closed'), 0o644)
  symlinkSync('nowhere', join(folder, 'loose'))
  for (const name of ['none', 'closed', 'a', 'loose'])
    expect(toolchainMark({ programs: [name] }, [folder])).toEqual({ absent: name })
})

test("a language is marked by its root filesystem or the machine's programs, or is absent with a reason", () => {
  const place = { rootfs: new Map(), takesRootfs: true, hasMachine: true, others: ['sandbox'] }
  const withLibraries = toy('sh', { libraries: { debian: ['x'] } })
  const built = new Map([['sh', { path: '/r', mark: 'r1', packages: [] }]])
  const keyOf = (one: object): string | undefined => (one as { key?: string }).key
  expect(languageMarks(place)(toy('no-such-program'))).toEqual({ absent: 'no-such-program was not found' })
  expect(languageMarks(place)(withLibraries)).toEqual({
    absent: expect.stringContaining('windlass languages build sh'),
  })
  expect(languageMarks({ ...place, takesRootfs: false, rootfs: built })(withLibraries)).toEqual({
    absent: expect.stringContaining('cannot have a system'),
  })
  const keys = [
    languageMarks(place)(toy('sh')),
    languageMarks({ ...place, rootfs: built })(toy('sh')),
    languageMarks({ ...place, hasMachine: false })(toy('sh')),
    languageMarks({ ...place, others: ['unshare'] })(toy('sh')),
  ].map(keyOf)
  expect(new Set(keys.filter((key) => key !== undefined)).size).toBe(4)
})
