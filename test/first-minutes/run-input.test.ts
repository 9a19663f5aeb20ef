import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FREE_PORTS, openFolder, ROOT, ran, type Service, serving } from './windlass-process.ts'

const { path: cwd, remove } = openFolder('stdin')
let grid: Service
let env: Record<string, string>
beforeAll(async () => {
  grid = await serving(['up', '--data', './grid', ...FREE_PORTS], { cwd })
  env = { WINDLASS_SERVER: `grpc://${grid.ready.grpc}`, PATH: `${ROOT}/bin:${process.env.PATH}` }
})
afterAll(async () => {
  await grid.stop()
  remove()
})

const sh = (script: string) => ran(['sh', '-c', script], { cwd, env })

describe('stdin of windlass run', () => {
  test('is read from a pipe', async () => {
    const counted = await sh("printf 'b\\na\\nb\\n' | windlass run -- sort")
    expect(counted, grid.err()).toMatchObject({ code: 0, out: 'a\nb\nb\n' })
  })

  test('is read from a file, and arguments with spaces, inputs and outputs are kept', async () => {
    writeFileSync(join(cwd, 'names'), 'one\ntwo\n')
    const script =
      'mkdir in && echo x > in/x && windlass run -i in -o out -- sh -c "cat > \\"\\$0\\"; ls -A" "a b" < names'
    expect(await sh(script)).toMatchObject({ code: 0, out: '.windlass-stdin\na b\nx\n' })
    expect(await sh('cat "out/a b"; ls -A out')).toMatchObject({ out: 'one\ntwo\na b\n' })
  })

  test('may have 20 MB', async () => {
    expect(await sh('head -c 20000000 /dev/zero | windlass run -- wc -c')).toMatchObject({ code: 0, out: '20000000\n' })
  })

  test('is not sent when it is empty, /dev/null, or --no-stdin is given', async () => {
    const listed = { code: 0, out: '' }
    expect(await sh(': | windlass run -- ls -A')).toMatchObject(listed)
    expect(await sh('windlass run -- ls -A < /dev/null')).toMatchObject(listed)
    expect(await sh('echo x | windlass run --no-stdin -- ls -A')).toMatchObject(listed)
  })
})

test("the README's example of windlass run works in the clone", async () => {
  const readme = (await ran(['cat', 'README.md'], { cwd: ROOT })).out
  const example = /^bin\/(windlass run [^#\n]*)/m.exec(readme)?.[1]?.trim() ?? ''
  expect(example).toMatch(/^windlass run --input \. -- /)
  const { code, out, err } = await ran(['sh', '-c', `bin/${example}`], { cwd: ROOT, env })
  expect({ code, out }, err).toEqual({ code: 0, out: expect.stringContaining('README.md') })
})
